/**
 * A program is started while the session is in step: what it sends is answered, and proved to be
 * heard, at its usual pace. An answer that was long under way, or a pause of ours, leaves less time
 * than that, and the guard would stop the program before the next proof can come, over a connection
 * that is well.
 */
import { awaitLease } from "../../recipes/locks/queue/await-lease.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import type { Acquired } from "./queue-up.ts";

/**
 * The part of the timeout that is left at any time in step: a margin of 0.05, and a proof that is
 * three beats old at most (0.41). No grace is as long as that, and the usual one is over 0.28
 * later, when a session that is young is proved alive.
 */
const IN_STEP = 0.53;

export function hasFreshLease({ held, session }: Acquired): boolean {
  return held.heldForMs() > session.timeoutMs * IN_STEP;
}

/**
 * Renews the lease until the session is in step; at once, where it is. Throws when the lock is lost
 * or the command is aborted first.
 */
export async function awaitFreshLease(task: LockRun, acquired: Acquired): Promise<void> {
  if (hasFreshLease(acquired)) return;
  const { held, session } = acquired;
  const [lock] = held.locks;
  if (!lock) throw new Error("no lock is held");
  const signal = AbortSignal.any([task.context.signal, held.signal]);
  try {
    await awaitLease(session, pathOf(task), { nodes: [lock.nodePath] }, { signal, part: IN_STEP });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
