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
 * Returns the options of a read, with the watch of `-w`. Throws UsageError in a one-shot, which
 * ends before an event could come.
 */
export function readOptions(context: Context, wantsWatch: boolean): ReadOptions {
  const { signal } = context;
  return wantsWatch
    ? {
        signal,
        watch: shownEvents(context, "-w works only inside the shell; watch PATH keeps running"),
      }
    : { signal };
}

/** Returns the listener that shows watch events. Throws UsageError with `hint` in a one-shot. */
export function shownEvents({ output: { onWatch } }: Context, hint: string): WatchListener {
  if (onWatch) return onWatch;
  throw new UsageError("a one-shot command ends before a watch could fire", { hint });
}

/**
 * Returns the version that a write expects, given as `-v` or as the last word (zkCli's old form).
 * As in zkCli, a version of -1 matches any version.
 */
export function expectedVersion(
  option: number | undefined,
  positional: number | undefined,
): { version?: number } {
  if (option !== undefined && positional !== undefined && option !== positional) {
    throw new UsageError(`two different versions: ${option} and ${positional}`);
  }
  const version = option ?? positional ?? -1;
  return version === -1 ? {} : { version };
}
