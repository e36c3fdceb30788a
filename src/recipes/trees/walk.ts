/**
 * Lists a whole tree. Sets no watches and creates no znodes.
 *
 * One request (multiRead) lists many znodes, and a few requests are under way at a time, always for
 * the znodes that are visited next. The visits come in zkCli's order: the children of a znode
 * together, then each child in turn (path-order.ts has the depth-first order). Znodes that are
 * deleted meanwhile are skipped. Memory holds the siblings on the path to the current znode and a
 * few replies, not the tree. Aborting the signal or leaving the loop ends the walk; the replies to
 * requests under way are ignored.
 */
import { joinPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { Lookahead, PendingVisit } from "./lookahead.ts";

/** A znode with children, or the root, with the children's names sorted by UTF-16 unit. */
export interface Visit {
  readonly path: string;
  readonly children: readonly string[];
  /**
   * At the time of a yield: how many children, from the first on, have been visited or have no
   * children.
   */
  readonly settled?: number;
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** How many levels below the root are listed: 1 stops at its children. Left out: all. */
  readonly maxDepth?: number | undefined;
  /**
   * Called with a znode below the root that could not be listed; the walk skips the znodes below
   * it.
   */
  readonly onFailure: (path: string, error: Error) => void;
}

export function childPaths({ path, children }: Visit): string[] {
  return children.map((name) => joinPath(path, name));
}

const NAMES_PER_YIELD = 2_000;

/**
 * Throws if the root cannot be listed. Yields the visits in groups as the replies come. A group may
 * be empty: then only `settled` of the last visit has grown.
 */
export async function* walk(
  session: Session,
  root: string,
  options: WalkOptions,
): AsyncGenerator<Visit[]> {
  const { signal, maxDepth } = options;
  // Also where only the root is wanted: it is an error when it does not exist.
  const names = await session.getChildren(root, { signal });
  const first = new PendingVisit(root, maxDepth === 0 ? [] : names, { depth: 0, maxDepth });
  // From the root down to the current znode.
  const trail = [first];
  const lookahead = new Lookahead(session, trail, options);
  let visits: Visit[] = [first];
  let pendingNames = first.children.length;
  for (let here = trail.at(-1); here !== undefined; here = trail.at(-1)) {
    const mustWait = here.below.length === 0 && !here.isAnswered;
    if (mustWait || pendingNames >= NAMES_PER_YIELD) {
      yield visits;
      visits = [];
      pendingNames = 0;
    }
    const next = here.below.shift();
    if (mustWait) await lookahead.fetch();
    else if (here.isDone) trail.pop();
    if (next !== undefined) {
      trail.push(next);
      visits.push(next);
      pendingNames += next.children.length;
    }
  }
  if (visits.length > 0) yield visits;
}
