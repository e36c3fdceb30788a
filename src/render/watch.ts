/** What is told of watches: one line each, so that a reader can go on line by line. */
import type { RanResult, WatchedResult, WatchesRemovedResult } from "../results/watches.ts";
import { isReadable } from "./bytes.ts";
import { escapeName } from "./escape.ts";
import type { Rendered, View } from "./renderer.ts";

/** Changes on stdout, what is said beside them on stderr. */
export function textWatched(result: WatchedResult, { isTTY, isQuiet, colors }: View): Rendered {
  const path = isTTY ? escapeName(result.path) : result.path;
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
      return { out: `${colors.heading(result.event)} ${path}\n` };
    case "children": {
      const names = [...result.added.map((name) => `+${name}`), ...result.removed.map((name) => `-${name}`)];
      const shown = names.map((name) => (isTTY ? escapeName(name) : name)).join(" ");
      return { out: `${colors.heading("children")} ${path}: ${shown}\n` };
    }
    default: {
      const data = result.data === null || result.data.length === 0 ? "" : `: ${oneLine(result.data)}`;
      return { out: `${colors.heading(result.event)} ${path} (version ${result.stat.version})${data}\n` };
    }
  }
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

const REMOVED = { children: "ChildWatchRemoved", data: "DataWatchRemoved", persistent: "PersistentWatchRemoved" };

/** zkCli shows each as an event of its watcher. */
export function zkcliWatchesRemoved({ path, removed, printsWatches }: WatchesRemovedResult): string {
  if (!printsWatches) return "";
  return removed
    .map((kind) => `\nWATCHER::\n\nWatchedEvent state:SyncConnected type:${REMOVED[kind]} path:${path}\n`)
    .join("");
}
