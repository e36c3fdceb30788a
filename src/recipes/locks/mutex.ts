import type { Session } from "../../session/session.ts";
import type { LockOptions } from "./lock-recipe.ts";
import { QueueLock, type QueueLockShape } from "./queue/queue-lock.ts";

export const MUTEX: QueueLockShape = {
  claim: "lock",
  mode: "exclusive",
  labels: { curator: "lock-", kazoo: "__lock__" },
};

/**
 * An exclusive lock: first come first served, one at a time. Respects and is respected by Curator's
 * InterProcessMutex, go-zookeeper's Lock and ZooKeeper's WriteLock; with `compat: "all"` also by
 * kazoo's Lock.
 *
 * @example
 * ```ts
 * const held = await new Mutex(session, "/locks/deploy").acquire({ waitMs: 10_000 });
 * try {
 *   await deploy({ signal: held.signal });
 * } finally {
 *   await held.release();
 * }
 * ```
 */
export class Mutex extends QueueLock {
  constructor(session: Session, path: string, options?: LockOptions) {
    super(session, path, MUTEX, options);
  }
}
