/**
 * Gives a znode and everything below it one ACL. Watches nothing, makes nothing.
 *
 * The tree is listed before anything is changed, because the new ACL may forbid to list it. Znodes that vanish meanwhile
 * are left out; znodes that appear are not looked for. A znode that is refused is reported, and the others go on. Where
 * the connection broke, what was not answered is set again: the same ACL twice does no harm, unless a version was asked for.
 */
import { NoNodeError } from "../errors.ts";
import type { Acl, Session } from "../session/session.ts";
import { isFateUnknown, listTree, refusalOf, type TreeFailure } from "./tree.ts";

export interface TreeAclOptions {
  readonly signal: AbortSignal;
  /** Only where the ACL has this version. */
  readonly version?: number;
  readonly onProgress?: (changed: number) => void;
}

export interface TreeAclChange {
  readonly changed: number;
  readonly failures: readonly TreeFailure[];
}

const UNDER_WAY = 500;
/** Connections that may break under the same requests. */
const MAX_LOSSES = 3;

/** Throws NoNodeError when there is no such znode, and whatever ends the session. */
export async function setTreeAcl(
  session: Session,
  root: string,
  acl: readonly Acl[],
  { onProgress, ...options }: TreeAclOptions,
): Promise<TreeAclChange> {
  const { paths, unlisted } = await listTree(session, root, options.signal);
  const failures = [...unlisted].map(([path, error]): TreeFailure => ({ path, error: refusalOf(error) }));
  let changed = 0;
  // The root alone first: an ACL that the server does not accept at all is refused once, not a thousand times.
  for (let start = 0, end = 1; start < paths.length; start = end, end += UNDER_WAY) {
    const group = paths.slice(start, end);
    const outcomes = await Promise.allSettled(group.map((path) => setOne(session, path, acl, options)));
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") changed += 1;
      else {
        const error = refusalOf(outcome.reason);
        if (error.reason === "invalid-acl" && changed === 0) throw error;
        const path = group[index] ?? "";
        if (!(error instanceof NoNodeError) && !unlisted.has(path)) failures.push({ path, error });
      }
    }
    onProgress?.(changed);
  }
  return { changed, failures };
}

async function setOne(
  session: Session,
  path: string,
  acl: readonly Acl[],
  options: Pick<TreeAclOptions, "signal" | "version">,
): Promise<void> {
  for (let losses = 0; ; losses++) {
    try {
      await session.setAcl(path, acl, options);
      return;
    } catch (error) {
      if (!isFateUnknown(error) || options.version !== undefined || losses >= MAX_LOSSES) throw error;
    }
  }
}
