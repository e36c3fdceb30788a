/**
 * What is said of znodes: their data, names, stats, and that they were made, changed or deleted.
 */

import type { Stat } from "../session/session.ts";
import type { StoredView } from "../text/stored/view.ts";

/** Asked for in a way that zkCli has given up: `get path watch`, `ls2 path`. */
export type OldForm = "get" | "ls" | "stat" | "ls2" | "delete";

/** A znode's data. */
export interface DataResult {
  readonly kind: "data";
  readonly path: string;
  /** `null` where the server stores none at all, which is not the same as no bytes. */
  readonly data: Buffer | null;
  readonly stat: Stat;
  /** The caller asked for the stat too. */
  readonly withStat: boolean;
  /** How the caller wants the bytes; `auto` leaves it to the renderer. */
  readonly encoding: "auto" | "base64" | "hex";
  /** What another system stored in the bytes: shown in their place. */
  readonly view?: StoredView | undefined;
  /** Nothing is cut on a terminal, however long it is. */
  readonly isWhole?: boolean;
  /** Several paths were given: which one this is has to be said. */
  readonly isOneOfMany?: boolean;
  readonly oldForm?: OldForm | undefined;
}

/** The names directly below a znode, sorted by UTF-16 unit as zkCli sorts them. */
export interface ChildrenResult {
  readonly kind: "children";
  readonly path: string;
  readonly children: readonly string[];
  /** The parent's stat, when it was asked for. */
  readonly stat?: Stat;
  /** Stats of children by name, as far as they were looked up. */
  readonly childStats?: ReadonlyMap<string, Stat>;
  readonly oldForm?: OldForm;
  /** The children of several znodes are listed. */
  readonly isOneOfMany?: boolean;
}

/** Znodes with their stats, one a row: `ls -l`. With -R one of many pieces. */
export interface LongListingResult {
  readonly kind: "long-listing";
  readonly entries: readonly { readonly path: string; readonly stat: Stat }[];
  /** Paths are shown whole, not the last name alone. */
  readonly isRecursive: boolean;
  /** Rows have come before: the titles are not written again. */
  readonly isContinued: boolean;
  /** The parent's stat, when it was asked for. */
  readonly stat?: Stat;
  /** The parent; undefined with -R. */
  readonly path?: string;
  /** The children of several znodes are listed. */
  readonly isOneOfMany?: boolean;
}

/** A piece of a recursive listing: absolute paths. */
export interface PathsResult {
  readonly kind: "paths";
  readonly paths: readonly string[];
}

interface StatResult {
  readonly kind: "stat";
  readonly path: string;
  readonly stat: Stat;
  /** Several paths were given. */
  readonly isOneOfMany?: boolean;
  readonly oldForm?: OldForm;
}

/** Whether there is such a znode; a no ends with exit code 1. */
interface ExistenceResult {
  readonly kind: "existence";
  readonly path: string;
  readonly exists: boolean;
  /** Several paths were given. */
  readonly isOneOfMany?: boolean;
}

interface CountResult {
  readonly kind: "count";
  readonly path: string;
  readonly count: number;
}

/** This session's ephemerals, in the server's order. */
interface EphemeralsResult {
  readonly kind: "ephemerals";
  readonly paths: readonly string[];
  /** The session has only just begun, so it cannot have any. */
  readonly isOneShot: boolean;
}

interface CreatedResult {
  readonly kind: "created";
  /** The real path, with the number a sequential create was given. */
  readonly path: string;
  /** The znode was there already (--if-missing), and was not changed. */
  readonly existed?: boolean;
  /** The znode goes away with the session, and the session ends with this command. */
  readonly isShortLived: boolean;
}

interface ChangedResult {
  readonly kind: "changed";
  readonly path: string;
  readonly stat: Stat;
  readonly withStat: boolean;
  /** It did not exist, and was made. */
  readonly isNew?: boolean;
}

/** An editor has left the data as it is. */
interface UneditedResult {
  readonly kind: "unedited";
  readonly path: string;
}

/** A text from an editor was not stored, and is not lost. */
interface TextKeptResult {
  readonly kind: "text-kept";
  /** The znode that it was meant for. */
  readonly path: string;
  readonly file: string;
}

interface DeletedResult {
  readonly kind: "deleted";
  readonly path: string;
  readonly oldForm?: OldForm;
}

interface TreeDeletedResult {
  readonly kind: "tree-deleted";
  readonly path: string;
  /** How many znodes, the root among them. */
  readonly count: number;
}

/** One znode of many that could not be read or changed; the others go on. */
export interface FailedResult {
  readonly kind: "failed";
  readonly what: "delete" | "setAcl" | "read" | "write";
  readonly path: string;
  readonly error: Error & { readonly code?: number | undefined; readonly reason?: string };
}

interface SyncedResult {
  readonly kind: "synced";
  readonly path: string;
}

export type ZnodeResult =
  | DataResult
  | ChildrenResult
  | LongListingResult
  | PathsResult
  | StatResult
  | ExistenceResult
  | CountResult
  | EphemeralsResult
  | CreatedResult
  | ChangedResult
  | UneditedResult
  | TextKeptResult
  | DeletedResult
  | TreeDeletedResult
  | FailedResult
  | SyncedResult;
