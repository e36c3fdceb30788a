/**
 * The queue below a lock's path, as one client sees it.
 *
 * The grant rule: the listing is at least as new as our ticket and numbers only grow, so no ticket
 * can come in below ours later. If no contender that blocks us is below us in it, we are first.
 * Otherwise only the nearest one below is watched: one release wakes one waiter.
 *
 * All tickets of one queue object share what is known: the newest listing, less those seen to go.
 * Where no ticket can take an earlier number (not beside read/write tickets: a writer that becomes a
 * reader gives its late ticket the number of the first), the event that the last one below has gone
 * is the grant itself, without another listing. The proof is in docs/adr/0007-ticket-numbers.md.
 */

import { AutoResetEvent } from "../../../async/auto-reset-event.ts";
import { joinPath } from "../../../session/path.ts";
import type { Session } from "../../../session/session.ts";
import type { LockListener } from "../events.ts";
import type { LockMode, Party } from "../holder-record.ts";
import {
  blocks,
  bySequence,
  type Contender,
  incompatibleKinds,
  isReadWrite,
  parseContenders,
} from "./contender.ts";
import { listTickets, SharedListing, type TicketListing } from "./list-tickets.ts";
import { NodeWatch } from "./node-watch.ts";
import type { OwnTicket } from "./own-ticket.ts";
import { type OutsideHolders, QueueReport } from "./queue-report.ts";
import { checkSequence, isMissing, type Ticket, ticketGone } from "./ticket.ts";

export interface TicketQueueOptions {
  readonly session: Session;
  readonly path: string;
  readonly mode: LockMode;
  readonly onEvent: LockListener;
  /** Who holds, where the first of this queue does not. */
  readonly outside?: ((signal: AbortSignal | undefined) => Promise<OutsideHolders>) | undefined;
}

export interface WaitOptions {
  readonly signal: AbortSignal | undefined;
  /** Told of the end of our own ticket while we wait. */
  readonly own: OwnTicket;
  /**
   * What is shown of the queue may be this old, see {@link refreshDelay}. Left out: no listing is
   * made to show it.
   */
  readonly refreshMs: number | undefined;
}

export class TicketQueue {
  readonly #options: TicketQueueOptions;
  readonly #shared: SharedListing;
  #listing: TicketListing | undefined;
  /** First come first: the newest listing, less those seen to go. */
  #present: Contender[] = [];
  /** No client of the newest listing can put another ticket in the place of its own. */
  #isSettled = false;
  #toldStrangers = "";

  constructor(options: TicketQueueOptions) {
    this.#options = options;
    this.#shared = new SharedListing(options.session, options.path);
  }

  /** A listing that has every ticket created in this turn; one request for all of them. */
  listed(signal: AbortSignal | undefined): Promise<TicketListing> {
    return this.#shared.next(signal);
  }

