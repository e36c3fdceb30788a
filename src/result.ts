/** Everything a command can say. Fields are values of the domain, never formatted text: renderers do the formatting. */

import type { ChildEnd } from "./child.ts";
import type { QuotaNumbers } from "./session/quota.ts";
import type { Acl, Identity, Stat, WatchEventType, WatchKind } from "./session/session.ts";

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
  readonly oldForm?: OldForm;
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
}

/** A piece of a recursive listing: absolute paths. */
export interface PathsResult {
  readonly kind: "paths";
  readonly paths: readonly string[];
}

interface CreatedResult {
  readonly kind: "created";
  /** The real path, with the number a sequential create was given. */
  readonly path: string;
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

/** One znode of many that could not be changed; the others go on. */
export interface FailedResult {
  readonly kind: "failed";
  readonly what: "delete" | "setAcl";
  readonly path: string;
  readonly error: Error & { readonly code?: number | undefined; readonly reason?: string };
}

interface StatResult {
  readonly kind: "stat";
  readonly path: string;
  readonly stat: Stat;
  readonly oldForm?: OldForm;
}

interface AclResult {
  readonly kind: "acl";
  readonly path: string;
  readonly acl: readonly Acl[];
  readonly stat: Stat;
  readonly withStat: boolean;
}

interface AclChangedResult {
  readonly kind: "acl-changed";
  readonly path: string;
  readonly stat: Stat;
  readonly withStat: boolean;
}

interface TreeAclChangedResult {
  readonly kind: "tree-acl-changed";
  readonly path: string;
  /** How many znodes, the root among them. */
  readonly count: number;
}

interface IdentifiedResult {
  readonly kind: "identified";
  readonly scheme: string;
  /** The session, and with it the identity, ends with this command. */
  readonly isShortLived: boolean;
}

/** Who the server takes this session for. */
interface IdentitiesResult {
  readonly kind: "identities";
  readonly identities: readonly Identity[];
}

interface SyncedResult {
  readonly kind: "synced";
  readonly path: string;
}

/** This session's ephemerals, in the server's order. */
interface EphemeralsResult {
  readonly kind: "ephemerals";
  readonly paths: readonly string[];
  /** The session has only just begun, so it cannot have any. */
  readonly isOneShot: boolean;
}

interface CountResult {
  readonly kind: "count";
  readonly path: string;
  readonly count: number;
}

/** An ensemble's configuration: the text of /zookeeper/config. */
export interface ConfigResult {
  readonly kind: "config";
  readonly text: string;
  readonly stat: Stat;
  readonly withStat: boolean;
  /** Only its version and where clients connect to. */
  readonly isBrief: boolean;
  /** It has just been put into effect. */
  readonly isNew: boolean;
}

/** A quota and what is used of it; `usage` is left out where the server keeps none. */
export interface QuotaResult {
  readonly kind: "quota";
  readonly path: string;
  readonly limits: QuotaNumbers;
  readonly usage?: QuotaNumbers;
}

export interface QuotaChangedResult {
  readonly kind: "quota-changed";
  readonly path: string;
  readonly limits: QuotaNumbers;
  readonly usage: QuotaNumbers;
  /** What the new limits are below already. */
  readonly exceeded: readonly ("count" | "bytes")[];
}

interface QuotaDeletedResult {
  readonly kind: "quota-deleted";
  readonly path: string;
}

/** Whether there is such a znode; a no ends with exit code 1. */
interface ExistenceResult {
  readonly kind: "existence";
  readonly path: string;
  readonly exists: boolean;
}

interface WatchAddedResult {
  readonly kind: "watch-added";
  readonly path: string;
  readonly isRecursive: boolean;
}

export interface WatchesRemovedResult {
  readonly kind: "watches-removed";
  readonly path: string;
  readonly removed: readonly WatchKind[];
}

interface WatchedZnode {
  readonly kind: "watched";
  readonly path: string;
}

/** What `watch` tells of a znode, first what is there and then each change; and, on stderr, of the watch itself. */
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
  | (WatchedZnode & { readonly event: "session-lost" | "session-replaced" })
  | (WatchedZnode & { readonly event: "unreadable"; readonly error: Error });

/** A program was run for a change of `path`. */
export interface RanResult {
  readonly kind: "ran";
  readonly path: string;
  readonly argv: readonly string[];
  readonly end: ChildEnd;
}

/** One row of a help text: what is written, and what it means. */
export interface HelpRow {
  readonly term: string;
  readonly summary: string;
}

/** The overview: all commands by group, and what else there is help about. */
export interface HelpResult {
  readonly kind: "help";
  readonly groups: readonly { readonly title: string; readonly rows: readonly HelpRow[] }[];
  readonly topics: readonly HelpRow[];
}

/** A page that is not about one command. A section is a table, a text, or both. */
export interface TopicResult {
  readonly kind: "topic";
  readonly name: string;
  readonly summary: string;
  readonly sections: readonly {
    readonly title?: string;
    readonly text?: string;
    readonly rows?: readonly HelpRow[];
  }[];
}

/** One command's page. */
export interface CommandHelpResult {
  readonly kind: "command-help";
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly usage: string;
  readonly details?: string;
  readonly args: readonly HelpRow[];
  readonly options: readonly HelpRow[];
  readonly examples: readonly string[];
}

/** Where relative paths start now. */
interface WorkingZnodeResult {
  readonly kind: "working-znode";
  readonly path: string;
  /** It was not asked for: it has just been changed. */
  readonly hasMoved: boolean;
}

/** A session that was asked for by name. */
export interface ConnectedResult {
  readonly kind: "connected";
  readonly server: string;
  readonly sessionId: bigint;
  readonly isReadOnly: boolean;
}

interface DisconnectedResult {
  readonly kind: "disconnected";
}

/** Earlier lines with their numbers, oldest first. */
interface HistoryResult {
  readonly kind: "history";
  readonly entries: readonly { readonly number: number; readonly line: string }[];
}

interface WatchPrintingResult {
  readonly kind: "watch-printing";
  readonly isOn: boolean;
  /** It was not asked for: it has just been changed. */
  readonly hasChanged: boolean;
}

/** What a watch has seen. */
export interface WatchEventResult {
  readonly kind: "watch-event";
  readonly type: WatchEventType;
  readonly path: string;
  /** When it was heard of, in milliseconds since the epoch. */
  readonly at: number;
}

interface VersionResult {
  readonly kind: "version";
  readonly version: string;
}

export type Result =
  | DataResult
  | ChildrenResult
  | PathsResult
  | CreatedResult
  | ChangedResult
  | DeletedResult
  | TreeDeletedResult
  | FailedResult
  | StatResult
  | AclResult
  | AclChangedResult
  | TreeAclChangedResult
  | IdentifiedResult
  | IdentitiesResult
  | SyncedResult
  | EphemeralsResult
  | CountResult
  | ConfigResult
  | QuotaResult
  | QuotaChangedResult
  | QuotaDeletedResult
  | ExistenceResult
  | WatchAddedResult
  | WatchesRemovedResult
  | WatchedResult
  | RanResult
  | HelpResult
  | TopicResult
  | CommandHelpResult
  | WorkingZnodeResult
  | ConnectedResult
  | DisconnectedResult
  | HistoryResult
  | WatchPrintingResult
  | WatchEventResult
  | VersionResult;

/** The result of one kind; renderers are maps from every kind to a function of its result. */
export type ResultOf<Kind extends Result["kind"]> = Extract<Result, { readonly kind: Kind }>;

/** What a command wants of the shell instead of showing something: to end, an empty screen, or an earlier line again. */
export type Control =
  | { readonly kind: "exit" }
  | { readonly kind: "clear" }
  | { readonly kind: "again"; readonly line: string };

export function isControl(output: Result | Control): output is Control {
  return output.kind === "exit" || output.kind === "clear" || output.kind === "again";
}
