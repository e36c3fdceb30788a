/**
 * Finds the locks below a path by the names of their tickets, and inspects each. Creates no znodes
 * and sets no watches. A lock that is a single ephemeral znode is not found, because its name can
 * be any; nor is a lock without holders and waiters.
 */
import type { Session } from "../../../session/session.ts";
import { type Visit, walk } from "../../trees/walk.ts";
import { parseContender } from "../queue/contender.ts";
import { inspectLock, type LockReport } from "./inspect-lock.ts";

export interface FindLocksOptions {
  readonly signal: AbortSignal;
  /** Called with a znode that could not be listed or read; the search skips it. */
  readonly onFailure: (path: string, error: Error) => void;
}

/** How many locks are inspected at a time. */
const AT_ONCE = 64;

/** Returns the locks in the order of the walk. Throws NoNodeError if the root does not exist. */
export async function findLocks(
  session: Session,
  root: string,
  options: FindLocksOptions,
): Promise<LockReport[]> {
  const candidates = new Set<string>();
  for await (const visits of walk(session, root, options)) {
    for (const visit of visits) for (const path of locksOf(visit)) candidates.add(path);
  }
  const paths = [...candidates].filter((path) => !isInside(path, candidates));
  const reports: LockReport[] = [];
  for (let i = 0; i < paths.length; i += AT_ONCE) {
    const group = paths.slice(i, i + AT_ONCE).map((path) => inspect(session, path, options));
    reports.push(...(await Promise.all(group)).flat());
  }
  return reports.filter(({ holders, waiters }) => holders.length + waiters.length > 0);
}

function locksOf({ path, children }: Visit): string[] {
  const names = children.map((child) => child.slice(child.lastIndexOf("/") + 1));
  const isLock = names.some((name) => parseContender(name) || /^[0-9a-f]{32}$/.test(name));
  const isSemaphore = names.includes("leases");
  return isLock || isSemaphore ? [path] : [];
}

/** `leases` and `locks` are parts of Curator's semaphore, `-__lock__` of kazoo's. */
function isInside(path: string, candidates: ReadonlySet<string>): boolean {
  const whole = /^(.*)(?:\/leases|\/locks|-__lock__)$/.exec(path)?.[1];
  return whole !== undefined && candidates.has(whole);
}

async function inspect(
  session: Session,
  path: string,
  { signal, onFailure }: FindLocksOptions,
): Promise<LockReport[]> {
  try {
    return [await inspectLock(session, path, { signal })];
  } catch (error) {
    if (signal.aborted || session.state === "lost" || !(error instanceof Error)) throw error;
    onFailure(path, error);
    return [];
  }
}
