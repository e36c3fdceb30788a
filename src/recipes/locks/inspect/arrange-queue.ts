/**
 * Who of a queue holds and who waits: judged by what each library looks at, which is less than what
 * we would wait for.
 */

import type { HolderRecord, LockMode, Party, RevokeRequest } from "../holder-record.ts";
import { blocks, bySequence, type Claim, type Contender } from "../queue/contender.ts";

/** Somebody in a queue, with the place it has there. */
export interface QueueMember extends Party {
  readonly mode: LockMode;
  /**
   * All its tickets, the first being {@link Party.node}: a client may queue for two families at
   * once.
   */
  readonly nodes: readonly string[];
  /** How many permits of a semaphore it has, or wants, where that is more than one. */
  readonly permits?: number;
  readonly revoke?: RevokeRequest;
  /** Its ticket has our record: it watches the ticket, and gives way when it is asked. */
  readonly isOurs: boolean;
  /**
   * The nearest ticket that it waits for; undefined for holders, and where a permit is waited for.
   */
  readonly behind?: string;
  /** The tokens of the locks that programs around it hold. */
  readonly within?: readonly string[];
}

/** Somebody in a queue, before it is known who holds. */
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

/** Tickets of one sort, for which the same ones wait. */
interface Sort {
  readonly contender: Contender;
  readonly sessions: Set<bigint>;
  someWait: boolean;
  /** The latest so far. */
  last: Queued;
}

/** `queued` in the order of their numbers. */
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
    const placed = toQueueMember(member, modeOf(member.contender, hasKazooReaders));
    if (nearest) waiters.push({ ...placed, behind: nearest.party.node });
    else holders.push(placed);
    for (const ticket of member.tickets) {
      const { contender, party } = ticket;
      // A queue of thousands has but a few sorts of tickets.
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

/** The two tickets of one client are one member, in the place of the first. */
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

/** Whether the library that made a ticket waits for an earlier one, or overlooks it. */
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
      // Its WriteLock waits for readers, its Lock does not, and both have the same name; where
      // there are readers it is the former.
      return earlier.family === "kazoo" && (claim === "lock" || earlier.claim === "lock");
    case "writelock":
      return endsInDash(earlier);
    case "textbook":
      return sharesSort(claim, earlier);
  }
}

/** As we, but without an eye for locks among read/write locks, and the other way round. */
function sharesSort(claim: Claim, earlier: Contender): boolean {
  return blocks(claim, earlier) && (claim === "lock") === (earlier.claim === "lock");
}

/** Curator lets the holder of the write lock read. */
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

const MODES: Readonly<Record<Claim, LockMode>> = {
  lock: "exclusive",
  read: "read",
  write: "write",
  lease: "semaphore",
  latch: "leader",
};

function modeOf({ claim, family }: Contender, hasKazooReaders: boolean): LockMode {
  return claim === "lock" && family === "kazoo" && hasKazooReaders ? "write" : MODES[claim];
}
