import { UsageError } from "../errors.ts";
import { fencedWriter, type Writer } from "../recipes/locks/fence.ts";
import { flag } from "./arguments.ts";
import type { Context } from "./command.ts";

export const fencedFlag = flag("", "only while the lock that this runs under is held");

/** Where a command writes to: with --fenced only while the lock of the environment is held. Throws UsageError without one. */
export function writerOf({ session, env }: Context, isFenced: boolean): Writer {
  if (!isFenced) return session();
  const node = env("ZK_LOCK_NODE");
  if (node) return fencedWriter(session(), node);
  throw new UsageError("--fenced needs a lock, and there is none around: ZK_LOCK_NODE is not set", {
    hint: "lock PATH -- zksh … runs it under one",
  });
}
