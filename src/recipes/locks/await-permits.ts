/**
 * Which permits of a semaphore are good, and how the head of its queue waits until its own are.
 * semaphore.ts has the rule.
 */
import { AutoResetEvent } from "../../async/auto-reset-event.ts";
import { startTimer } from "../../async/timer.ts";
import { baseName } from "../../session/path.ts";
import type { Session, WatchListener } from "../../session/session.ts";
import type { LockListener } from "./events.ts";
import type { HeldLock } from "./held-lock.ts";
import type { RevokeRequest } from "./holder-record.ts";
import type { Attempt } from "./lock-recipe.ts";
import { bySequence, type Contender, parseContender, parseContenders } from "./queue/contender.ts";
import type { CreatedTicket } from "./queue/create-tickets.ts";
import { listTickets, type TicketListing } from "./queue/list-tickets.ts";
import { type OwnTicket, revoked } from "./queue/own-ticket.ts";
import { asHead, type PermitReport } from "./queue/permit-report.ts";
import { MAX_NAMED, newsOf } from "./queue/queue-report.ts";
import { isMissing, sessionLost, type Ticket, ticketGone } from "./queue/ticket.ts";
import { checkNumbers } from "./queue/ticket-numbers.ts";
import { refreshDelay } from "./queue/wait-turn.ts";

/** A semaphore, as its parts see it. */
export interface PermitPlace {
  readonly session: Session;
  readonly path: string;
  /** The path that permits are below. */
  readonly leases: string;
  /** The path that those who find none queue below. */
  readonly locks: string;
  readonly limit: number;
  readonly report: PermitReport;
  readonly tell: LockListener;
}

/** The permits that were just made, and who queues. */
export interface Leased extends CreatedTicket {
  readonly queue: readonly Contender[];
}

/** Throws where the numbers cannot be relied on, or a lease of ours is gone. */
export function areGood(
  { session, path, leases, limit }: PermitPlace,
  ticket: Ticket,
  listing: TicketListing,
): boolean {
  if (isMissing(ticket, listing)) throw ticketGone(path, session);
  checkNumbers(ticket, parseContenders(listing.children), leases);
  const own = new Set(ticket.nodes.map(baseName));
  const [last] = ticket.contenders.slice(-1);
  const isAhead = (name: string) => {
    if (own.has(name)) return false;
    const other = parseContender(name);
    // Something without a number counts for Curator too.
    return other === undefined || last === undefined || bySequence(other, last) < 0;
  };
  return listing.children.filter(isAhead).length + own.size <= limit;
}

/** The listing by which the leases are good. */
export async function awaitPermits(
  semaphore: PermitPlace,
  leased: Leased,
  own: OwnTicket,
  turn: HeldLock,
  attempt: Attempt,
): Promise<TicketListing> {
  const { session, path, leases, locks } = semaphore;
  const { ticket } = leased;
  const { signal, refreshMs } = attempt;
  let { listing, queue } = leased;
  let told = "";
  const changed = new AutoResetEvent();
  const wakeUp = () => changed.set();
  let request: RevokeRequest | undefined;
  let isWatching = false;
  const watch: WatchListener = () => {
    isWatching = false;
    wakeUp();
  };
  const stopOwn = own.onChange(wakeUp);
  turn.signal.addEventListener("abort", wakeUp);
  const stopTurn = turn.onRevoke((asked) => {
    request = asked;
    wakeUp();
  });
  try {
    while (!areGood(semaphore, ticket, listing)) {
      if (!isWatching) {
        isWatching = true;
        listing = await listTickets(session, leases, { watch, signal });
        continue;
      }
      told = await tellWaiting(semaphore, { ticket, listing, queue }, told, attempt);
      const stopTimer = refreshMs && startTimer(refreshDelay(refreshMs, queue.length), wakeUp);
      await changed.wait(signal).finally(stopTimer || undefined);
      if (session.state === "lost") throw sessionLost();
      own.throwIfGone();
      if (request) throw revoked(path, request);
      if (turn.signal.aborted) throw ticketGone(path, session);
      if (refreshMs)
        queue = parseContenders((await listTickets(session, locks, { signal })).children);
    }
    return listing;
  } finally {
    stopOwn();
    stopTurn();
    turn.signal.removeEventListener("abort", wakeUp);
    if (isWatching && session.state !== "lost") session.removeWatch(leases, watch).catch(() => {});
  }
}

/** As the head of the queue. Tells only news, and returns what it was. */
async function tellWaiting(
  { path, report, tell }: PermitPlace,
  { ticket, listing, queue }: Leased,
  told: string,
  { signal, refreshMs }: Attempt,
): Promise<string> {
  const named = refreshMs === undefined ? 1 : MAX_NAMED;
  const held = await report.describe(listing.children, {
    ownUuid: ticket.uuid,
    named,
    signal,
  });
  const waiting = asHead(path, ticket.nodes[0], queue.length, held);
  const news = newsOf(waiting);
  if (news !== told) tell(waiting);
  return news;
}
