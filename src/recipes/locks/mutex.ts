import type { Session } from "../../session/session.ts";
import { type LockOptions, QueueLock } from "./queue-lock.ts";

/**
 * An exclusive lock: first come first served, one at a time. Respects and is respected by Curator's InterProcessMutex,
 * go-zookeeper's Lock and ZooKeeper's WriteLock; with `compat: "all"` also by kazoo's Lock.
 */
export class Mutex extends QueueLock {
  constructor(session: Session, path: string, options?: LockOptions) {
    const labels = { curator: "lock-", kazoo: "__lock__" };
    super(session, path, { claim: "lock", mode: "exclusive", labels, isEventEnough: true }, options);
  }
}
