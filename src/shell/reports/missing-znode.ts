/**
 * What is there instead of a znode that is not: how far its path exists, and which name was
 * probably meant.
 */

import { within } from "../../async/within.ts";
import { NoNodeError } from "../../errors.ts";
import { ancestors, baseName, joinPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { suggest } from "../parsing/suggest.ts";

export interface Nearby {
  /**
   * The nearest existing parent; undefined when not even the root is there, which only a chroot can
   * bring about.
   */
  readonly parent: string | undefined;
  /** A znode there whose name is almost the missing one. */
  readonly suggestion?: string;
}

/** A hint is worth this much waiting and no more. */
const LIMIT_MS = 500;
const MAX_CHILDREN = 10_000;

export interface Sessions {
  /** A session that stays. Left out: one of our own is opened, and ended. */
  readonly current?: (() => Promise<Session>) | undefined;
  readonly open?: (() => Promise<Session>) | undefined;
}

/** Undefined for any other error, and whenever there is nobody to ask or no answer in time. */
export async function findNearby(error: unknown, sessions: Sessions): Promise<Nearby | undefined> {
  if (!(error instanceof NoNodeError) || error.reason !== "no-node" || !error.path)
    return undefined;
  const { path } = error;
  return askAround(sessions, (session, signal) => lookAround(session, path, signal));
}

/**
 * Asks the session that stays, or one that is opened for it; undefined where none answers in time.
 */
export async function askAround<T>(
  { current, open }: Sessions,
  ask: (session: Session, signal: AbortSignal) => Promise<T | undefined>,
): Promise<T | undefined> {
  const choose = current ?? open;
  if (!choose) return undefined;
  const late = new AbortController();
  const answer = async () => {
    const session = await choose();
    try {
      return await ask(session, late.signal);
    } finally {
      if (current === undefined) await session.close();
    }
  };
  try {
    return await within(
      LIMIT_MS,
      answer().catch(() => undefined),
    );
  } finally {
    late.abort();
  }
}

async function lookAround(
  session: Session,
  path: string,
  signal: AbortSignal,
): Promise<Nearby | undefined> {
  const steps = ["/", ...ancestors(path), path];
  const stats = await Promise.all(steps.map((step) => session.exists(step, { signal })));
  const first = stats.indexOf(undefined);
  if (first === 0) return { parent: undefined };
  const parent = steps[first - 1];
  const missing = steps[first];
  if (parent === undefined || missing === undefined) return undefined;
  if ((stats[first - 1]?.numChildren ?? 0) > MAX_CHILDREN) return { parent };
  // Not permitted to list it: then there is nothing to suggest.
  const names = await session.getChildren(parent, { signal }).catch(() => []);
  const wanted = baseName(missing);
  const name = suggest(
    wanted,
    names.filter((other) => isLike(wanted, other)),
  );
  return { parent, ...(name !== undefined && { suggestion: joinPath(parent, name) }) };
}

/**
 * Another number is another znode, not a slip; and of one or two letters the first must be right.
 */
function isLike(wanted: string, other: string): boolean {
  if (wanted.replace(/\d+/g, "#") === other.replace(/\d+/g, "#")) return false;
  return wanted.length > 2 || wanted[0] === other[0];
}
