/** What `cp` and `import` share: options, the question of conflicts, and their last words. */
import { ConflictError, NoNodeError, PartialError } from "../errors.ts";
import { TreeInterruptedError } from "../recipes/trees/tree-interrupted.ts";
import type { OnConflict, WrittenTree } from "../recipes/trees/write-tree.ts";
import type { Result } from "../results/result.ts";
import { parentPath } from "../session/path.ts";
import type { Session } from "../session/session.ts";
import { quoteWord } from "../text/quote-word.ts";
import { option } from "./arguments.ts";
import { oneOf } from "./choices.ts";
import { tellInterruption } from "./whole-tree.ts";

const CHOICES: readonly OnConflict[] = ["fail", "skip", "overwrite"];

const onConflict = oneOf(CHOICES, "choice");

export const onConflictOption = option(
  "",
  "choice",
  onConflict,
  "fail, skip or overwrite: existing znodes with other data",
);

/** Every znode of a tree would be refused for the parent that its root lacks. */
export async function requireParent(
  session: Session,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const parent = parentPath(path);
  if (path === "/" || (await session.exists(parent, { signal }))) return;
  const message = `cannot create ${path}: its parent ${parent} does not exist (NoNode)`;
  throw new NoNodeError("no-node", message, {
    path: parent,
    code: -101,
    hint: `create -p ${quoteWord(parent)} creates it`,
  });
}

/** Errors of writing, with what to do next. */
export function explainWrite(error: unknown, target: string): unknown {
  if (error instanceof TreeInterruptedError) {
    return tellInterruption(error, {
      verb: "written",
      path: target,
      rest: "the same command goes on where it stopped",
    });
  }
  if (!(error instanceof ConflictError) || error.reason !== "node-exists") return error;
  return new ConflictError(error.reason, error.message, {
    ...(error.path !== undefined && { path: error.path }),
    ...(error.code !== undefined && { code: error.code }),
    hint: "--on-conflict skip keeps it, --on-conflict overwrite replaces its data",
    cause: error,
  });
}

const MAX_NAMED = 20;

/** Says what was written; throws PartialError where some could not be. */
export function* reportWritten(
  written: WrittenTree,
  {
    path,
    ephemerals,
    childrenLeft = 0,
    pruned = 0,
    changed = [],
    isEveryChangeKnown = true,
    isDryRun = false,
  }: WriteReport,
): Generator<Result> {
  const { created, overwritten, unchanged, skipped, failures } = written;
  for (const { path: failed, error } of failures.slice(0, MAX_NAMED))
    yield { kind: "failed", what: "write", path: failed, error };
  yield {
    kind: "tree-written",
    path,
    created,
    overwritten,
    unchanged,
    skipped,
    ephemerals,
    childrenLeft,
    pruned,
    failed: failures.length,
    changed,
    isEveryChangeKnown,
    isDryRun,
  };
  const [first] = failures;
  if (!first) return;
  const number = failures.length === 1 ? "1 znode" : `${failures.length} znodes`;
  throw new PartialError("partial", `${number} could not be written`, {
    path: first.path,
    cause: first.error,
    hint: "the same command can be run again: what is there already stays",
  });
}

interface WriteReport {
  /** The root of what was written. */
  readonly path: string;
  /** Ephemerals that were left out: they belong to sessions. */
  readonly ephemerals: number;
  readonly childrenLeft?: number;
  readonly pruned?: number;
  /** Of the source, while it was read. */
  readonly changed?: readonly string[];
  readonly isEveryChangeKnown?: boolean;
  readonly isDryRun?: boolean;
}
