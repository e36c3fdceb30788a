/** Results of the commands that look at whole trees. They come in pieces while the tree is read. */

import type { Difference } from "../recipes/trees/diff-trees.ts";
import type { Condition } from "../recipes/watching/wait-for-znode.ts";
import type { Stat } from "../session/session.ts";

/** A piece of a drawn tree, depth first. */
interface TreeLinesResult {
  readonly kind: "tree-lines";
  readonly lines: readonly TreeLine[];
}

export interface TreeLine {
  readonly path: string;
  /** For each level below the root: whether this branch is the last of its parent. */
  readonly isLast: readonly boolean[];
  /** Where sizes or data were asked for. */
  readonly stat?: Stat | undefined;
  /** Where data was asked for. */
  readonly data?: Buffer | null | undefined;
  /** Sizes and numbers of children are shown. */
  readonly showsStat: boolean;
}

/** Paths that a search has found. */
interface FoundResult {
  readonly kind: "found";
  readonly paths: readonly string[];
  /** Each path ends with a NUL byte, for `xargs -0`. */
  readonly endsWithNul: boolean;
}

/** Lines of data that match a pattern. */
interface GrepMatchesResult {
  readonly kind: "grep-matches";
  readonly matches: readonly GrepMatch[];
}

export type GrepMatch =
  | { readonly kind: "line"; readonly path: string; readonly line: number; readonly text: string }
  /** Data that is no text matches somewhere. */
  | { readonly kind: "binary"; readonly path: string }
  | { readonly kind: "path"; readonly path: string }
  | { readonly kind: "count"; readonly path: string; readonly count: number };

/** A search has ended without a match; it ends with exit code 1. */
interface NoMatchResult {
  readonly kind: "no-match";
}

/** Sums of subtrees, each after what is below it. */
export interface DiskUsageResult {
  readonly kind: "disk-usage";
  readonly subtrees: readonly SubtreeSize[];
  readonly by: SizeUnit;
}

export type SizeUnit = "bytes" | "znodes" | "children";

export interface SubtreeSize {
  readonly path: string;
  /** Of the data of the znode and everything below it. */
  readonly bytes: number;
  /** The znode itself and everything below it. */
  readonly znodes: number;
  /** Directly below the znode. */
  readonly children: number;
}

/** The largest of a tree: `du --top`. */
export interface LargestResult {
  readonly kind: "largest";
  readonly path: string;
  readonly znodes: readonly { readonly path: string; readonly bytes: number }[];
  readonly subtrees: readonly SubtreeSize[];
  readonly parents: readonly { readonly path: string; readonly children: number }[];
}

/** A znode near a limit of the servers. */
export interface NearLimitResult {
  readonly kind: "near-limit";
  readonly path: string;
  readonly what: "data" | "children";
  readonly bytes: number;
  readonly limit: number;
}

/** A piece of an export that goes to stdout. */
interface TreeFileResult {
  readonly kind: "tree-file";
  readonly text: string;
}

/** An export is complete. */
export interface ExportedResult {
  readonly kind: "exported";
  readonly path: string;
  readonly file?: string;
  readonly znodes: number;
  /** Left out. */
  readonly ephemerals: number;
  /** Changed while the tree was read; with --consistent: while they were read for the last time. */
  readonly changed: readonly string[];
  /** With --consistent: how many znodes were read again. */
  readonly reread?: number;
  /** False where changes may have gone unnoticed. */
  readonly isEveryChangeKnown: boolean;
}

/** A copy or an import has ended. */
export interface TreeWrittenResult {
  readonly kind: "tree-written";
  readonly path: string;
  readonly created: number;
  readonly overwritten: number;
  readonly unchanged: number;
  readonly skipped: number;
  /** Left out. */
  readonly ephemerals: number;
  /** Left out, because only the znode itself was copied. */
  readonly childrenLeft: number;
  /** Deleted, because the file lacks them. */
  readonly pruned: number;
  readonly failed: number;
  /** Changed in the source while it was read. */
  readonly changed: readonly string[];
  /** False where changes may have gone unnoticed. */
  readonly isEveryChangeKnown: boolean;
  readonly isDryRun: boolean;
}

/** A tree has been moved, or with a dry run would be. */
export interface TreeMovedResult {
  readonly kind: "tree-moved";
  readonly from: string;
  readonly to: string;
  readonly znodes: number;
  /** In one transaction. */
  readonly isAtomic: boolean;
  /** Of the transaction. */
  readonly zxid?: bigint | undefined;
  readonly isDryRun: boolean;
}

/** What a command is about to destroy has been exported for `undo`. */
export interface KeptForUndoResult {
  readonly kind: "kept-for-undo";
  readonly znodes: number;
  readonly bytes: number;
  /** Left out: they belong to sessions. */
  readonly ephemerals: number;
  /** Znodes that this session may not read. */
  readonly unreadable: number;
}

/** A znode in which two trees differ. */
export interface DifferenceResult {
  readonly kind: "difference";
  readonly difference: Difference;
  /** The places that are compared, as they were typed. */
  readonly sides: { readonly left: string; readonly right: string };
  /** Only named. */
  readonly isBrief: boolean;
}

/** Two trees differ; the comparison ends with exit code 1. */
interface DiffersResult {
  readonly kind: "differs";
}

/** The znode meets the condition that `wait-for` waited for. */
interface WaitedResult {
  readonly kind: "waited";
  readonly path: string;
  readonly condition: Condition;
}

export type TreeResult =
  | WaitedResult
  | DifferenceResult
  | DiffersResult
  | TreeFileResult
  | ExportedResult
  | TreeWrittenResult
  | TreeMovedResult
  | KeptForUndoResult
  | TreeLinesResult
  | FoundResult
  | GrepMatchesResult
  | NoMatchResult
  | DiskUsageResult
  | LargestResult
  | NearLimitResult;
