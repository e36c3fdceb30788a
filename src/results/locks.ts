import type { ChildEnd } from "../child.ts";
import type { LockEvent } from "../recipes/locks/events.ts";
import type { Party, RevokeRequest } from "../recipes/locks/holder-record.ts";

/** What happens to a lock that a command seeks and holds, and to the program that runs under it. */
export type LockProgress =
  | LockEvent
  /** The server granted another session timeout than was asked for. */
  | { readonly event: "negotiated"; readonly path: string; readonly wantedMs: number; readonly grantedMs: number }
  /** The session ended while waiting; the place in the queue is a new one. */
  | { readonly event: "requeued"; readonly path: string }
  | { readonly event: "started"; readonly path: string; readonly pid: number }
  | { readonly event: "suspended"; readonly path: string; readonly leftMs: number }
  | { readonly event: "resumed"; readonly path: string }
  /** Ctrl-Z: we and the program stand still, and nobody tells the server that we live. */
  | { readonly event: "paused"; readonly path: string; readonly leftMs: number }
  | { readonly event: "revoked"; readonly path: string; readonly request: RevokeRequest }
  | {
      readonly event: "signal";
      readonly path: string;
      readonly signal: string;
      readonly pid: number;
      readonly why: StopReason;
    }
  | { readonly event: "child-exit"; readonly path: string; readonly end: ChildEnd }
  /** How it ended could not be written to the file that was named for it. */
  | { readonly event: "unrecorded"; readonly path: string; readonly file: string; readonly why: string }
  /** The program has ended, but what it has started has not. */
  | { readonly event: "leftovers"; readonly path: string; readonly pid: number };

/** Why the program has to end. `suspended`: with `--on-suspend term` the doubt is enough. */
export type StopReason = "lost" | "suspended" | "revoked" | "impatient";

export interface LockProgressResult {
  readonly kind: "lock-progress";
  readonly progress: LockProgress;
  /** Milliseconds since the epoch: when it happened, and when the wait is given up. */
  readonly at: number;
  readonly givesUpAt?: number;
}

/** The lock is held until stdin ends: what a program under it would find in its environment. */
interface LockHeldResult {
  readonly kind: "lock-held";
  readonly paths: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A lock of the shell's. */
interface LockedResult {
  readonly kind: "locked";
  readonly path: string;
  readonly node: string;
  readonly token: bigint;
  /** Taken this many times; each wants an `unlock`. */
  readonly count: number;
}

interface UnlockedResult {
  readonly kind: "unlocked";
  readonly path: string;
  /** Still taken this many times. */
  readonly count: number;
}

/** Who leads; undefined when nobody does. */
export interface LeaderResult {
  readonly kind: "leader";
  readonly path: string;
  /** One of many, as they change. */
  readonly isStream: boolean;
  readonly leader?: Party;
}

/** A program was run, or a lock held, to its end. */
interface LockEndedResult {
  readonly kind: "lock-ended";
  readonly exitCode: number;
}

export type LockResult =
  | LockProgressResult
  | LockHeldResult
  | LockedResult
  | UnlockedResult
  | LeaderResult
  | LockEndedResult;
