import { OperationError } from "../errors.ts";
import { findEphemerals } from "../recipes/servers/find-ephemerals.ts";
import { optional, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";

export const getEphemerals = defineCommand({
  details:
    "Only the znodes of this session are listed, so a one-shot command never lists any. Servers " +
    "before 3.6 and ClickHouse Keeper do not tell: there every znode is looked at.",
  examples: ["getEphemerals", "getEphemerals /app"],
  effect: "read",
  args: { path: optional(znodePath, "list only paths that start with this one (default: all)") },
  options: {},
  async run(context, { path }) {
    return {
      kind: "ephemerals",
      paths: await ownEphemerals(context, path),
      isOneShot: context.shell.isOneShot,
    };
  },
});

async function ownEphemerals(
  { session, signal, output }: Context,
  prefix: string | undefined,
): Promise<readonly string[]> {
  const own = session();
  try {
    return await own.getEphemerals(prefix, { signal });
  } catch (error) {
    if (!(error instanceof OperationError) || error.reason !== "unimplemented") throw error;
    const { onProgress } = output;
    const { paths } = await findEphemerals(own, own.id, {
      signal,
      limit: Number.POSITIVE_INFINITY,
      ...(onProgress && { onProgress: (znodes: number) => onProgress(znodes, "znodes searched") }),
    });
    return paths.filter((found) => found.startsWith(prefix ?? "/"));
  }
}
