import { UsageError } from "../errors.ts";
import type { ReadOptions, WatchListener } from "../session/session.ts";
import type { ValueParser } from "./arguments.ts";
import type { Context } from "./command.ts";

/** The last word of zkCli's old form `get path watch`; zkCli itself takes any word for it. */
export const oldWatch: ValueParser<boolean> = (text, { isVerbatim = false }) => {
  if (isVerbatim || ["watch", "true", "1"].includes(text)) return true;
  throw new UsageError("too many arguments", {
    reason: "excess-arguments",
    hint: "-w sets a watch",
  });
};

/**
 * The options of a read, with the watch that `-w` asks for. Throws UsageError where nobody would
 * see its event.
 */
export function readOptions(context: Context, wantsWatch: boolean): ReadOptions {
  const { signal } = context;
  return wantsWatch
    ? { signal, watch: shownEvents(context, "-w works inside the shell") }
    : { signal };
}

/**
 * Where a watch's events are shown. Throws UsageError, with a hint, where nobody would see them.
 */
export function shownEvents({ onWatch }: Context, hint: string): WatchListener {
  if (onWatch) return onWatch;
  throw new UsageError("a one-shot command ends before a watch could fire", { hint });
}

/**
 * The version a write must find, given as `-v` or in zkCli's old way as the last word; -1 is any,
 * as in zkCli.
 */
export function expectedVersion(
  option: number | undefined,
  positional: number | undefined,
): { version?: number } {
  if (option !== undefined && positional !== undefined && option !== positional) {
    throw new UsageError(`two versions given: ${option} and ${positional}`);
  }
  const version = option ?? positional ?? -1;
  return version === -1 ? {} : { version };
}
