/**
 * Divides a queue into holders and waiters, by the tickets that each library looks at. Those are
 * fewer than the tickets that zksh waits for.
 */

import type { HolderRecord, LockMode, Party, RevokeRequest } from "../holder-record.ts";
import { blocks, bySequence, type Claim, type Contender } from "../queue/contender.ts";
import { modeOf } from "../queue/queue-position.ts";

/** A holder or waiter of a lock. */
export interface QueueMember extends Party {
  readonly mode: LockMode;
  /** All its tickets, {@link Party.node} first: a client may create tickets of two families. */
  readonly nodes: readonly string[];
  /** The number of permits that it holds or wants, if more than one. */
  readonly permits?: number;
  readonly revoke?: RevokeRequest;
  /** Its ticket has a holder record of zksh: it watches the ticket and obeys revoke requests. */
  readonly isOurs: boolean;
  /** The nearest ticket that it waits for; undefined for holders and for waiters of a semaphore. */
  readonly behind?: string;
  /** The tokens of the locks that it runs inside. */
  readonly within?: readonly string[];
}

/** A ticket of a queue, before holders and waiters are told apart. */
export interface Queued {
  readonly party: Party;
  readonly contender: Contender;
  readonly record?: HolderRecord;
  readonly revoke?: RevokeRequest;
}

export interface Queue {
  readonly holders: readonly QueueMember[];
  readonly waiters: readonly QueueMember[];
}

interface Member extends Queued {
  readonly tickets: readonly Queued[];
}

/** Tickets of one kind: the same contenders wait for each of them. */
interface Sort {
  readonly contender: Contender;
  readonly sessions: Set<bigint>;
  someWait: boolean;
  /** The ticket of this kind with the highest number so far. */
  last: Queued;
}

/** `queued` must be sorted by sequence number. */
export function arrange(queued: readonly Queued[]): Queue {
  const members = merge(queued);
  const hasKazooReaders = queued.some(
    ({ contender }) => contender.family === "kazoo" && contender.claim === "read",
  );
  const seen = new Map<string, Sort>();
  const holders: QueueMember[] = [];
  const waiters: QueueMember[] = [];
  for (const member of members) {
    const ahead = [...seen.values()].filter(
      (sort) => waitsFor(member, sort.contender) && !isOwnWriter(member, sort),
    );
    const isWaiting = ahead.length > 0;
    const [nearest] = ahead
      .map(({ last }) => last)
      .sort((a, b) => bySequence(b.contender, a.contender));
    const placed = toQueueMember(member, modeOfMember(member, hasKazooReaders));
    if (nearest) waiters.push({ ...placed, behind: nearest.party.node });
    else holders.push(placed);
    for (const ticket of member.tickets) {
      const { contender, party } = ticket;
      // Grouped by kind, because a queue of thousands of tickets has only a few kinds.
      const sort = `${contender.family} ${contender.claim} ${endsInDash(contender)}`;
      const known = seen.get(sort) ?? {
        contender,
        sessions: new Set(),
        someWait: false,
        last: ticket,
      };
      seen.set(sort, known);
      known.sessions.add(party.session);
      known.someWait ||= isWaiting;
      known.last = ticket;
    }
  }
  return { holders, waiters };
}

export function toQueueMember(
  { party, record, revoke, tickets }: Member | (Queued & { tickets?: undefined }),
  mode: LockMode,
): QueueMember {
  const within = record?.within ?? [];
  return {
    ...party,
    mode,
    isOurs: record !== undefined,
    nodes: tickets?.map((ticket) => ticket.party.node) ?? [party.node],
    ...(mode === "semaphore" && tickets && tickets.length > 1 && { permits: tickets.length }),
    ...(revoke && { revoke }),
    ...(within.length > 0 && { within }),
  };
}

/** Two tickets of one client are one member, at the place of the first ticket. */
function merge(queued: readonly Queued[]): Member[] {
  const members: (Member & { tickets: Queued[] })[] = [];
  const paired = new Map<string, Queued[]>();
  for (const one of queued) {
    const { uuid } = one.contender;
    const pair = uuid === undefined ? undefined : paired.get(uuid);
    if (pair && pair[0]?.contender.family !== one.contender.family) pair.push(one);
    else {
      const tickets = [one];
      members.push({ ...one, tickets });
      if (uuid !== undefined) paired.set(uuid, tickets);
    }
  }
  return members;
}

/**
 * Returns true if the library that made a ticket waits for the earlier one, false if it ignores it.
 */
function waitsFor({ contender, record, party }: Queued, earlier: Contender): boolean {
  const { claim, family } = contender;
  if (record) return blocks(claim, earlier);
  switch (family) {
    case "curator":
      if (claim !== "lock") return sharesSort(claim, earlier) && earlier.family === "curator";
      if (party.client === "go-zookeeper")
        return earlier.claim !== "lease" && earlier.claim !== "latch";
      return earlier.claim === "lock" && /lock--?\d+$/.test(earlier.name);
    case "kazoo":
      // kazoo's WriteLock waits for readers and its Lock does not, but both have the same ticket
      // name. If the queue has readers, the ticket is taken for a WriteLock.
      return earlier.family === "kazoo" && (claim === "lock" || earlier.claim === "lock");
    case "writelock":
      return endsInDash(earlier);
    case "textbook":
      return sharesSort(claim, earlier);
  }
}

/** The rule of zksh, except that locks and read/write locks ignore each other. */
function sharesSort(claim: Claim, earlier: Contender): boolean {
  return blocks(claim, earlier) && (claim === "lock") === (earlier.claim === "lock");
}

/** In Curator the holder of the write lock may also take the read lock. */
function isOwnWriter(
  { contender, party }: Queued,
  { contender: earlier, sessions, someWait }: Sort,
): boolean {
  const isWriter = contender.claim === "read" && earlier.claim === "write";
  return isWriter && !someWait && sessions.size === 1 && sessions.has(party.session);
}

function endsInDash({ name }: Contender): boolean {
  return /--?\d{9,10}$/.test(name);
}

/** kazoo names a writer's ticket as that of a lock: beside its readers it is a writer. */
function modeOfMember({ contender }: Queued, hasKazooReaders: boolean): LockMode {
  const isLock = contender.claim === "lock" && contender.family === "kazoo";
  return isLock && hasKazooReaders ? "write" : modeOf(contender);
}
