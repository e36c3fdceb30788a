/** What a watch has seen, in words. */
import type { WatchEventResult } from "../results/watches.ts";
import { namesFor, type View } from "./renderer.ts";
import { isoTime } from "./stat.ts";

const WORDS: Readonly<Record<WatchEventResult["type"], string>> = {
  created: "created",
  deleted: "deleted",
  "data-changed": "data changed",
  "children-changed": "children changed",
  rearmed: "watched again after a gap: changes may have been missed",
  lost: "no longer watched: the session is over",
};

const ZKCLI_TYPES: Readonly<Partial<Record<WatchEventResult["type"], string>>> = {
  created: "NodeCreated",
  deleted: "NodeDeleted",
  "data-changed": "NodeDataChanged",
  "children-changed": "NodeChildrenChanged",
};

/**
 * `12:04:31 /a data changed` on a terminal; in a pipe the time in full, and words that stay as they
 * are.
 */
export function watchEventLine({ type, path, at }: WatchEventResult, view: View): string {
  const name = namesFor(view)(path);
  if (!view.isTTY) return `${isoTime(at)} ${type} ${name}\n`;
  return `${view.theme.faint(clock(at))} ${name} ${WORDS[type]}\n`;
}

/** zkCli's block; nothing for what zkCli does not know. */
export function watcherBlock(
  { type, path }: WatchEventResult,
  name: (text: string) => string,
): string {
  const known = ZKCLI_TYPES[type];
  return known === undefined
    ? ""
    : `\nWATCHER::\n\nWatchedEvent state:SyncConnected type:${known} path:${name(path)}\n`;
}

/** The time of day where the reader is: `12:04:31`. */
export function clock(at: number): string {
  const time = new Date(at);
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((n) => String(n).padStart(2, "0"))
    .join(":");
}
