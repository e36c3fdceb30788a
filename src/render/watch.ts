/** The results of watches: one line each, so that a reader can go on line by line. */

import type { RanResult, WatchedResult, WatchesRemovedResult } from "../results/watches.ts";
import { escapeName } from "../text/escape.ts";
import { isReadable } from "../text/readable.ts";
import { shorten } from "../text/shorten.ts";
import { formatSize } from "../text/size.ts";
import { jsonLine, paintJson } from "./pretty-json.ts";
import { namesFor, type Rendered, type View } from "./renderer.ts";
import { isoTime } from "./stat.ts";
import { clock } from "./watch-event.ts";

/** Changes on stdout, what is said beside them on stderr. */
export function textWatched(result: WatchedResult, view: View): Rendered {
  const { isQuiet, theme } = view;
  const isCut = view.isTTY && !result.isWhole;
  const name = namesFor(view);
  const path = name(result.path);
  // In a pipe the time comes last, so that what was read before it keeps its place.
  const { at = view.now() } = result;
  const line = (text: string): Rendered => ({
    out: view.isTTY ? `${theme.faint(clock(at))} ${text}\n` : `${text}\t${isoTime(at)}\n`,
  });
  const note = (text: string): Rendered => (isQuiet ? {} : { err: `note: ${text}\n` });
  switch (result.event) {
    case "session-lost":
      return note("the session was lost; opening a new one");
    case "session-replaced":
      return note(`watching ${escapeName(result.path)} in a new session`);
    case "unreadable":
      return note(`not watched: ${escapeName(result.error.message)}`);
    case "absent":
    case "deleted":
      return line(`${theme.heading(result.event)} ${path}`);
    case "children": {
      const names = [
        ...result.added.map((added) => `+${added}`),
        ...result.removed.map((removed) => `-${removed}`),
      ];
      const shown = isCut ? firstNames(names.map(name)) : names.map(name).join(" ");
      return line(`${theme.heading("children")} ${path}: ${shown}`);
    }
    default: {
      const data =
        result.data === null || result.data.length === 0
          ? ""
          : `: ${dataLine(result.data, isCut, view)}`;
      return line(`${theme.heading(result.event)} ${path} (version ${result.stat.version})${data}`);
    }
  }
}

/** Of each line on a terminal: a dozen rows of it. */
const MAX_SHOWN = 1_000;

/** The data, or its beginning. On a terminal JSON takes one line, and has colours. */
function dataLine(data: Buffer, isCut: boolean, { isTTY, theme }: View): string {
  const json = isTTY && isReadable(data) ? jsonLine(data.toString()) : undefined;
  const bytes = json === undefined ? data : Buffer.from(json);
  const shown = (part: Buffer) =>
    json === undefined ? oneLine(part) : paintJson(oneLine(part), theme);
  if (!isCut || bytes.length <= MAX_SHOWN) return shown(bytes);
  // Not in the middle of a character.
  let end = MAX_SHOWN;
  while (end > MAX_SHOWN - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  const more = `… ${formatSize(bytes.length - end)} more; --all shows them`;
  return `${shown(bytes.subarray(0, end))} ${theme.faint(more)}`;
}

function firstNames(names: readonly string[]): string {
  let shown = "";
  for (const [index, name] of names.entries()) {
    if (shown.length + name.length > MAX_SHOWN) {
      const part = index === 0 ? `${shorten(name, MAX_SHOWN)} ` : shown;
      return `${part}… ${names.length - Math.max(index, 1)} more; --all shows them`;
    }
    shown += `${name} `;
  }
  return shown.trimEnd();
}

function oneLine(bytes: Buffer): string {
  return isReadable(bytes) ? escapeName(bytes.toString()) : `base64 ${bytes.toString("base64")}`;
}

/** Only a failure is worth a word: stdout and the rest are the program's own. */
export function textRan({ path, argv, end }: RanResult): Rendered {
  if ("code" in end && end.code === 0) return {};
  const how = "code" in end ? `ended with code ${end.code}` : `was ended by ${end.killedBy}`;
  return { err: `note: ${escapeName(argv.join(" "))} ${how} for ${escapeName(path)}\n` };
}

const REMOVED = {
  children: "ChildWatchRemoved",
  data: "DataWatchRemoved",
  persistent: "PersistentWatchRemoved",
};

/** zkCli shows each as an event of its watcher. */
export function zkcliWatchesRemoved(
  { path, removed, printsWatches }: WatchesRemovedResult,
  name: (text: string) => string,
): string {
  if (!printsWatches) return "";
  return removed
    .map(
      (kind) =>
        `\nWATCHER::\n\nWatchedEvent state:SyncConnected type:${REMOVED[kind]} path:${name(path)}\n`,
    )
    .join("");
}
