import type { ChildEnd } from "../processes/child-requests.ts";
import type { LockEvent, Waiting } from "../recipes/locks/events.ts";
import type { LockMode, Party, RevokeRequest } from "../recipes/locks/holder-record.ts";
import type { Period } from "../recipes/locks/once/period.ts";
import type { Run } from "../recipes/locks/once/runs.ts";

/** What happens to a lock that a command seeks and holds, and to the program that runs under it. */
export type LockProgress =
  | LockEvent
  /** The server granted another session timeout than was asked for. */
  | {
      readonly event: "negotiated";
      readonly path: string;
      readonly wantedMs: number;
      readonly grantedMs: number;
    }
  /** No server answers while we wait; the place in the queue is kept for `leftMs`. */
  | { readonly event: "unanswered"; readonly path: string; readonly leftMs: number }
  /** A server answers again, and the place was kept. `waiting`: what was told of the queue last. */
  | { readonly event: "answered"; readonly path: string; readonly waiting: Waiting }
  /** The session ended while waiting; the place in the queue is a new one. */
  | { readonly event: "requeued"; readonly path: string }
  | { readonly event: "started"; readonly path: string; readonly pid: number }
  | { readonly event: "suspended"; readonly path: string; readonly leftMs: number }
  | { readonly event: "resumed"; readonly path: string }
  /** Ctrl-Z: zksh and the program are stopped, and no heartbeats are sent. */
  | { readonly event: "paused"; readonly path: string; readonly leftMs: number }
  | { readonly event: "revoked"; readonly path: string; readonly request: RevokeRequest }
  /** A lock without a program was held for as long as --max-hold allows. */
  | { readonly event: "max-hold"; readonly path: string; readonly maxHoldMs: number }
  | {
      readonly event: "signal";
      readonly path: string;
      readonly signal: string;
      readonly pid: number;
      readonly why: StopReason;
      /** With `revoked`: who has asked for the lock. */
      readonly by?: string;
      /** Processes of another user, which could not be signalled. */
      readonly refused?: readonly number[];
    }
  /**
   * Signals do not reach all that the program starts: the system does not show zksh its own
   * processes.
   */
  | { readonly event: "short-reach"; readonly path: string; readonly reach: "group" | "program" }
  /** The watchdog has ended, and no other can be started. */
  | { readonly event: "unguarded"; readonly path: string; readonly why: string }
  | { readonly event: "child-exit"; readonly path: string; readonly end: ChildEnd }
  /** How it ended could not be written to the file that was named for it. */
  | {
      readonly event: "unrecorded";
      readonly path: string;
      readonly file: string;
      readonly why: string;
    }
  /** The program has ended, but what it has started has not. */
  | { readonly event: "leftovers"; readonly path: string; readonly pid: number };

/**
 * Why the program has to end. `deleted`: its ticket was. `suspended`: with `--on-suspend term` the
 * doubt is enough.
 * `unguarded`: there is no watchdog that would stop it in time when zksh is killed or frozen.
 */
export type StopReason =
  | "lost"
  | "deleted"
  | "suspended"
  | "revoked"
  | "max-hold"
  | "impatient"
  | "unguarded";

/**
 * A step of the recipe: what zksh asks ZooKeeper to do, and what it concludes from the answer.
 * `lease` to `lease-kept` are a semaphore's, `unique` and `outrun` those of a lock on one
 * well-known znode.
 */
export type LockStep =
  | "ticket"
  | "queue"
  | "watching"
  | "gone"
  | "acquired"
  | "lease"
  | "leases"
  | "lease-back"
  | "lease-kept"
  | "unique"
  | "outrun"
  | "started"
  | "released";

export interface LockProgressResult {
  readonly kind: "lock-progress";
  readonly progress: LockProgress;
  /**
   * Milliseconds since the epoch: when it happened, when the wait began, and when it is given up.
   */
  readonly at: number;
  readonly since: number;
  readonly givesUpAt?: number;
  /** The steps that have not been told before. */
  readonly steps: readonly LockStep[];
  /** The ticket in the queue; a semaphore's leases are other znodes. */
  readonly ticket?: string;
  readonly mode: LockMode;
  /** Several locks are taken at once: the path has to be named. */
  readonly isOneOfSeveral?: boolean;
  /** Those who wait are in no order: a lock on one well-known znode. */
  readonly isUnordered?: boolean;
  /** The lock will be held until stdin ends, and that is told in words of its own. */
  readonly isHeldOpen?: boolean;
  /** Each step is explained: the number of the first, and the session timeout. */
  readonly explain?: { readonly firstNumber: number; readonly timeoutMs: number };
}

/** The lock is held until stdin ends: what a program under it would find in its environment. */
interface LockHeldResult {
  readonly kind: "lock-held";
  readonly paths: readonly string[];
  readonly mode: LockMode;
  readonly token: bigint;
  /** How long it was waited for; left out where it was free. */
  readonly waitedMs?: number;
  readonly environment: Readonly<Record<string, string>>;
}

/** A lock of the shell's. */
interface LockedResult {
  readonly kind: "locked";
  readonly path: string;
  readonly node: string;
  readonly token: bigint;
  readonly mode: LockMode;
  /** Taken this many times; each needs an `unlock`. */
  readonly count: number;
}

/** A lock that this shell holds. */
export interface OwnLock {
  readonly path: string;
  readonly mode: LockMode;
  readonly token: bigint;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

interface OwnLocksResult {
  readonly kind: "own-locks";
  readonly locks: readonly OwnLock[];
}

export interface UnlockedResult {
  readonly kind: "unlocked";
  readonly path: string;
  readonly mode: LockMode;
  /** What was deleted for it, where that is to be explained. */
  readonly explain?: { readonly nodes: readonly string[] };
  /** Still taken this many times. */
  readonly count: number;
}

/** The leader; undefined if there is none. */
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

/** `once` runs nothing: the job is done in this period, or has failed for the last time. */
export interface OnceFoundResult {
  readonly kind: "once-found";
  readonly path: string;
  readonly what: "done" | "failed";
  readonly period: Period;
  readonly run: Run;
  readonly attempts: number;
}

/** The runs of a job that are recorded, the latest first. */
export interface OnceRunsResult {
  readonly kind: "once-runs";
  readonly path: string;
  readonly runs: readonly Run[];
}

export type LockResult =
  | OnceFoundResult
  | OnceRunsResult
  | LockProgressResult
  | LockHeldResult
  | LockedResult
  | OwnLocksResult
  | UnlockedResult
  | LeaderResult
  | LockEndedResult;
