/** A znode's data as text: the exact bytes in a pipe, what a person can read on a terminal. */
import type { DataResult } from "../results/znodes.ts";
import type { Stat } from "../session/session.ts";
import { formatSize } from "../text/size.ts";
import { hexLines, isReadable } from "./bytes.ts";
import { allRows, firstRows, type TextLine, textLines } from "./first-rows.ts";
import { jsonLines, paintJson } from "./pretty-json.ts";
import type { Rendered, View } from "./renderer.ts";
import type { Paint } from "./theme.ts";

export function textData(result: DataResult, view: View, statText: (of: Stat) => string): Rendered {
  const { data, stat, withStat, encoding, isWhole = false } = result;
  const bytes = data ?? Buffer.alloc(0);
  const tail = withStat ? statText(stat) : "";
  if (encoding === "auto" && !view.isTTY) {
    return { out: withStat ? Buffer.concat([bytes, Buffer.from(`\n${tail}`)]) : bytes };
  }
  if (bytes.length === 0 && view.isTTY && !view.isQuiet)
    return { out: `${view.theme.faint("(no data)")}\n${tail}` };
  const { lines, bytesUpTo, isJson = false } = readable(bytes, encoding);
  const paint: Paint =
    view.isTTY && isJson ? (line) => paintJson(line, view.theme) : (line) => line;
  if (isWhole || !view.isTTY) return { out: allRows(lines, paint) + tail };
  const { text, end, isCut } = firstRows(lines, view.columns, paint);
  if (!isCut) return { out: text + tail };
  const more = `… ${formatSize(Math.max(1, bytes.length - bytesUpTo(end)))} more; pipe it, or use --all`;
  return { out: `${text}${view.theme.faint(more)}\n${tail}` };
}

interface Readable {
  readonly lines: Iterable<TextLine>;
  /** How many bytes have been shown when the lines have come to `end`. */
  readonly bytesUpTo: (end: number) => number;
  readonly isJson?: boolean;
}

function readable(bytes: Buffer, encoding: DataResult["encoding"]): Readable {
  if (encoding === "base64") {
    const text = bytes.toString("base64");
    return { lines: [{ text, end: text.length }], bytesUpTo: (end) => Math.floor((end * 3) / 4) };
  }
  if (encoding === "hex" || !isReadable(bytes))
    return { lines: hexLines(bytes), bytesUpTo: (end) => end };
  const text = bytes.toString();
  const json = jsonLines(text);
  const bytesUpTo = (end: number) => Buffer.byteLength(text.slice(0, end));
  return { lines: json ?? textLines(text), bytesUpTo, isJson: json !== undefined };
}
