/** What is said of locks that others hold: the queues, requests to give way, and fences. */

import type { Answered } from "../recipes/locks/inspect/answers.ts";
import type { Deadlock } from "../recipes/locks/inspect/deadlocks.ts";
import type { LockReport, QueueMember } from "../recipes/locks/inspect/inspect-lock.ts";
import type { BoardChange } from "../recipes/locks/inspect/lock-board.ts";
import type { Timeline } from "../recipes/locks/inspect/queue-history.ts";

/** The holders and waiters of locks. The exit code is 1 if none of the locks is held. */
export interface LocksResult {
  readonly kind: "locks";
  readonly reports: readonly LockReport[];
  /** All locks below this path were looked for. */
  readonly root?: string;
  readonly deadlocks: readonly Deadlock[];
  /** Why each one holds or waits is told too. */
  readonly isExplained?: boolean;
}

/** The queues as they are now, while they are watched. */
export interface LocksWatchedResult extends Answered {
  readonly kind: "locks-watched";
  readonly reports: readonly LockReport[];
  /** Those among them that have changed; none when only time has passed. */
  readonly changed: readonly LockReport[];
  /** How the queues have moved; only where it is drawn. */
  readonly timeline?: Timeline;
}

/** All locks below `root`, while they are watched. */
export interface LockBoardResult extends BoardChange {
  readonly kind: "lock-board";
  readonly root: string;
}

/**
 * `unaskable`: its library does not listen. `released`: it was waited for, and has given way.
 * `gone`: it had already.
 */
export interface RevocationResult {
  readonly kind: "revocation";
  readonly path: string;
  readonly holder: QueueMember;
  readonly event: "asked" | "unaskable" | "gone" | "released" | "deleted";
  /** With `asked`: whether it listens cannot be told. */
  readonly mayNotListen?: boolean;
  /** With `deleted`: nothing tells the holder, so that it may go on. */
  readonly mayRunOn?: boolean;
}

/** Whether one holding of a lock goes on; a no ends with exit code 1. */
interface SequencerResult {
  readonly kind: "sequencer";
  readonly node: string;
  readonly czxid: bigint;
  readonly isCurrent: boolean;
}

/** A guard has let a token pass. */
interface TokenResult {
  readonly kind: "token";
  readonly path: string;
  readonly token: bigint;
  /** The highest one before. */
  readonly before?: bigint;
}

export type LockReportResult =
  | LocksResult
  | LocksWatchedResult
  | LockBoardResult
  | RevocationResult
  | SequencerResult
  | TokenResult;
