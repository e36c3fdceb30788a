/** Moves a tree that does not fit into one transaction: copies, compares, deletes. */
import { ConnectionError, InterruptedError, PartialError, ZkshError } from "../errors.ts";
import { copyTree } from "../recipes/trees/copy-tree.ts";
import { deleteTree } from "../recipes/trees/delete-tree.ts";
import { compareTrees } from "../recipes/trees/move/compare-trees.ts";
import type { Move } from "../recipes/trees/move/move-transaction.ts";
import { mustBeReadable } from "../recipes/trees/move/survey-tree.ts";
import type { TreeFailure } from "../recipes/trees/tree-failures.ts";
import { TreeWriter } from "../recipes/trees/write-tree.ts";
import type { Result } from "../results/result.ts";
import type { FailedResult } from "../results/znodes.ts";
import type { Context } from "./command.ts";
import { tellInterruption } from "./whole-tree.ts";

export interface NamedMove {
  readonly move: Move;
  /** How source and target are shown. */
  readonly names: { readonly from: string; readonly to: string };
}

/** Returns how many znodes were moved. */
export async function* moveInStages(
  context: Context,
  { move, names }: NamedMove,
): AsyncGenerator<Result, number> {
  const { from, to, exact } = move;
  const { signal, output } = context;
  const tell = (what: string) => (done: number) => output.onProgress?.(done, what);
  const stage = new Stage(names);
  // The reads of the plan have been answered: what has changed since is newer than this.
  const unchangedSince = from.session.lastZxid;
  const options = { signal, onFailure: mustBeReadable };
  const writer = new TreeWriter(to.session, {
    signal,
    onConflict: "fail",
    onProgress: tell("znodes copied"),
  });
  const copied = await stage.run("copying", () =>
    copyTree(
      from,
      { path: to.path, sink: writer },
      { ...options, acls: from.acls ?? from.session, exact },
    ),
  );
  yield* report(copied.failures, "write", `${names.from} is still complete: nothing was deleted`);
  const different = await stage.run("comparing", () =>
    firstDifference(move, { signal, unchangedSince, onProgress: tell("znodes compared") }),
  );
  if (different !== undefined) {
    throw new PartialError(
      "partial",
      `nothing was deleted: the copy of ${different} is different`,
      {
        path: different,
        hint: `another client has changed ${names.to}, or an ACL; diff --acl shows how`,
      },
    );
  }
  const { deleted, failures } = await stage.run("deleting", () =>
    deleteTree(from.session, from.path, {
      signal,
      unchangedSince,
      onProgress: tell("znodes deleted"),
    }),
  );
  yield* report(failures, "delete", `${names.to} has everything else of ${names.from}`);
  return deleted;
}

interface CompareOptions {
  readonly signal: AbortSignal;
  readonly unchangedSince: bigint;
  readonly onProgress: (compared: number) => void;
}

/** The first znode of the source that the target lacks, or has with other data or ACL. */
async function firstDifference(
  { from, to }: Move,
  options: CompareOptions,
): Promise<string | undefined> {
  for await (const { kind, path } of compareTrees(from, to, { ...options, acl: true }))
    if (kind !== "only-right") return `${from.path}${path}`;
  return undefined;
}

/** Says in errors what was done before, and what to type next. */
class Stage {
  readonly #names: NamedMove["names"];

  constructor(names: NamedMove["names"]) {
    this.#names = names;
  }

  async run<T>(stage: keyof typeof VERBS, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#explained(error, stage);
    }
  }

  #explained(error: unknown, stage: keyof typeof VERBS): unknown {
    const { from, to } = this.#names;
    const rest = {
      copying: `${from} is complete, ${to} is not`,
      comparing: `${from} and ${to} are both complete`,
      deleting: `${to} is complete, the rest of ${from} is still there`,
    }[stage];
    const state = `${rest}; the same command goes on`;
    const told = tellInterruption(error, {
      verb: VERBS[stage],
      path: stage === "copying" ? to : from,
      rest: state,
    });
    if (told !== error) return told;
    if (error instanceof InterruptedError)
      return new InterruptedError(`interrupted: ${state}`, { cause: error });
    if (!(error instanceof ZkshError)) return error;
    const { reason, message, code, path } = error;
    const details = {
      cause: error,
      hint: state,
      ...(code !== undefined && { code }),
      ...(path !== undefined && { path }),
    };
    if (error instanceof ConnectionError)
      return new ConnectionError(reason, message, { ...details, sent: error.sent });
    return new PartialError("partial", message, details);
  }
}

const VERBS = { copying: "copied", comparing: "compared", deleting: "deleted" } as const;

/** The number of failed znodes that are named one by one; the summary counts all of them. */
const MAX_NAMED = 20;

/** Names the znodes that could not be copied or deleted, and throws PartialError for them. */
function* report(
  failures: readonly TreeFailure[],
  what: "write" | "delete",
  rest: string,
): Generator<FailedResult> {
  const [first] = failures;
  if (!first) return;
  for (const { path, error } of failures.slice(0, MAX_NAMED))
    yield { kind: "failed", what, path, error };
  const number = failures.length === 1 ? "1 znode" : `${failures.length} znodes`;
  const hasChanged = failures.some(({ error }) => error.reason === "changed");
  const hint = hasChanged
    ? "cp --on-conflict overwrite copies such a znode again; then run the same mv again"
    : undefined;
  const verb = what === "write" ? "could not be copied" : "stay where they are";
  throw new PartialError("partial", `${number} ${verb}; ${rest}`, {
    path: first.path,
    cause: first.error,
    ...(hint !== undefined && { hint }),
  });
}
