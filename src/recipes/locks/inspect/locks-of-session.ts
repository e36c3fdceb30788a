/**
 * The locks that a session holds or waits for, by the names of its ephemerals. Creates no znodes
 * and sets no watches.
 */
import { PermissionError } from "../../../errors.ts";
import { baseName, parentPath } from "../../../session/path.ts";
import type { Session } from "../../../session/session.ts";
import { isSameId } from "../../../text/hex-id.ts";
import { parseContender } from "../queue/contender.ts";
import { inspectLock, type LockReport, type QueueMember } from "./inspect-lock.ts";

export interface SessionLock {
  readonly path: string;
  readonly member: QueueMember;
  /** Left out for a holder; the next one has 1. */
  readonly position?: number;
  /** With `position`: who holds it now. */
  readonly holders: readonly QueueMember[];
}

export interface SessionLocks {
  readonly locks: readonly SessionLock[];
  /** How many paths may be locks and were not read: too many, or no permission. */
  readonly unread: number;
}

/** A session with more ephemerals than this keeps something else than locks in them. */
const MAX_LOCKS = 500;
const AT_ONCE = 64;

export async function locksOfSession(
  session: Session,
  owner: bigint,
  ephemerals: readonly string[],
  { signal }: { readonly signal: AbortSignal },
): Promise<SessionLocks> {
  const candidates = [...new Set(ephemerals.flatMap(candidatesOf))];
  const locks = new Map<string, SessionLock>();
  let unread = Math.max(0, candidates.length - MAX_LOCKS);
  for (let i = 0; i < Math.min(candidates.length, MAX_LOCKS); i += AT_ONCE) {
    const group = candidates.slice(i, Math.min(i + AT_ONCE, MAX_LOCKS));
    const reports = await Promise.all(group.map((path) => inspect(session, path, signal)));
    unread += reports.filter((report) => report === undefined).length;
    for (const report of reports) {
      // A semaphore's queue is also found as a lock of its own: the first report of a ticket counts.
      for (const lock of report ? membersOf(report, owner) : [])
        if (!locks.has(lock.member.node)) locks.set(lock.member.node, lock);
    }
  }
  return { locks: [...locks.values()], unread };
}

/** The paths of the locks that an ephemeral may be a ticket of, the more likely first. */
function candidatesOf(path: string): string[] {
  const name = baseName(path);
  const parent = parentPath(path);
  const isTicket = parseContender(name) !== undefined || /^[0-9a-f]{32}$/.test(name);
  // One ephemeral alone is a lock if a record of zksh is in it.
  if (!isTicket) return [path];
  const whole = /^(.+)(?:\/leases|\/locks|-__lock__)$/.exec(parent)?.[1];
  return whole === undefined ? [parent] : [whole, parent];
}

async function inspect(
  session: Session,
  path: string,
  signal: AbortSignal,
): Promise<LockReport | undefined> {
  try {
    return await inspectLock(session, path, { signal });
  } catch (error) {
    if (error instanceof PermissionError) return undefined;
    throw error;
  }
}

function membersOf({ path, layouts, holders, waiters }: LockReport, owner: bigint): SessionLock[] {
  const isOwn = ({ session, node, isOurs }: QueueMember) =>
    isSameId(session, owner) && (!layouts.includes("plain") || node !== path || isOurs);
  return [
    ...holders.filter(isOwn).map((member) => ({ path, member, holders: [] })),
    ...waiters.flatMap((member, index) =>
      isOwn(member) ? [{ path, member, position: index + 1, holders }] : [],
    ),
  ];
}
