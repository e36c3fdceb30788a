import { UsageError } from "../errors.ts";
import type { Result } from "../results/result.ts";
import type { OldForm } from "../results/znodes.ts";
import { joinPath } from "../session/path.ts";
import type { Stat } from "../session/session.ts";
import { flag, optional } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { globPaths } from "./glob-paths.ts";
import { longListing, longTree } from "./long-listing.ts";
import { oldWatch, readOptions } from "./request-options.ts";
import { forEachPath } from "./several-paths.ts";
import { treePaths } from "./whole-tree.ts";

/** On a terminal, up to this many children are marked as ephemeral or as having children. */
const MAX_MARKED = 1_000;

export const ls = defineCommand({
  details:
    "On a terminal, name/ has children and name* is ephemeral. -R lists depth first: each znode " +
    "is followed by the znodes " +
    "below it; -o zkcli keeps zkCli's order instead. In a pipe, -l separates its columns with " +
    "tabs: size, version, " +
    "children, modified, owner, name. The owner is the session of an ephemeral znode.",
  examples: ["ls /", "ls -l /zookeeper", "ls -s /zookeeper", "ls -R /zookeeper"],
  effect: "read",
  args: {
    path: optional(globPaths, "the znode (default: the working znode)"),
    watch: optional(oldWatch, "the word watch: zkCli's old form of -w"),
  },
  options: {
    long: flag("-l", "print size, version, children, time and owner"),
    stat: flag("-s", "print the stat too"),
    watch: flag("-w", "report the next change (only in the shell)"),
    recursive: flag("-R", "list all znodes below, one path per line"),
  },
  oneFlight: ({ output }, _args, { recursive, long }) => !recursive && !long && !output.isForPeople,
  run(context, { path: paths = [context.shell.cwd], watch: old = false }, options) {
    const { long, stat, recursive } = options;
    const watch = options.watch || old;
    if (recursive) return listTrees(context, paths, { long, watch });
    const how: ListOptions = { long, stat, watch, ...(old && { oldForm: "ls" }) };
    if (paths.length === 1) return listChildren(context, paths[0] as string, how);
    const listOne = (path: string) => listChildren(context, path, { ...how, isOneOfMany: true });
    return forEachPath(paths, "read", listOne);
  },
});

interface ListOptions {
  readonly long: boolean;
  readonly stat: boolean;
  readonly watch: boolean;
  readonly oldForm?: OldForm;
  readonly isOneOfMany?: boolean;
}

async function listChildren(
  context: Context,
  path: string,
  { long, stat: withStat, watch, oldForm, isOneOfMany = false }: ListOptions,
): Promise<Result> {
  const session = context.session();
  const options = readOptions(context, watch);
  const { children, stat } = withStat
    ? await session.getChildren2(path, options)
    : { children: await session.getChildren(path, options), stat: undefined };
  children.sort();
  if (long) {
    const paths = children.map((name) => joinPath(path, name));
    return { ...(await longListing(context, paths)), path, ...(stat && { stat }), isOneOfMany };
  }
  const childStats = context.output.isForPeople ? await lookAt(context, path, children) : undefined;
  return {
    kind: "children",
    path,
    children,
    ...(stat && { stat }),
    ...(childStats && { childStats }),
    ...(oldForm && { oldForm }),
    isOneOfMany,
  };
}

/** Requests the stats of all children together. A child that cannot be read has no mark. */
async function lookAt(
  context: Context,
  parent: string,
  children: readonly string[],
): Promise<Map<string, Stat>> {
  if (children.length > MAX_MARKED) return new Map();
  const session = context.session();
  const lookups = children.map((name) =>
    session.exists(joinPath(parent, name), { signal: context.signal }),
  );
  const stats = new Map<string, Stat>();
  for (const [index, outcome] of (await Promise.allSettled(lookups)).entries()) {
    const name = children[index];
    if (outcome.status === "fulfilled" && outcome.value && name !== undefined)
      stats.set(name, outcome.value);
  }
  context.signal.throwIfAborted();
  return stats;
}

function listTrees(
  context: Context,
  roots: readonly string[],
  { long, watch }: Pick<ListOptions, "long" | "watch">,
): AsyncIterable<Result> {
  readOptions(context, watch);
  if (watch) throw new UsageError("-w cannot be combined with -R");
  return eachTree(roots, (root) => (long ? longTree(context, root) : treePaths(context, root)));
}

async function* eachTree(
  roots: readonly string[],
  list: (root: string) => AsyncIterable<Result>,
): AsyncGenerator<Result> {
  for (const root of roots) yield* list(root);
}
