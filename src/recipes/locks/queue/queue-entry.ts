import type { Session } from "../../../session/session.ts";
import type { LockListener } from "../events.ts";
import { HeldLock } from "../held-lock.ts";
import type { LockMode } from "../holder-record.ts";
import { type Attempt, busy } from "../lock-recipe.ts";
import { awaitLease, hasLease } from "./await-lease.ts";
import type { CreatedTickets } from "./create-tickets.ts";
import { OwnTicket } from "./own-ticket.ts";
import { type BackgroundCleanup, type Removed, remove } from "./remove-znodes.ts";
import type { Ticket } from "./ticket.ts";
import type { TicketQueue } from "./ticket-queue.ts";

export interface QueueEntryOptions {
  readonly session: Session;
  readonly path: string;
  readonly mode: LockMode;
  readonly queue: TicketQueue;
  readonly chores: BackgroundCleanup;
  readonly onEvent: LockListener;
  /** Since when it is held is written into the ticket; not where the data is the caller's own. */
  readonly isStamped: boolean;
}

/**
 * One's place in a queue, from the ticket to the lock. Whoever makes one either gets `held()` or
 * must `leave()`.
 */
export class QueueEntry {
  readonly #options: QueueEntryOptions;
  readonly #ticket: Ticket;
  readonly #own: OwnTicket;
  readonly #attempt: Attempt;
  #hasWaited = false;

  /**
   * Takes in who was in the queue when the ticket was made. When it throws, the ticket is given
   * back.
   */
  constructor(options: QueueEntryOptions, { ticket, listing }: CreatedTickets, attempt: Attempt) {
    const { session, path, mode, queue, onEvent } = options;
    this.#options = options;
    this.#ticket = ticket;
    this.#attempt = attempt;
    this.#own = new OwnTicket(session, path, ticket);
    try {
      onEvent({ event: "queued", path, node: ticket.nodes[0], mode });
      queue.note(listing, ticket);
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  get isFirst(): boolean {
    return this.#options.queue.isFirst(this.#ticket);
  }

  /** Gives the ticket back, in the background. */
  leave(): void {
    this.#own.end();
    this.#options.chores.add(this.#giveBack());
  }

  /**
   * The lock, where it is our turn already and the lease is fresh. When it throws, the ticket is
   * given back.
   */
  heldAtOnce(): HeldLock | undefined {
    if (!this.isFirst || !hasLease(this.#options.session)) return undefined;
    try {
      return this.#hold();
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** Resolves when it is our turn. When it throws, the ticket is given back. */
  async held(): Promise<HeldLock> {
    const { path, queue } = this.#options;
    const { signal, mayWait, refreshMs } = this.#attempt;
    try {
      if (!this.isFirst) {
        if (!mayWait) throw busy(path, await queue.holder(this.#ticket, signal));
        this.#hasWaited = true;
        this.#own.watch();
        await queue.untilFirst(this.#ticket, { signal, own: this.#own, refreshMs });
        this.#own.throwIfGone();
      }
      await awaitLease(this.#options.session, path, this.#ticket, { signal });
      return this.#hold();
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  #hold(): HeldLock {
    const { session, path, mode, onEvent, isStamped } = this.#options;
    const [ticket, own, { data, begun }] = [this.#ticket, this.#own, this.#attempt];
    const waitedMs = performance.now() - begun;
    const hasWaited = this.#hasWaited;
    onEvent({
      event: "acquired",
      path,
      node: ticket.nodes[0],
      token: ticket.token,
      waitedMs,
      mode,
      hasWaited,
    });
    const acquiredAt = Date.now();
    const stamp = isStamped
      ? () => data({ acquired: new Date(acquiredAt).toISOString() })
      : undefined;
    const giveBack = () => this.#giveBack();
    return new HeldLock({
      session,
      path,
      mode,
      stake: ticket,
      own,
      waitedMs,
      onEvent,
      giveBack,
      stamp,
    });
  }

  #giveBack(): Promise<Removed> {
    const { session, queue } = this.#options;
    queue.left(this.#ticket);
    return remove(session, this.#ticket.nodes);
  }
}
