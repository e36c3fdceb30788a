/**
 * Reads the holders and waiters of a lock, and which library made their tickets. Creates no znodes;
 * sets watches only if `options.watch` is given.
 *
 * lock-znodes.ts reads what is there. Tickets without read permission are described by their name
 * and stat. A lost session or an aborted signal ends the call with its error.
 */
import { kindOf } from "../../../session/node-kind.ts";
import { joinPath } from "../../../session/path.ts";
import type { Data, ReadOptions, Session } from "../../../session/session.ts";
import { decodeRecord, describeParty, revokeRequest } from "../holder-record.ts";
import { type Contender, incompatibleKinds, parseContenders } from "../queue/contender.ts";
import { recordedLimit } from "../semaphore-limit.ts";
import {
  arrange,
  type Queue,
  type Queued,
  type QueueMember,
  toQueueMember,
} from "./arrange-queue.ts";
import {
  type InspectOptions,
  KAZOO_LEASE,
  type LockZnodes,
  listNames,
  listZnodes,
  readNewTickets,
  readTickets,
  type Tickets,
  ticketPaths,
} from "./lock-znodes.ts";

export type { QueueMember } from "./arrange-queue.ts";
export type { InspectOptions } from "./lock-znodes.ts";

/** The library and the recipe that use a path. */
export type LockLayout =
  | "curator-lock"
  | "curator-read-write"
  | "curator-semaphore"
  | "curator-latch"
  | "kazoo-lock"
  | "kazoo-read-write"
  | "kazoo-semaphore"
  | "writelock"
  | "textbook-lock"
  | "textbook-read-write"
  /** The path itself is the ephemeral znode of the holder. */
  | "plain";

/** Who holds a lock and who waits for it. */
export interface LockReport {
  readonly path: string;
  /** False if the znode does not exist: the lock is then free. */
  readonly exists: boolean;
  readonly layouts: readonly LockLayout[];
  /** The number of permits of a semaphore, if it is recorded in the znode. */
  readonly limit?: number;
  readonly holders: readonly QueueMember[];
  /** In the order in which they will get the lock. */
  readonly waiters: readonly QueueMember[];
  /** The kinds of tickets that do not see each other; see contender.ts. */
  readonly incompatibleTickets: readonly string[];
}

/**
 * Reads who holds a lock and who waits for it, in two round trips.
 *
 * @example
 * ```ts
 * const { holders, waiters } = await inspectLock(session, "/locks/deploy", {});
 * ```
 */
export async function inspectLock(
  session: Session,
  path: string,
  options: InspectOptions,
): Promise<LockReport> {
  const found = await listZnodes(session, path, options);
  if (!found)
    return { path, exists: false, layouts: [], holders: [], waiters: [], incompatibleTickets: [] };
  const { own, children } = found;
  const nodes = await readNewTickets(session, ticketPaths(path, found), options);
  const contenders = parseContenders(children);
  const queued = queuedOf(path, contenders, nodes);
  const ours = new Set(queued.flatMap(({ record, contender }) => (record ? [contender.name] : [])));
  const queues = [arrange(queued), semaphore(path, found, nodes)];
  const kazoo = await kazooSemaphore(session, path, found, nodes, options);
  if (kazoo) queues.push(kazoo);
  if (kindOf(own.stat) === "ephemeral") queues.push(plain(path, own));
  const limit = recordedLimit(own.data);
  const isSemaphore = kazoo ? limit?.by === "kazoo" : found.leases.length + found.queue.length > 0;
  return {
    path,
    exists: true,
    layouts: layoutsOf(contenders, found, kazoo !== undefined),
    ...(limit && isSemaphore && { limit: limit.limit }),
    holders: queues.flatMap(({ holders }) => holders),
    waiters: queues.flatMap(({ waiters }) => waiters),
    incompatibleTickets: incompatibleKinds(
      [...contenders, ...parseContenders(found.leases)],
      [],
      ours,
    ),
  };
}

function queuedOf(parent: string, contenders: readonly Contender[], tickets: Tickets): Queued[] {
  return contenders.flatMap((contender) => {
    const node = joinPath(parent, contender.name);
    const data = tickets.get(node);
    return data ? [describe(node, contender, data)] : [];
  });
}

function describe(node: string, contender: Contender, data: Data): Queued {
  const record = decodeRecord(data.data);
  const revoke = revokeRequest(data.data);
  const party = describeParty(node, contender, data);
  return { party, contender, ...(record && { record }), ...(revoke && { revoke }) };
}

