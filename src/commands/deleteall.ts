import { InterruptedError, NoNodeError, RefusedError, UsageError } from "../errors.ts";
import { countBelow } from "../recipes/trees/count-below.ts";
import { deleteTree } from "../recipes/trees/delete-tree.ts";
import { refusalOf, type TreeFailure } from "../recipes/trees/tree-failures.ts";
import type { Result } from "../results/result.ts";
import { flag, option, required, type ValueParser } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { globPaths } from "./glob-paths.ts";
import { furtherPaths, pathWords } from "./several-paths.ts";
import { destroy } from "./undo/keep-for-undo.ts";
import {
  describeTrees,
  refuseProtected,
  reportFailures,
  tellInterruption,
  treePaths,
} from "./whole-tree.ts";

const batchSize: ValueParser<number> = (text) => {
  if (/^-?\d{1,10}$/.test(text)) return Number(text);
  throw new UsageError("-b argument must be an int value");
};

const limit: ValueParser<number> = (text) => {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new UsageError(`bad limit '${text}'`, { hint: "use a whole number of znodes" });
};

export const deleteall = defineCommand({
  details:
    "deleteall asks once before it deletes; --yes answers the question. It refuses / and " +
    "/zookeeper. A znode that cannot be " +
    "deleted is reported with the reason, the others are deleted, and the exit code is 8.",
  examples: ["deleteall /app/old", "deleteall --dry-run /app/old", "deleteall /app/old /app/older"],
  effect: "write",
  args: { path: required(globPaths, "the top of the tree"), paths: furtherPaths },
  options: {
    batch: option(
      "-b",
      "size",
      batchSize,
      "deletions per transaction (default 1000; 0: no transactions)",
    ),
    max: option("", "n", limit, "refuse if there are more znodes than this"),
    dryRun: flag("", "list what would be deleted, and delete nothing"),
  },
  async confirm(context, args, { max, dryRun }) {
    const { paths } = pathWords(args.path, args.paths);
    for (const path of paths) refuseProtected("deleteall", path, context.writes);
    if (max !== undefined) await refuseMany(context, paths, max);
    if (dryRun) return undefined;
    return { text: `Delete ${await describeTrees(context, paths)}?`, paths };
  },
  async *run(context, args, { batch, max, dryRun }) {
    const { paths } = pathWords(args.path, args.paths);
    for (const path of paths) refuseProtected("deleteall", path, context.writes);
    if (max !== undefined) await refuseMany(context, paths, max);
    if (dryRun) return yield* listAll(context, paths);
    const command = `deleteall ${paths.join(" ")}`;
    const destruction = { command, session: context.session(), paths };
    yield* destroy(context, destruction, deleteAll(context, paths, batch));
  },
});

/** Throws RefusedError if the trees together have more than `max` znodes. */
async function refuseMany(
  { session, signal }: Context,
  paths: readonly string[],
  max: number,
): Promise<void> {
  const isBelow = (path: string) => paths.some((top) => path.startsWith(`${top}/`));
  const trees = [...new Set(paths)].filter((path) => !isBelow(path));
  let znodes = 0;
  for (const path of trees) {
    try {
      znodes += 1 + (await countBelow(session(), path, { signal }));
    } catch (error) {
      // The deletion reports a missing tree, beside the trees that it deletes.
      if (!(error instanceof NoNodeError)) throw error;
    }
  }
  if (znodes <= max) return;
  const [path = ""] = trees;
  const what = trees.length === 1 ? `${path} has` : `these ${trees.length} trees have`;
  const number = `${znodes.toLocaleString("en-US")} ${znodes === 1 ? "znode" : "znodes"}`;
  throw new RefusedError(
    "too-many-znodes",
    `deleteall refuses: ${what} ${number}, more than --max ${max.toLocaleString("en-US")}`,
    { path, hint: "nothing was deleted; delete a smaller tree, or raise --max" },
  );
}

async function* listAll(context: Context, paths: readonly string[]): AsyncGenerator<Result> {
  for (const path of paths) yield* treePaths(context, path);
}

async function* deleteAll(
  context: Context,
  paths: readonly string[],
  batch: number | undefined,
): AsyncGenerator<Result> {
  const failures: TreeFailure[] = [];
  let deleted = 0;
  for (const path of paths) {
    try {
      const before = deleted;
      const tree = await deleteTree(context.session(), path, {
        signal: context.signal,
        ...(batch !== undefined && { batchSize: batch }),
        onProgress: (done) => context.output.onProgress?.(before + done, "znodes deleted"),
      });
      deleted += tree.deleted;
      failures.push(...tree.failures);
      if (tree.failures.length === 0) yield { kind: "tree-deleted", path, count: tree.deleted };
    } catch (error) {
      if (paths.length === 1 || error instanceof InterruptedError) {
        throw tellInterruption(error, {
          before: deleted,
          verb: "deleted",
          path: paths.join(", "),
          rest: "the rest is still there",
        });
      }
      failures.push({ path, error: refusalOf(error) });
    }
  }
  yield* reportFailures("delete", failures, deleted, paths.length);
}
