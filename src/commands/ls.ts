import { PartialError, UsageError } from "../errors.ts";
import { walk } from "../recipes/walk.ts";
import type { PathsResult, Result } from "../result.ts";
import { joinPath } from "../session/path.ts";
import type { Stat } from "../session/session.ts";
import { flag, optional, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { readOptions } from "./request-options.ts";

/** Up to this many children are looked at one by one to show people which are ephemeral or have children. */
const MAX_MARKED = 1_000;

export const ls = defineCommand({
  details: "On a terminal, name/ has children and name* is ephemeral.",
  examples: ["ls /", "ls -s /zookeeper", "ls -R /zookeeper"],
  effect: "read",
  args: { path: optional(znodePath, "the znode (where you are, when left out)") },
  options: {
    stat: flag("-s", "print its stat too"),
    watch: flag("-w", "watch for the next change (in the shell)"),
    recursive: flag("-R", "list everything below, one path a line"),
  },
  oneFlight: ({ isForPeople }, _args, { recursive }) => !recursive && !isForPeople,
  run(context, { path = context.cwd }, { stat, watch, recursive }) {
    return recursive ? listTree(context, path, watch) : listChildren(context, path, stat, watch);
  },
});

async function listChildren(context: Context, path: string, withStat: boolean, watch: boolean): Promise<Result> {
  const session = context.session();
  const options = readOptions(context, watch);
  const { children, stat } = withStat
    ? await session.getChildren2(path, options)
    : { children: await session.getChildren(path, options), stat: undefined };
  children.sort();
  const childStats = context.isForPeople ? await lookAt(context, path, children) : undefined;
  return { kind: "children", path, children, ...(stat && { stat }), ...(childStats && { childStats }) };
}

/** The stats of the children in one flight. A child that cannot be looked at goes without. */
async function lookAt(context: Context, parent: string, children: readonly string[]): Promise<Map<string, Stat>> {
  if (children.length > MAX_MARKED) return new Map();
  const session = context.session();
  const lookups = children.map((name) => session.exists(joinPath(parent, name), { signal: context.signal }));
  const stats = new Map<string, Stat>();
  for (const [index, outcome] of (await Promise.allSettled(lookups)).entries()) {
    const name = children[index];
    if (outcome.status === "fulfilled" && outcome.value && name !== undefined) stats.set(name, outcome.value);
  }
  context.signal.throwIfAborted();
  return stats;
}

async function* listTree(context: Context, root: string, watch: boolean): AsyncGenerator<PathsResult> {
  readOptions(context, watch);
  if (watch) throw new UsageError("-w cannot be combined with -R");
  const { signal } = context;
  const failures: { path: string; error: Error }[] = [];
  const onFailure = (path: string, error: Error) => void failures.push({ path, error });
  for await (const visits of walk(context.session(), root, { signal, onFailure })) {
    const paths = visits.flatMap((visit) => visit.children);
    if (visits[0]?.path === root) paths.unshift(root);
    yield { kind: "paths", paths };
  }
  const [first] = failures;
  if (first) throw unlisted(failures.length, first);
}

function unlisted(count: number, { path, error }: { path: string; error: Error }): PartialError {
  const message = count === 1 ? `could not list ${path}` : `could not list ${count} znodes, among them ${path}`;
  return new PartialError("partial", message, { path, hint: error.message, cause: error });
}
