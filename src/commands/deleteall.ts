import { UsageError } from "../errors.ts";
import { deleteTree } from "../recipes/delete-tree.ts";
import type { Result } from "../result.ts";
import { flag, option, required, type ValueParser, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { describeTree, refuseProtected, reportFailures, treePaths } from "./whole-tree.ts";

const batchSize: ValueParser<number> = (text) => {
  if (/^-?\d{1,10}$/.test(text)) return Number(text);
  throw new UsageError("-b argument must be an int value");
};

export const deleteall = defineCommand({
  details:
    "Asks before it deletes; --yes answers. Never deletes / or anything of /zookeeper. What could not be deleted is " +
    "named with the reason, and the exit code is 8.",
  examples: ["deleteall /app/old", "deleteall --dry-run /app/old"],
  effect: "write",
  args: { path: required(znodePath, "the znode at the top") },
  options: {
    batch: option("-b", "size", batchSize, "deletes in one transaction (1000; 0 for none)"),
    dryRun: flag("", "only list what would be deleted"),
  },
  async confirm(context, { path }, { dryRun }) {
    refuseProtected("deleteall", path);
    return dryRun ? undefined : `Delete ${await describeTree(context, path)}?`;
  },
  run(context, { path }, { batch, dryRun }) {
    refuseProtected("deleteall", path);
    return dryRun ? treePaths(context, path) : deleteAll(context, path, batch);
  },
});

async function* deleteAll(context: Context, path: string, batch: number | undefined): AsyncGenerator<Result> {
  const { deleted, failures } = await deleteTree(context.session(), path, {
    signal: context.signal,
    ...(batch !== undefined && { batchSize: batch }),
    onProgress: (done) => context.onProgress?.(done, "znodes deleted"),
  });
  yield* reportFailures("delete", failures, deleted);
  yield { kind: "tree-deleted", path, count: deleted };
}
