/**
 * What one client knows of the queue below a lock's path, and the rule that grants the lock: it
 * decides who holds it.
 *
 * A ticket's listing is at least as new as the ticket, and numbers only grow: no ticket can come in
 * below it later. If no contender below it in the listing blocks it, it is first.
 *
 * All tickets of one queue object share what is known: the newest listing, less the tickets that
 * were seen to go. docs/adr/0007-ticket-numbers.md has the proof that this is enough.
 */
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
import { listTickets, type TicketListing } from "./list-tickets.ts";
import { type OutsideHolders, QueueReport } from "./queue-report.ts";
import { isMissing, type Ticket, ticketGone } from "./ticket.ts";
import { checkNumbers } from "./ticket-numbers.ts";

export interface TicketQueueOptions {
  readonly session: Session;
  readonly path: string;
  readonly mode: LockMode;
  readonly onEvent: LockListener;
  /**
   * The holders, where the first of this queue is not one: those who have a semaphore's permits.
   */
  readonly outside?: ((signal: AbortSignal | undefined) => Promise<OutsideHolders>) | undefined;
}

export class TicketQueue {
  readonly session: Session;
  readonly path: string;
  readonly #options: TicketQueueOptions;
  #newest: TicketListing | undefined;
  #present: Contender[] = [];
  #canChangeOrder = false;
  #toldIncompatible = "";

  constructor(options: TicketQueueOptions) {
    this.session = options.session;
    this.path = options.path;
    this.#options = options;
  }

  /** First come first: the newest listing, less the tickets that were seen to go. */
  get present(): readonly Contender[] {
    return this.#present;
  }

  /**
   * A ticket with a lower number than ours can still appear: a writer that becomes a reader gives
   * its new ticket the number of the old one.
   */
  get canChangeOrder(): boolean {
    return this.#canChangeOrder;
  }

  /**
   * Takes in a listing that was requested after the ticket was created. Throws LockError where the
   * numbers cannot be trusted or the ticket is gone.
   */
  note(listing: TicketListing, ticket: Ticket): void {
    const { session, path, onEvent } = this.#options;
    if (isMissing(ticket, listing)) throw ticketGone(path, session);
    const isNoted = listing === this.#newest;
    const present = isNoted
      ? this.#present
      : parseContenders(listing.children, this.#known(ticket));
    checkNumbers(ticket, present, path);
    // A listing that was requested earlier can be taken in later: it lacks newer tickets.
    if (isNoted || listing.asOf < (this.#newest?.asOf ?? -1n)) return;
    this.#newest = listing;
    this.#present = present;
    this.#canChangeOrder = present.some(isReadWrite);
    const sorts = incompatibleKinds(present, listing.children);
    if (sorts.length > 0 && sorts.join() !== this.#toldIncompatible) {
      this.#toldIncompatible = sorts.join();
      onEvent({ event: "strangers", path, sorts });
    }
  }

  /** Lists the queue anew. Throws as {@link note}. */
  async refresh(ticket: Ticket, signal: AbortSignal | undefined): Promise<void> {
    this.note(await listTickets(this.session, this.path, { signal }), ticket);
  }

  /** The ticket is first: no contender keeps it waiting. */
  isFirst(ticket: Ticket): boolean {
    return this.nearestBlocker(ticket) === undefined;
  }

  /** The last of those that came before the ticket and keep it waiting. */
  nearestBlocker({ contenders: [own], uuid }: Ticket): Contender | undefined {
    return this.#present.findLast(
      (other) => bySequence(other, own) < 0 && other.uuid !== uuid && blocks(own.claim, other),
    );
  }

  /** A contender was seen to be gone. */
  forget(gone: Contender): void {
    const index = this.#present.findIndex(({ name }) => name === gone.name);
    if (index >= 0) this.#present.splice(index, 1);
  }

  /** The first holder; undefined when the ticket does not say who it is. */
  async holder(ticket: Ticket, signal: AbortSignal | undefined): Promise<Party | undefined> {
    return this.report(ticket, false).holder(this.#present, signal);
  }

  /** Tells listeners of the queue in front of a ticket. `isFollowed`: a person reads it. */
  report(ticket: Ticket, isFollowed: boolean): QueueReport {
    return new QueueReport({ ...this.#options, ticket, isFollowed });
  }

  /** By name, so that a long listing is not parsed again: nearly all were there before. */
  #known({ contenders }: Ticket): ReadonlyMap<string, Contender> {
    return new Map(
      [...this.#present, ...contenders].map((contender) => [contender.name, contender]),
    );
  }
}
