/**
 * Lists a whole tree. Makes nothing, watches nothing.
 *
 * Many znodes are asked for in one request (multiRead) and a few requests are under way at a time,
 * always for the znodes that will be visited next. The visits come in zkCli's order: a znode's
 * children together, then each child in turn (path-order.ts has others). Znodes that vanish
 * meanwhile are left out. Memory holds the siblings of where the walk is and a few replies, not the
 * tree. Aborting the signal, or leaving the loop, ends the walk; requests under way then end
 * unseen.
 */
import { joinPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { Lookahead, PendingVisit } from "./lookahead.ts";

/** A znode that has children (the root: also without), with their names sorted by UTF-16 unit. */
export interface Visit {
  readonly path: string;
  readonly children: readonly string[];
  /**
   * So many of the first children have been visited or have no children, at the time of a yield.
   */
  readonly settled?: number;
}

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** How many levels below the root are listed: 1 stops at its children. Left out: all. */
  readonly maxDepth?: number | undefined;
  /**
   * Told of a znode below the root that could not be listed; the walk goes on without what is below
   * it.
   */
  readonly onFailure: (path: string, error: Error) => void;
}

/** The paths of a visit's children. */
export function childPaths({ path, children }: Visit): string[] {
  return children.map((name) => joinPath(path, name));
}

const NAMES_PER_YIELD = 2_000;

/**
 * Throws when the root itself cannot be listed. Yields visits in groups, as they become known. A
 * group may be empty: then more of the last visit's children are settled.
 */
export async function* walk(
  session: Session,
  root: string,
  options: WalkOptions,
): AsyncGenerator<Visit[]> {
  const first = new PendingVisit(
    root,
    options.maxDepth === 0 ? [] : await session.getChildren(root, { signal: options.signal }),
    { depth: 0, maxDepth: options.maxDepth },
  );
  // From the root down to where the walk is, without what is done with.
  const trail = [first];
  const lookahead = new Lookahead(session, trail, options);
  let visits: Visit[] = [first];
  let names = first.children.length;
  for (let here = trail.at(-1); here !== undefined; here = trail.at(-1)) {
    const mustWait = here.below.length === 0 && !here.isAnswered;
    if (mustWait || names >= NAMES_PER_YIELD) {
      yield visits;
      visits = [];
      names = 0;
    }
    const next = here.below.shift();
    if (mustWait) await lookahead.fetch();
    else if (here.isDone) trail.pop();
    if (next !== undefined) {
      trail.push(next);
      visits.push(next);
      names += next.children.length;
    }
  }
  if (visits.length > 0) yield visits;
}
