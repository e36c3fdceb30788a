/** Everything a command can say. Fields are values of the domain, never formatted text: renderers do the formatting. */
import type { Stat } from "./session/session.ts";

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
}

interface DeletedResult {
  readonly kind: "deleted";
  readonly path: string;
}

interface StatResult {
  readonly kind: "stat";
  readonly path: string;
  readonly stat: Stat;
}

/** Whether there is such a znode; a no ends with exit code 1. */
export interface ExistenceResult {
  readonly kind: "existence";
  readonly path: string;
  readonly exists: boolean;
}

/** One row of a help text: what is written, and what it means. */
export interface HelpRow {
  readonly term: string;
  readonly summary: string;
}

/** The overview: all commands by group, all global options. */
export interface HelpResult {
  readonly kind: "help";
  readonly groups: readonly { readonly title: string; readonly rows: readonly HelpRow[] }[];
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
  | StatResult
  | ExistenceResult
  | HelpResult
  | CommandHelpResult
  | VersionResult;

/** The result of one kind; renderers are maps from every kind to a function of its result. */
export type ResultOf<Kind extends Result["kind"]> = Extract<Result, { readonly kind: Kind }>;

/** What a command wants of the shell instead of showing something: to end, or to run an earlier line again. */
export type Control = { readonly kind: "exit" } | { readonly kind: "again"; readonly line: string };

export function isControl(output: Result | Control): output is Control {
  return output.kind === "exit" || output.kind === "again";
}
