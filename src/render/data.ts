/** A znode's data as text: the exact bytes in a pipe, what a person can read on a terminal. */
import type { DataResult } from "../results/znodes.ts";
import type { Stat } from "../session/session.ts";
import { escapeName } from "../text/escape.ts";
import { isReadable } from "../text/readable.ts";
import { formatSize } from "../text/size.ts";
import type { StoredView } from "../text/stored/view.ts";
import { hexLines } from "./bytes.ts";
import { allRows, firstRows, type TextLine, textLines } from "./first-rows.ts";
import { jsonLines, paintJson } from "./pretty-json.ts";
import type { Rendered, View } from "./renderer.ts";
import { protobufLines, viewTitle } from "./stored-view.ts";
import type { Paint } from "./theme.ts";

export function textData(result: DataResult, view: View, statText: (of: Stat) => string): Rendered {
  const { data, stat, withStat, encoding, isWhole = false, view: stored } = result;
  const bytes = data ?? Buffer.alloc(0);
  const tail = withStat ? statText(stat) : "";
  if (encoding === "auto" && stored === undefined && !view.isTTY) {
    return { out: withStat ? Buffer.concat([bytes, Buffer.from(`\n${tail}`)]) : bytes };
  }
  if (bytes.length === 0 && view.isTTY && !view.isQuiet)
    return { out: `${view.theme.faint("(no data)")}\n${tail}` };
  const {
    title,
    lines,
    leftAt,
    isJson = false,
  } = stored ? storedLines(stored) : readable(bytes, encoding);
  const head =
    title !== undefined && view.isTTY && !view.isQuiet
      ? `${view.theme.faint(escapeName(title))}\n`
      : "";
  const paint: Paint =
    view.isTTY && isJson ? (line) => paintJson(line, view.theme) : (line) => line;
  if (isWhole || !view.isTTY) return { out: head + allRows(lines, paint) + tail };
  const { text, end, isCut } = firstRows(lines, view.columns, paint);
  if (!isCut) return { out: head + text + tail };
  const how = stored ? "use --all" : "pipe it, or use --all";
  const more = `… ${formatSize(Math.max(1, leftAt(end)))} more; ${how}`;
  return { out: `${head}${text}${view.theme.faint(more)}\n${tail}` };
}

interface Readable {
  /** What the lines are, where it is not seen at once. */
  readonly title?: string | undefined;
  readonly lines: Iterable<TextLine>;
  /** How many bytes have not been shown when the lines have come to `end`. */
  readonly leftAt: (end: number) => number;
  readonly isJson?: boolean;
}

function storedLines(view: StoredView): Readable {
  switch (view.kind) {
    case "gzip":
    case "java":
      return { ...storedLines(view.inside), title: viewTitle(view) };
    case "protobuf": {
      const lines = [...protobufLines(view.fields)];
      const total = lines.at(-1)?.end ?? 0;
      return { title: viewTitle(view), lines, leftAt: (end) => total - end };
    }
    case "hex":
      return hex(view.bytes);
    default:
      return readableText(view.bytes, view.kind === "json");
  }
}

function readable(bytes: Buffer, encoding: DataResult["encoding"]): Readable {
  if (encoding === "base64") {
    const text = bytes.toString("base64");
    return {
      lines: [{ text, end: text.length }],
      leftAt: (end) => bytes.length - Math.floor((end * 3) / 4),
    };
  }
  return encoding === "hex" || !isReadable(bytes) ? hex(bytes) : readableText(bytes, true);
}

function hex(bytes: Buffer): Readable {
  return { lines: hexLines(bytes), leftAt: (end) => bytes.length - end };
}

function readableText(bytes: Buffer, mayBeJson: boolean): Readable {
  const text = bytes.toString();
  const json = mayBeJson ? jsonLines(text) : undefined;
  return {
    lines: json ?? textLines(text),
    leftAt: (end) => bytes.length - Buffer.byteLength(text.slice(0, end)),
    isJson: json !== undefined,
  };
}
