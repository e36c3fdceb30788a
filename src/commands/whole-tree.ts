/** Shared by the commands that change whole trees: refusals, questions and failure reports. */
import { InterruptedError, PartialError, RefusedError, type ZkshError } from "../errors.ts";
import { countBelow } from "../recipes/trees/count-below.ts";
import { DepthFirstOrder, WalkOrder } from "../recipes/trees/path-order.ts";
import { refusalOf, type TreeFailure } from "../recipes/trees/tree-failures.ts";
import { TreeInterruptedError } from "../recipes/trees/tree-interrupted.ts";
import { walk } from "../recipes/trees/walk.ts";
import type { FailedResult, PathsResult } from "../results/znodes.ts";
import { isProtectedPath } from "../session/system-path.ts";
import type { WriteRules } from "../session/write-rules.ts";
import { shorten } from "../text/shorten.ts";
import type { Context } from "./command.ts";
import { reportEach } from "./several-paths.ts";

const MAX_NAMED = 3;
/** The number of trees that a question describes one by one. */
const MAX_DESCRIBED = 20;
/** Longer names are shortened in a question: a znode name can have a megabyte. */
const MAX_NAME = 60;
/** The number of failed znodes reported one by one; the summary counts all of them. */
const MAX_REPORTED = 20;

/**
 * Throws RefusedError for `/`, for the znodes of ZooKeeper itself, and for trees in which the
 * settings protect a znode.
 */
export function refuseProtected(command: string, path: string, writes: WriteRules): void {
  if (!isProtectedPath(path)) return writes.refuseTree(command, path);
  throw new RefusedError("protected-path", `${command} refuses ${path}`, {
    path,
    hint:
      path === "/"
        ? "name the znodes below / one by one"
        : "the znodes below /zookeeper belong to the server",
  });
}

/** `/app and the 12 znodes below it (config, jobs, locks, …)`. */
export async function describeTree({ session, signal }: Context, path: string): Promise<string> {
  const [count, children] = await Promise.all([
    countBelow(session(), path, { signal }),
    session().getChildren(path, { signal }),
  ]);
  if (count === 0) return path;
  const first = children.sort().slice(0, MAX_NAMED);
  const named = first.map((name) => shorten(name, MAX_NAME)).join(", ");
  const others = count > Math.min(children.length, MAX_NAMED) ? ", …" : "";
  const below = count === 1 ? "the one znode below it" : `the ${count} znodes below it`;
  return `${path} and ${below} (${named}${others})`;
}

/** Describes several trees: `2 trees: /a and the 3 znodes below it (b, c, d); /b`. */
export async function describeTrees(context: Context, paths: readonly string[]): Promise<string> {
  const [only] = paths;
  if (paths.length === 1 && only !== undefined) return describeTree(context, only);
  const described: string[] = [];
  for (const path of paths.slice(0, MAX_DESCRIBED)) {
    described.push(
      await describeTree(context, path).catch((error) => `${path} (${whyNot(refusalOf(error))})`),
    );
  }
  const more = paths.length - described.length;
  return `${paths.length} trees: ${described.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

function whyNot({ reason }: ZkshError): string {
  return reason === "no-node" ? "does not exist" : "cannot be read";
}

/**
 * Yields the paths of a tree while it is read: depth first, with -o zkcli in zkCli's order. Throws
 * PartialError at the end if a znode could not be listed.
 */
export async function* treePaths(
  { session, signal, output }: Context,
  root: string,
): AsyncGenerator<PathsResult> {
  const failures: { path: string; error: Error }[] = [];
  const onFailure = (path: string, error: Error) => void failures.push({ path, error });
  const order = output.isZkcli ? new WalkOrder() : new DepthFirstOrder();
  for await (const visits of walk(session(), root, { signal, onFailure })) {
    for (const paths of order.add(visits)) {
      yield { kind: "paths", paths };
      signal.throwIfAborted();
    }
  }
  for (const paths of order.end()) yield { kind: "paths", paths };
  const [first] = failures;
  if (!first) return;
  const { path, error } = first;
  const message =
    failures.length === 1
      ? `could not list ${path}`
      : `could not list ${failures.length} znodes, the first is ${path}`;
  throw new PartialError("partial", message, { path, hint: error.message, cause: error });
}

/**
 * Yields a `failed` result for each failure, and throws: PartialError after some success, the
 * failure itself if nothing succeeded.
 */
export function* reportFailures(
  what: "delete" | "setAcl",
  failures: readonly TreeFailure[],
  done: number,
  asked = 1,
): Generator<FailedResult> {
  const [first] = failures;
  if (!first) return;
  if (done === 0 && failures.length === asked) return yield* reportEach(what, failures, asked);
  for (const { path, error } of failures.slice(0, MAX_REPORTED))
    yield { kind: "failed", what, path, error };
  const verb = what === "delete" ? "deleted" : "changed";
  const message = `${count(done)} ${verb}, ${count(failures.length)} could not be ${verb}`;
  throw new PartialError("partial", message, { path: first.path, cause: first.error });
}

/**
 * Returns the error of an interruption that says what was done: `interrupted: 12,345 znodes deleted
 * below /a; the rest is still there`.
 */
export function tellInterruption(
  error: unknown,
  {
    before = 0,
    verb,
    path,
    rest,
  }: {
    readonly before?: number;
    readonly verb: string;
    readonly path: string;
    readonly rest: string;
  },
): unknown {
  if (!(error instanceof TreeInterruptedError)) return error;
  const done = before + error.done;
  const number = `${error.isExact ? "" : "at least "}${done.toLocaleString("en-US")} ${done === 1 ? "znode" : "znodes"}`;
  return new InterruptedError(`interrupted: ${number} ${verb} below ${path}; ${rest}`, {
    cause: error,
  });
}

function count(znodes: number): string {
  return znodes === 1 ? "1 znode" : `${znodes} znodes`;
}