/** Curator's layout: permits are children of `leases`, waiters queue below `locks`. */
function semaphore(path: string, found: LockZnodes, tickets: Tickets): Queue {
  const leases = queuedOf(joinPath(path, "leases"), parseContenders(found.leases), tickets);
  const recorded = recordedLimit(found.own.data);
  const limit = recorded?.by === "zksh" ? recorded.limit : leases.length;
  const good = new Set(leases.slice(0, limit));
  const holders: QueueMember[] = [];
  const next: QueueMember[] = [];
  for (const permits of permitsOf(leases)) {
    // A contender that has acquired its permits keeps them, even if the limit was lowered later.
    const isHolder =
      permits.every((lease) => good.has(lease)) || permits.some(({ record }) => record?.acquired);
    (isHolder ? holders : next).push(
      toQueueMember({ ...permits[0], tickets: permits }, "semaphore"),
    );
  }
  const queue = queuedOf(joinPath(path, "locks"), parseContenders(found.queue), tickets)
    .map((ticket) => toQueueMember(ticket, "semaphore"))
    // The first waiter of the queue has already created its lease: that is one waiter, not two.
    .filter(({ session }) => !next.some((waiting) => waiting.session === session));
  return { holders, waiters: [...next, ...queue] };
}

/** Groups the leases by client: a client holds all its permits or none. */
function permitsOf(leases: readonly Queued[]): [Queued, ...Queued[]][] {
  const groups = new Map<string, [Queued, ...Queued[]]>();
  for (const lease of leases) {
    const key = lease.contender.uuid ?? lease.contender.name;
    const group = groups.get(key);
    if (group) group.push(lease);
    else groups.set(key, [lease]);
  }
  return [...groups.values()];
}

/**
 * kazoo's layout: the data of the path is the limit, its children are the permits, and waiters
 * queue for the lock `PATH-__lock__`.
 */
async function kazooSemaphore(
  session: Session,
  path: string,
  { own, children }: LockZnodes,
  tickets: Tickets,
  { signal, watch }: ReadOptions,
): Promise<Queue | undefined> {
  const leases = children.filter((name) => KAZOO_LEASE.test(name));
  if (leases.length === 0 || recordedLimit(own.data)?.by !== "kazoo") return undefined;
  const holders = leases
    .flatMap((name) => {
      const data = tickets.get(joinPath(path, name));
      const contender: Contender = {
        name,
        claim: "lease",
        family: "kazoo",
        sequence: 0,
        uuid: name,
      };
      return data
        ? [toQueueMember(describe(joinPath(path, name), contender, data), "semaphore")]
        : [];
    })
    .sort((a, b) => (a.token < b.token ? -1 : 1));
  const inner = `${path}-__lock__`;
  const options = { ...(signal && { signal }), ...(watch && { watch }) };
  const contenders = parseContenders((await listNames(session, inner, options)) ?? []);
  const data = await readTickets(
    session,
    contenders.map(({ name }) => joinPath(inner, name)),
    options,
  );
  const waiters = queuedOf(inner, contenders, data).map((ticket) =>
    toQueueMember(ticket, "semaphore"),
  );
  return { holders, waiters };
}

function plain(path: string, own: Data): Queue {
  const record = decodeRecord(own.data);
  const revoke = revokeRequest(own.data);
  const party = describeParty(path, undefined, own);
  const contender: Contender = { name: "", claim: "lock", family: "textbook", sequence: 0 };
  const queued = { party, contender, ...(record && { record }), ...(revoke && { revoke }) };
  return { holders: [toQueueMember(queued, "exclusive")], waiters: [] };
}

function layoutsOf(
  contenders: readonly Contender[],
  found: LockZnodes,
  isKazooSemaphore: boolean,
): LockLayout[] {
  const layouts = new Set<LockLayout>();
  const hasKazooReaders = contenders.some(
    ({ family, claim }) => family === "kazoo" && claim === "read",
  );
  for (const { family, claim } of contenders) {
    if (claim === "latch") layouts.add("curator-latch");
    else if (claim === "lease") layouts.add("curator-semaphore");
    else if (family === "writelock") layouts.add(family);
    else
      layouts.add(
        `${family}-${claim === "lock" && !(family === "kazoo" && hasKazooReaders) ? "lock" : "read-write"}`,
      );
  }
  if (found.leases.length + found.queue.length > 0) layouts.add("curator-semaphore");
  if (isKazooSemaphore) layouts.add("kazoo-semaphore");
  if (kindOf(found.own.stat) === "ephemeral") layouts.add("plain");
  return [...layouts];
}
