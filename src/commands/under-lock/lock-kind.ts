import type { HeldLock } from "../../recipes/locks/held-lock.ts";
import type { LockMode, RevokeRequest } from "../../recipes/locks/holder-record.ts";
import type { AcquireOptions, LockOptions } from "../../recipes/locks/queue/queue-lock.ts";
import type { Removed } from "../../recipes/locks/queue/remove-znodes.ts";
import type { Session } from "../../session/session.ts";
import type { Layout } from "./lock-steps.ts";

/** One of the lock recipes with its paths, ready to be acquired in a session. */
export interface LockKind {
  readonly paths: readonly [string, ...string[]];
  readonly mode: LockMode;
  readonly layout: Layout;
  /** The same recipe for some of the paths. Left out if there is only one path. */
  only?(paths: readonly [string, ...string[]]): LockKind;
  acquire(session: Session, options: LockOptions, limits: AcquireOptions): Promise<Held>;
  /** Environment variables in addition to those of every lock. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The recipe of a single lock. */
export function oneLock(
  path: string,
  mode: LockMode,
  make: (
    session: Session,
    options: LockOptions,
  ) => { acquire(limits: AcquireOptions): Promise<HeldLock> },
  { environment = {}, layout = "queue" }: Partial<Pick<LockKind, "environment" | "layout">> = {},
): LockKind {
  return {
    paths: [path],
    mode,
    layout,
    environment,
    async acquire(session, options, limits) {
      const lock = await make(session, options).acquire(limits);
      return {
        locks: [lock],
        signal: lock.signal,
        heldForMs: () => lock.heldForMs(),
        onRevoke: (listener) => lock.onRevoke(listener),
        release: () => lock.release(),
      };
    },
  };
}

/** One lock, or several that are held as one. */
export interface Held {
  /** Aborted when the lock is lost. */
  readonly signal: AbortSignal;
  /** Milliseconds for which no other client can get the lock, even if no reply comes again. */
  heldForMs(): number;
  onRevoke(listener: (request: RevokeRequest) => void): () => void;
  readonly locks: readonly HeldLock[];
  release(): Promise<Removed>;
}
