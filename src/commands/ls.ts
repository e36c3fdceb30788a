import { UsageError } from "../errors.ts";
import type { Result } from "../results/result.ts";
import type { OldForm } from "../results/znodes.ts";
import { joinPath } from "../session/path.ts";
import type { Stat } from "../session/session.ts";
import { flag, optional, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { longListing, longTree } from "./long-listing.ts";
import { oldWatch, readOptions } from "./request-options.ts";
import { treePaths } from "./whole-tree.ts";

/**
 * Up to this many children are looked at one by one to show people which are ephemeral or have
 * children.
 */
const MAX_MARKED = 1_000;

export const ls = defineCommand({
  details:
    "On a terminal, name/ has children and name* is ephemeral. -R writes each znode right before what is below it; with " +
    "-o zkcli in zkCli's order, a znode's children together. In a pipe the columns of -l are size, version, children, " +
    "modified, owner and name, with tabs between; the owner is the session of an ephemeral.",
  examples: ["ls /", "ls -l /zookeeper", "ls -s /zookeeper", "ls -R /zookeeper"],
  effect: "read",
  args: {
    path: optional(znodePath, "the znode (where you are, when left out)"),
    watch: optional(oldWatch, "the word watch: as -w (zkCli's old form)"),
  },
  options: {
    long: flag("-l", "size, version, children, time and owner of each"),
    stat: flag("-s", "print its stat too"),
    watch: flag("-w", "watch for the next change (in the shell)"),
    recursive: flag("-R", "list everything below, one path a line"),
  },
  oneFlight: ({ isForPeople }, _args, { recursive, long }) => !recursive && !long && !isForPeople,
  run(context, { path = context.cwd, watch: old = false }, { long, stat, watch, recursive }) {
    if (recursive) return listTree(context, path, { long, watch: watch || old });
    return listChildren(context, path, {
      long,
      stat,
      watch: watch || old,
      ...(old && { oldForm: "ls" }),
    });
  },
});

interface ListOptions {
  readonly long: boolean;
  readonly stat: boolean;
  readonly watch: boolean;
  readonly oldForm?: OldForm;
}

async function listChildren(
  context: Context,
  path: string,
  { long, stat: withStat, watch, ...more }: ListOptions,
): Promise<Result> {
  const session = context.session();
  const options = readOptions(context, watch);
  const { children, stat } = withStat
    ? await session.getChildren2(path, options)
    : { children: await session.getChildren(path, options), stat: undefined };
  children.sort();
  if (long) {
    const paths = children.map((name) => joinPath(path, name));
    return { ...(await longListing(context, paths)), ...(stat && { stat }) };
  }
  const childStats = context.isForPeople ? await lookAt(context, path, children) : undefined;
  return {
    kind: "children",
    path,
    children,
    ...(stat && { stat }),
    ...(childStats && { childStats }),
    ...more,
  };
}

/** The stats of the children in one flight. A child that cannot be looked at goes without. */
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

function listTree(
  context: Context,
  root: string,
  { long, watch }: Pick<ListOptions, "long" | "watch">,
): AsyncIterable<Result> {
  readOptions(context, watch);
  if (watch) throw new UsageError("-w cannot be combined with -R");
  return long ? longTree(context, root) : treePaths(context, root);
}
