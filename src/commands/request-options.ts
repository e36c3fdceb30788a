import { UsageError } from "../errors.ts";
import type { ReadOptions } from "../session/session.ts";
import type { Context } from "./command.ts";

/** The options of a read, with the watch that `-w` asks for. Throws UsageError where nobody would see its event. */
export function readOptions({ signal, onWatch }: Context, wantsWatch: boolean): ReadOptions {
  if (!wantsWatch) return { signal };
  if (onWatch) return { signal, watch: onWatch };
  throw new UsageError("a one-shot command ends before a watch could fire", { hint: "-w works inside the shell" });
}

/** The version a write must find, given as `-v` or in zkCli's old way as the last word; -1 is any, as in zkCli. */
export function expectedVersion(option: number | undefined, positional: number | undefined): { version?: number } {
  if (option !== undefined && positional !== undefined && option !== positional) {
    throw new UsageError(`two versions given: ${option} and ${positional}`);
  }
  const version = option ?? positional ?? -1;
  return version === -1 ? {} : { version };
}
