/**
 * Sets, reads and removes quotas. A quota is nothing but znodes, and every client must write them
 * alike:
 *
 *   /zookeeper/quota<path>/zookeeper_limits   the limits, written here
 *   /zookeeper/quota<path>/zookeeper_stats    what is used; made here, kept up by the server
 *
 * Both are made in one transaction. No quota may stand above or below another. Watches nothing;
 * aborting leaves at most empty znodes on the way to the quota, which the next setquota uses and
 * the next delquota removes.
 */
import { ConflictError, NoNodeError, RefusedError } from "../errors.ts";
import { ancestors, parentPath } from "../session/path.ts";
import {
  formatQuota,
  limitsPath,
  parseQuota,
  type QuotaKey,
  type QuotaNumbers,
  quotaPath,
  usagePath,
} from "../session/quota.ts";
import type { CallOptions, Session } from "../session/session.ts";
import { QUOTA_ROOT } from "../session/system-path.ts";
import { walk } from "./trees/walk.ts";

export interface Quota {
  readonly limits: QuotaNumbers;
  /** Left out where the znode that the server counts in is missing. */
  readonly usage?: QuotaNumbers;
}

const NO_LIMITS: QuotaNumbers = { count: -1n, bytes: -1n, countHardLimit: -1n, byteHardLimit: -1n };
const NOTHING_USED: QuotaNumbers = { count: 0n, bytes: 0n };
const MAX_TRIES = 5;

interface Options extends CallOptions {
  readonly signal: AbortSignal;
}

/** The quota of a znode; undefined when it has none. */
export async function readQuota(
  session: Session,
  path: string,
  options: Options,
): Promise<Quota | undefined> {
  const [limits, usage] = await Promise.all([
    readNumbers(session, limitsPath(path), options),
    readNumbers(session, usagePath(path), options),
  ]);
  return limits && { limits: limits.numbers, ...(usage && { usage: usage.numbers }) };
}

/**
 * Sets some limits of a znode and leaves the others. Throws ConflictError where a quota above or
 * below is in the way.
 */
export async function setQuota(
  session: Session,
  path: string,
  change: Partial<QuotaNumbers>,
  options: Options,
): Promise<Required<Quota>> {
  if (!(await session.exists(path, options))) {
    throw new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { code: -101, path });
  }
  await Promise.all([refuseBelow(session, path, options), refuseAbove(session, path, options)]);
  for (let tries = 1; ; tries++) {
    try {
      const limits = await readNumbers(session, limitsPath(path), options);
      if (limits)
        await writeLimits(
          session,
          path,
          { ...NO_LIMITS, ...limits.numbers, ...change },
          limits.version,
          options,
        );
      else await make(session, path, { ...NO_LIMITS, ...change }, options);
      break;
    } catch (error) {
      // Another client set or removed this quota between our read and our write.
      const isRace = error instanceof ConflictError || error instanceof NoNodeError;
      if (!isRace || tries >= MAX_TRIES) throw error;
    }
  }
  const { limits = NO_LIMITS, usage = NOTHING_USED } =
    (await readQuota(session, path, options)) ?? {};
  return { limits, usage };
}

/** Takes one limit away, or the whole quota. False when there is none. */
export async function deleteQuota(
  session: Session,
  path: string,
  keys: readonly QuotaKey[],
  options: Options,
): Promise<boolean> {
  const limits = await readNumbers(session, limitsPath(path), options);
  if (!limits) return false;
  if (keys.length > 0) {
    const none = Object.fromEntries(keys.map((key) => [key, -1n]));
    await writeLimits(
      session,
      path,
      { ...NO_LIMITS, ...limits.numbers, ...none },
      limits.version,
      options,
    );
    return true;
  }
  for (const kept of [usagePath(path), limitsPath(path)])
    await session.delete(kept, options).catch(unlessMissing);
  for (let empty = quotaPath(path); empty !== QUOTA_ROOT; empty = parentPath(empty)) {
    try {
      await session.delete(empty, options);
    } catch (error) {
      if (error instanceof ConflictError) break;
      unlessMissing(error);
    }
  }
  return true;
}

/** What the limits are below already: servers do not refuse such a quota, they only count. */
export function exceeded({ limits, usage }: Required<Quota>): ("count" | "bytes")[] {
  const isBelow = (limit = -1n, used: bigint) => limit > -1n && limit < used;
  const { count, bytes } = usage;
  const found: ("count" | "bytes")[] = [];
  if (isBelow(limits.count, count) || isBelow(limits.countHardLimit, count)) found.push("count");
  if (isBelow(limits.bytes, bytes) || isBelow(limits.byteHardLimit, bytes)) found.push("bytes");
  return found;
}

async function readNumbers(session: Session, path: string, options: Options) {
  try {
    const { data, stat } = await session.getData(path, options);
    return { numbers: parseQuota(data), version: stat.version };
  } catch (error) {
    return unlessMissing(error);
  }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof NoNodeError)) throw error;
}

async function writeLimits(
  session: Session,
  path: string,
  limits: QuotaNumbers,
  version: number,
  options: Options,
): Promise<void> {
  await session.setData(limitsPath(path), Buffer.from(formatQuota(limits)), {
    ...options,
    version,
  });
}

async function make(
  session: Session,
  path: string,
  limits: QuotaNumbers,
  options: Options,
): Promise<void> {
  if (!(await session.exists(QUOTA_ROOT, options))) {
    throw new RefusedError(
      "no-quotas-here",
      `${QUOTA_ROOT} cannot be reached: it is outside the chroot`,
      {
        hint: "connect without the chroot, and give the full path",
      },
    );
  }
  // One flight, parents first: the server keeps a session's order. What exists already is no
  // failure.
  const missing = [...ancestors(path), path].map((each) =>
    session.create(quotaPath(each), null, options),
  );
  for (const outcome of await Promise.allSettled(missing)) {
    if (outcome.status === "rejected" && !(outcome.reason instanceof ConflictError))
      throw outcome.reason;
  }
  await session.multi(
    [
      { op: "create", path: limitsPath(path), data: Buffer.from(formatQuota(limits)) },
      { op: "create", path: usagePath(path), data: Buffer.from(formatQuota(NOTHING_USED)) },
    ],
    options,
  );
}

async function refuseBelow(session: Session, path: string, { signal }: Options): Promise<void> {
  const root = quotaPath(path);
  try {
    for await (const visits of walk(session, root, { signal, onFailure() {} })) {
      const found = visits.find((visit) => visit.path !== root && hasLimits(visit.children));
      if (!found) continue;
      const child = found.path.slice(QUOTA_ROOT.length);
      throw new ConflictError("quota-below", `${path} has a child ${child} which has a quota`, {
        path,
      });
    }
  } catch (error) {
    unlessMissing(error);
  }
}

async function refuseAbove(session: Session, path: string, options: Options): Promise<void> {
  const above = ancestors(path);
  const lists = above.map((parent) =>
    session.getChildren(quotaPath(parent), options).catch(unlessMissing),
  );
  const found = (await Promise.all(lists)).findIndex((names) => hasLimits(names ?? []));
  if (found < 0) return;
  throw new ConflictError("quota-above", `${path} has a parent ${above[found]} which has a quota`, {
    path,
  });
}

function hasLimits(children: readonly string[]): boolean {
  return children.includes("zookeeper_limits");
}
