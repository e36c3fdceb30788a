/**
 * Lists the znodes that a lock can consist of, in one round trip, and reads the tickets among them,
 * in another. Tickets that are deleted in between are left out. Of tickets without read permission
 * there is only the stat.
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
import { MAX_READ_BYTES } from "../holder-record.ts";
import { parseContender } from "../queue/contender.ts";

/** kazoo's permits have no sequence numbers. */
export const KAZOO_LEASE = /^[0-9a-f]{32}$/;

export interface InspectOptions extends ReadOptions {
  /**
   * The tickets that an earlier call has read: they are not read again. The call adds new tickets
   * and removes deleted ones.
   */
  readonly known?: Map<string, Data>;
}

/** The znodes that a lock can consist of. */
export interface LockZnodes {
  readonly own: Data;
  readonly children: readonly string[];
  /** Below a semaphore in Curator's layout; empty for other locks. */
  readonly leases: readonly string[];
  readonly queue: readonly string[];
}

/** Lists everything in one round trip. Returns undefined if the znode does not exist. */
export async function listZnodes(
  session: Session,
  path: string,
  options: ReadOptions,
): Promise<LockZnodes | undefined> {
  const [own, children, leases, queue] = await Promise.all([
    readAtLeastStat(session, path, options),
    listNames(session, path, options),
    listNames(session, joinPath(path, "leases"), options),
    listNames(session, joinPath(path, "locks"), options),
  ]);
  if (!own || !children) {
    // Only exists() can watch a znode that does not exist yet.
    if (options.watch && (await session.exists(path, options)))
      return listZnodes(session, path, options);
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

export async function listNames(
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

export function ticketPaths(path: string, { children, leases, queue }: LockZnodes): string[] {
  return [
    ...children
      .filter((name) => parseContender(name) || KAZOO_LEASE.test(name))
      .map((name) => joinPath(path, name)),
    ...leases.map((name) => joinPath(path, `leases/${name}`)),
    ...queue.map((name) => joinPath(path, `locks/${name}`)),
  ];
}

export type Tickets = ReadonlyMap<string, Data>;

/**
 * Up to this many tickets are read with single requests: multiRead may cost another round trip, to
 * learn whether the server knows it.
 */
const FEW = 100;
/** With tickets of 1 KB a reply stays near half a megabyte. */
const BATCH = 500;

/** Reads tickets that an earlier call has not read; see {@link InspectOptions}. */
export async function readNewTickets(
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
export async function readTickets(
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
