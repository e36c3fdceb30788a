import type { HeldLock } from "../../recipes/locks/held-lock.ts";
import type { LockMode, RevokeRequest } from "../../recipes/locks/holder-record.ts";
import type { AcquireOptions, LockOptions } from "../../recipes/locks/queue/queue-lock.ts";
import type { Removed } from "../../recipes/locks/queue/remove-znodes.ts";
import type { Session } from "../../session/session.ts";
import type { Layout } from "./lock-steps.ts";
import type { RunOutcome } from "./run-outcome.ts";

/** One of the lock recipes with its paths, ready for any session. */
export interface LockKind {
  readonly paths: readonly [string, ...string[]];
  readonly mode: LockMode;
  readonly layout: Layout;
  /** The same recipe for some of the paths. Left out if there is only one path. */
  only?(paths: readonly [string, ...string[]]): LockKind;
  lock(session: Session, options: LockOptions): { acquire(limits: AcquireOptions): Promise<Held> };
  /** Environment variables in addition to those of every lock. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** One lock, or several that are held as one. */
export interface Held {
  /** Aborted when the lock is lost. */
  readonly signal: AbortSignal;
  /** Milliseconds for which no other client can get the lock, even if no reply comes again. */
  heldForMs(): number;
  onRevoke(listener: (request: RevokeRequest) => void): () => void;
  readonly locks: readonly HeldLock[];
  /** `ended`: how the program ended; left out where none was started. */
  release(ended?: Pick<RunOutcome, "exitCode">): Promise<Removed>;
  /** The release also records how the program ended: without it, the lock counts as lost. */
  readonly recordsEnd?: boolean;
  /** Environment variables that are known when the lock is held. */
  readonly environment?: Readonly<Record<string, string>>;
}
