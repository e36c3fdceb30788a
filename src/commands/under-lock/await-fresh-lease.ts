/**
 * A program is started only with a fresh lease. After a slow reply or a pause of this process the
 * lease is shorter, and the guard would stop the program before the next heartbeat could renew it,
 * although the connection is healthy.
 */
import { awaitLease } from "../../recipes/locks/queue/await-lease.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import type { Acquired } from "./queue-up.ts";

/**
 * The part of the session timeout that a healthy session always has left:
 * 1 - 0.05 (margin) - 3 × 0.14 (heartbeats) = 0.53. A grace is always shorter than that.
 */
const FRESH = 0.53;

export function hasFreshLease({ held, session }: Acquired): boolean {
  return held.heldForMs() > session.timeoutMs * FRESH;
}

/**
 * Resolves when the lease is fresh. Throws if the lock is lost or the command is aborted first.
 */
export async function awaitFreshLease(task: LockRun, acquired: Acquired): Promise<void> {
  if (hasFreshLease(acquired)) return;
  const { held, session } = acquired;
  const [lock] = held.locks;
  if (!lock) throw new Error("no lock is held");
  const signal = AbortSignal.any([task.context.signal, held.signal]);
  try {
    await awaitLease(session, pathOf(task), { nodes: [lock.nodePath] }, { signal, part: FRESH });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
