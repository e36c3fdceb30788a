/**
 * Reads the holders and waiters of a lock, and which library made their tickets. Creates no znodes;
 * sets watches only if `options.watch` is given.
 *
 * The first round trip lists all znodes that a lock can consist of, the second reads the tickets.
 * Tickets that are deleted in between are left out. Tickets without read permission are described
 * by their name and stat. A lost session or an aborted signal ends the call with its error.
 */
import { NoNodeError, OperationError, PermissionError } from "../../../errors.ts";
import { joinPath } from "../../../session/path.ts";
import type {
  CallOptions,
  Data,
  ReadOptions,
  ReadResult,
  Session,
} from "../../../session/session.ts";
import { decodeRecord, describeParty, MAX_READ_BYTES, revokeRequest } from "../holder-record.ts";
import {
  type Contender,
  incompatibleKinds,
  parseContender,
  parseContenders,
} from "../queue/contender.ts";
import { recordedLimit } from "../semaphore-limit.ts";
import {
  arrange,
  type Queue,
  type Queued,
  type QueueMember,
  toQueueMember,
} from "./arrange-queue.ts";

export type { QueueMember } from "./arrange-queue.ts";

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

export interface InspectOptions extends ReadOptions {
  /**
   * The tickets that an earlier call has read: they are not read again. The call adds new tickets
   * and removes deleted ones.
   */
  readonly known?: Map<string, Data>;
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
  const found = await look(session, path, options);
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
  if (own.stat.ephemeralOwner !== 0n) queues.push(plain(path, own));
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

interface Found {
  readonly own: Data;
  readonly children: readonly string[];
  /** Below a semaphore in Curator's layout; empty for other locks. */
  readonly leases: readonly string[];
  readonly queue: readonly string[];
}

/** Lists everything in one round trip. Returns undefined if the znode does not exist. */
async function look(
  session: Session,
  path: string,
  options: ReadOptions,
): Promise<Found | undefined> {
  const [own, children, leases, queue] = await Promise.all([
    readAtLeastStat(session, path, options),
    list(session, path, options),
    list(session, joinPath(path, "leases"), options),
    list(session, joinPath(path, "locks"), options),
  ]);
  if (!own || !children) {
    // Only exists() can watch a znode that does not exist yet.
    if (options.watch && (await session.exists(path, options))) return look(session, path, options);
    return undefined;
  }
  // A child called `locks` alone is no sign of a semaphore.
  const isSemaphore = children.includes("leases");
  return {
    own,
    children,
    leases: (isSemaphore && leases) || [],
    queue: (isSemaphore && queue) || [],
  };
}

async function list(
  session: Session,
  path: string,
  options: ReadOptions,
): Promise<string[] | undefined> {
  try {
    return await session.getChildren(path, options);
  } catch (error) {
    if (error instanceof NoNodeError) return undefined;
    throw error;
  }
}

/** exists() needs no permission: the stat can be read where the data cannot. */
async function readAtLeastStat(
  session: Session,
  path: string,
  options: ReadOptions,
): Promise<Data | undefined> {
  try {
    return await session.getData(path, options);
  } catch (error) {
    if (error instanceof NoNodeError) return undefined;
    if (!(error instanceof PermissionError)) throw error;
    const stat = await session.exists(path, options);
    return stat && { data: null, stat };
  }
}

function ticketPaths(path: string, { children, leases, queue }: Found): string[] {
  return [
    ...children
      .filter((name) => parseContender(name) || KAZOO_LEASE.test(name))
      .map((name) => joinPath(path, name)),
    ...leases.map((name) => joinPath(path, `leases/${name}`)),
    ...queue.map((name) => joinPath(path, `locks/${name}`)),
  ];
}

type Tickets = ReadonlyMap<string, Data>;

/**
 * Up to this many tickets are read with single requests: multiRead may cost another round trip, to
 * learn whether the server knows it.
 */
const FEW = 100;
/** With tickets of 1 KB a reply stays near half a megabyte. */
const BATCH = 500;

async function readNewTickets(
  session: Session,
  paths: readonly string[],
  options: InspectOptions,
): Promise<Tickets> {
  const { known, ...how } = options;
  if (!known) return readTickets(session, paths, how);
  const present = new Set(paths);
  for (const path of known.keys()) if (!present.has(path)) known.delete(path);
  const unknown = paths.filter((path) => !known.has(path));
  for (const [path, data] of await readTickets(session, unknown, how)) known.set(path, data);
  return new Map(known);
}

/** Reads the tickets that still exist, in one round trip. */
async function readTickets(
  session: Session,
  paths: readonly string[],
  { signal }: ReadOptions,
): Promise<Tickets> {
  const options = signal ? { signal } : {};
  const tickets = new Map<string, Data>();
  if (paths.length <= FEW) {
    const read = await Promise.all(paths.map((path) => readAtLeastStat(session, path, options)));
    for (const [index, data] of read.entries())
      if (data) tickets.set(paths[index] ?? "", toKeep(data));
    return tickets;
  }
  const batches = Array.from({ length: Math.ceil(paths.length / BATCH) }, (_, i) =>
    paths.slice(i * BATCH, (i + 1) * BATCH),
  );
  const replies = await Promise.all(batches.map((batch) => readBatch(session, batch, options)));
  const hidden: string[] = [];
  for (const result of replies.flat()) {
    if (result.op === "getData") tickets.set(result.path, toKeep(result));
    else if (result.op === "error" && result.error instanceof PermissionError)
      hidden.push(result.path);
    else if (result.op === "error" && !(result.error instanceof NoNodeError)) throw result.error;
  }
  const stats = await Promise.all(hidden.map((path) => session.exists(path, options)));
  for (const [index, stat] of stats.entries())
    if (stat) tickets.set(hidden[index] ?? "", { data: null, stat });
  return tickets;
}

/** Splits the batch if the reply is too long: a ticket may have up to 1 MB of data. */
async function readBatch(
  session: Session,
  paths: readonly string[],
  options: CallOptions,
): Promise<ReadResult[]> {
  try {
    return await session.multiRead(
      paths.map((path) => ({ op: "getData", path }) as const),
      options,
    );
  } catch (error) {
    const isTooLong = error instanceof OperationError && error.reason === "reply-too-long";
    if (!isTooLong || paths.length === 1) throw error;
    const half = Math.ceil(paths.length / 2);
    const first = await readBatch(session, paths.slice(0, half), options);
    return first.concat(await readBatch(session, paths.slice(half), options));
  }
}

/**
 * Cuts data that is too long for a record to one byte more than the limit: thousands of tickets are
 * kept in memory while a queue is watched.
 */
function toKeep({ data, stat }: Data): Data {
  return {
    data:
      data && data.length > MAX_READ_BYTES
        ? Buffer.from(data.subarray(0, MAX_READ_BYTES + 1))
        : data,
    stat,
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
function semaphore(path: string, found: Found, tickets: Tickets): Queue {
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

/** kazoo's permits have no sequence numbers. */
const KAZOO_LEASE = /^[0-9a-f]{32}$/;

/**
 * kazoo's layout: the data of the path is the limit, its children are the permits, and waiters
 * queue for the lock `PATH-__lock__`.
 */
async function kazooSemaphore(
  session: Session,
  path: string,
  { own, children }: Found,
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
  const contenders = parseContenders((await list(session, inner, options)) ?? []);
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
  found: Found,
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
  if (found.own.stat.ephemeralOwner !== 0n) layouts.add("plain");
  return [...layouts];
}
