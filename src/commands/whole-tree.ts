/** What the commands that change whole trees share: what they refuse, what they ask, and what they say of failures. */
import { PartialError, RefusedError } from "../errors.ts";
import { countBelow } from "../recipes/count-below.ts";
import type { TreeFailure } from "../recipes/tree.ts";
import { walk } from "../recipes/walk.ts";
import type { FailedResult, PathsResult } from "../results/znodes.ts";
import { joinPath } from "../session/path.ts";
import type { Context } from "./command.ts";

const SYSTEM = "/zookeeper";
const MAX_NAMED = 3;
/** Znodes that are reported one by one; the summary has their number. */
const MAX_REPORTED = 20;
/** A znode with a million children is written piece by piece, each a write of a few hundred kilobytes at most. */
const PATHS_PER_RESULT = 4_000;

/** Throws RefusedError for `/` and for what ZooKeeper keeps for itself. */
export function refuseProtected(command: string, path: string): void {
  if (path !== "/" && path !== SYSTEM && !path.startsWith(`${SYSTEM}/`)) return;
  throw new RefusedError("protected-path", `${command} does not touch ${path === "/" ? path : SYSTEM}`, {
    path,
    hint: path === "/" ? "name the znodes below it one by one" : "ZooKeeper keeps its own znodes there",
  });
}

/** `/app and the 12 znodes below it (config, jobs, locks, …)`. */
export async function describeTree({ session, signal }: Context, path: string): Promise<string> {
  const [count, children] = await Promise.all([
    countBelow(session(), path, { signal }),
    session().getChildren(path, { signal }),
  ]);
  if (count === 0) return path;
  const named = children.sort().slice(0, MAX_NAMED).join(", ");
  const others = count > Math.min(children.length, MAX_NAMED) ? ", …" : "";
  const below = count === 1 ? "the one znode below it" : `the ${count} znodes below it`;
  return `${path} and ${below} (${named}${others})`;
}

/** A tree's paths, each after its parent, as they become known. Throws PartialError in the end where some stayed hidden. */
export async function* treePaths({ session, signal }: Context, root: string): AsyncGenerator<PathsResult> {
  const failures: { path: string; error: Error }[] = [];
  const onFailure = (path: string, error: Error) => void failures.push({ path, error });
  for await (const visits of walk(session(), root, { signal, onFailure })) {
    let paths = visits[0]?.path === root ? [root] : [];
    for (const { path, children } of visits) {
      for (const name of children) {
        if (paths.length >= PATHS_PER_RESULT) {
          yield { kind: "paths", paths };
          paths = [];
          signal.throwIfAborted();
        }
        paths.push(joinPath(path, name));
      }
    }
    yield { kind: "paths", paths };
  }
  const [first] = failures;
  if (!first) return;
  const { path, error } = first;
  const message =
    failures.length === 1 ? `could not list ${path}` : `could not list ${failures.length} znodes, among them ${path}`;
  throw new PartialError("partial", message, { path, hint: error.message, cause: error });
}

/** Reports what failed, and throws: PartialError after some success, the failure itself where it was the only outcome. */
export async function* reportFailures(
  what: FailedResult["what"],
  failures: readonly TreeFailure[],
  done: number,
): AsyncGenerator<FailedResult> {
  const [first] = failures;
  if (!first) return;
  if (done === 0 && failures.length === 1) throw first.error;
  for (const { path, error } of failures.slice(0, MAX_REPORTED)) yield { kind: "failed", what, path, error };
  const verb = what === "delete" ? "deleted" : "changed";
  const message = `${count(done)} ${verb}, ${count(failures.length)} could not be ${verb}`;
  throw new PartialError("partial", message, { path: first.path, cause: first.error });
}

function count(znodes: number): string {
  return znodes === 1 ? "1 znode" : `${znodes} znodes`;
}