  /**
   * Takes in a listing. Throws LockError where the numbers cannot be relied on, or the ticket is
   * gone.
   */
  note(listing: TicketListing, ticket: Ticket): void {
    const { session, path, onEvent } = this.#options;
    if (isMissing(ticket, listing)) throw ticketGone(path, session);
    const isKnown = listing === this.#listing;
    const present = isKnown
      ? this.#present
      : parseContenders(listing.children, this.#known(ticket));
    checkSequence(ticket, present, path);
    // A listing that was requested earlier may be taken in later, and would hide tickets that were
    // created in between.
    if (isKnown || listing.asOf < (this.#listing?.asOf ?? -1n)) return;
    this.#listing = listing;
    this.#present = present;
    this.#isSettled = !present.some(isReadWrite);
    const sorts = incompatibleKinds(present, listing.children);
    if (sorts.length > 0 && sorts.join() !== this.#toldStrangers) {
      this.#toldStrangers = sorts.join();
      onEvent({ event: "strangers", path, sorts });
    }
  }

  /** The ticket is being given back. */
  left({ contenders }: Ticket): void {
    for (const contender of contenders) this.#forget(contender);
  }

  /** Nobody is to be waited for. */
  isFirst(ticket: Ticket): boolean {
    return this.#nearestBelow(ticket) === undefined;
  }

  /** The first who holds what `ticket` waits for; undefined when it cannot be told. */
  async holder(ticket: Ticket, signal?: AbortSignal | undefined): Promise<Party | undefined> {
    return this.#report(ticket, false).holder(this.#present, signal);
  }

  /** Resolves when the ticket is first. Leaves no watch behind, however it ends. */
  async untilFirst(ticket: Ticket, options: WaitOptions): Promise<void> {
    const { session } = this.#options;
    const { signal, own, refreshMs } = options;
    const isFollowed = refreshMs !== undefined;
    const bell = new AutoResetEvent();
    const watch = new NodeWatch(session, bell);
    const report = this.#report(ticket, isFollowed);
    const stopOwn = own.onChange(() => bell.ring());
    try {
      for (;;) {
        report.left(this.#present);
        const below = this.#nearestBelow(ticket);
        if (below === undefined) return;
        if (!(await watch.set(this.#pathOf(below), signal))) {
          await this.#list(ticket, signal);
          continue;
        }
        await report.tell(this.#present, below, watch.data, signal);
        await watch.heard(signal, refreshMs && refreshDelay(refreshMs, this.#present.length));
        own.throwIfGone();
        if (watch.isGone) {
          this.#forget(below);
          const isOver = this.#isSettled && this.isFirst(ticket);
          // Where the queue is listed first, those who left before it are told before it.
          if (isOver || !isFollowed) report.left(this.#present);
          if (isOver) return;
        }
        // A predecessor that writes to its ticket may just have got the lock: then others have
        // left.
        if (watch.isGone || !watch.hasChanged || isFollowed) await this.#list(ticket, signal);
      }
    } finally {
      stopOwn();
      watch.leave();
    }
  }

  #report(ticket: Ticket, isFollowed: boolean): QueueReport {
    return new QueueReport({ ...this.#options, ticket, isFollowed });
  }

  async #list(ticket: Ticket, signal: AbortSignal | undefined): Promise<void> {
    const { session, path } = this.#options;
    this.note(await listTickets(session, path, { signal }), ticket);
  }

  /** By name: in a long queue nearly all were there before. */
  #known({ contenders }: Ticket): ReadonlyMap<string, Contender> {
    return new Map(
      [...this.#present, ...contenders].map((contender) => [contender.name, contender]),
    );
  }

  #nearestBelow(ticket: Ticket): Contender | undefined {
    return this.#present.findLast((other) => isAhead(other, ticket));
  }

  #forget(gone: Contender): void {
    const index = this.#present.findIndex(({ name }) => name === gone.name);
    if (index >= 0) this.#present.splice(index, 1);
  }

  #pathOf({ name }: Contender): string {
    return joinPath(this.#options.path, name);
  }
}

/** Came before, and keeps the ticket waiting. */
function isAhead(other: Contender, { contenders: [own], uuid }: Ticket): boolean {
  return bySequence(other, own) < 0 && other.uuid !== uuid && blocks(own.claim, other);
}

/** Of contenders; up to here a queue is looked at as often as was asked for. */
const SHORT_QUEUE = 20;

/**
 * How long until the next look at a queue that is shown to a person. What is shown is at most
 * `maxAgeMs` old, in queues of more than 20 a tenth of a second per contender: n terminals then
 * list fewer than 17 times a second together, whatever n is. The delay is 0.6 to 0.9 of that, at
 * random, so that terminals do not look at the same moment.
 */
export function refreshDelay(maxAgeMs: number, contenders: number, random = Math.random()): number {
  const ageMs = contenders > SHORT_QUEUE ? Math.max(maxAgeMs, contenders * 100) : maxAgeMs;
  return ageMs * (0.6 + 0.3 * random);
}
