/** What is said of watches, and what they see. */

import type { ChildEnd } from "../processes/child-requests.ts";
import type { Stat, WatchEventType, WatchKind } from "../session/session.ts";

interface WatchAddedResult {
  readonly kind: "watch-added";
  readonly path: string;
  readonly isRecursive: boolean;
}

export interface WatchesRemovedResult {
  readonly kind: "watches-removed";
  readonly path: string;
  readonly removed: readonly WatchKind[];
  /** Whether watch events are shown: in zkCli these are such. */
  readonly printsWatches: boolean;
}

/** What a watch has seen. */
export interface WatchEventResult {
  readonly kind: "watch-event";
  readonly type: WatchEventType;
  readonly path: string;
  /** When it was heard of, in milliseconds since the epoch. */
  readonly at: number;
}

interface WatchPrintingResult {
  readonly kind: "watch-printing";
  readonly isOn: boolean;
  /** It was not asked for: it has just been changed. */
  readonly hasChanged: boolean;
}

interface WatchedZnode {
  readonly kind: "watched";
  readonly path: string;
  /** When it was heard of, in milliseconds since the epoch. */
  readonly at: number;
  /** Nothing is cut on a terminal, however long it is. */
  readonly isWhole?: boolean;
}

/**
 * What `watch` tells of a znode, first what is there and then each change; and, on stderr, of the
 * watch itself.
 */
export type WatchedResult =
  | (WatchedZnode & {
      readonly event: "current" | "created" | "changed";
      readonly data: Buffer | null;
      readonly stat: Stat;
    })
  | (WatchedZnode & { readonly event: "absent" | "deleted" })
  | (WatchedZnode & {
      readonly event: "children";
      readonly added: readonly string[];
      readonly removed: readonly string[];
    })
  | (Omit<WatchedZnode, "at"> & {
      readonly event: "session-lost" | "session-replaced";
      readonly at?: number;
    })
  | (WatchedZnode & { readonly event: "unreadable"; readonly error: Error });

/** A program was run for a change of `path`. */
export interface RanResult {
  readonly kind: "ran";
  readonly path: string;
  readonly argv: readonly string[];
  readonly end: ChildEnd;
}

export type WatchResult =
  | WatchAddedResult
  | WatchesRemovedResult
  | WatchEventResult
  | WatchPrintingResult
  | WatchedResult
  | RanResult;
