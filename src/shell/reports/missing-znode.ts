/** Looks near a missing znode: for its nearest parent and for a similar name there. */

import { within } from "../../async/within.ts";
import { NoNodeError } from "../../errors.ts";
import { ancestors, baseName, joinPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { suggest } from "../../text/suggest.ts";

export interface Nearby {
  /** The nearest existing parent. Undefined if / does not exist, because the chroot is missing. */
  readonly parent: string | undefined;
  /** A child of the parent whose name is similar to the missing one. */
  readonly suggestion?: string;
}

/** The error is reported without a hint after this time. */
const LIMIT_MS = 500;
const MAX_CHILDREN = 10_000;

export interface Sessions {
  /** The session of the shell. Without it a session is opened and closed again. */
  readonly current?: (() => Promise<Session>) | undefined;
  readonly open?: (() => Promise<Session>) | undefined;
}

/** Resolves to undefined for other errors, and if no server answers in time. */
export async function findNearby(error: unknown, sessions: Sessions): Promise<Nearby | undefined> {
  if (!(error instanceof NoNodeError) || error.reason !== "no-node" || !error.path)
    return undefined;
  const { path } = error;
  return askAround(sessions, (session, signal) => lookAround(session, path, signal));
}

/** Calls `ask` with a session. Resolves to undefined on an error, or after LIMIT_MS. */
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
  // Without permission to list the parent there is no suggestion.
  const names = await session.getChildren(parent, { signal }).catch(() => []);
  const wanted = baseName(missing);
  const name = suggest(
    wanted,
    names.filter((other) => isLike(wanted, other)),
  );
  return { parent, ...(name !== undefined && { suggestion: joinPath(parent, name) }) };
}

/**
 * A name that differs only in a number is another znode, not a typing error. A name of one or two
 * letters must begin with the same letter.
 */
function isLike(wanted: string, other: string): boolean {
  if (wanted.replace(/\d+/g, "#") === other.replace(/\d+/g, "#")) return false;
  return wanted.length > 2 || wanted[0] === other[0];
}
