import type { Session } from "../../session/session.ts";
import { type LockOptions, QueueLock } from "./queue-lock.ts";

/**
 * Readers together, writers alone, first come first served: a writer that waits is not overtaken by later readers.
 * Respects and is respected by Curator's InterProcessReadWriteLock; with `compat: "all"` also by kazoo's.
 */
export class ReadWriteLock {
  readonly read: QueueLock;
  readonly write: QueueLock;

  constructor(session: Session, path: string, options?: LockOptions) {
    this.read = new QueueLock(
      session,
      path,
      // A writer of Curator's that becomes a reader keeps its number, so that a ticket below ours can appear late.
      { claim: "read", mode: "read", labels: { curator: "__READ__", kazoo: "__rlock__" }, isEventEnough: false },
      options,
    );
    this.write = new QueueLock(
      session,
      path,
      { claim: "write", mode: "write", labels: { curator: "__WRIT__", kazoo: "__lock__" }, isEventEnough: false },
      options,
    );
  }
}
