import type { BackgroundCleanup } from "../background-cleanup.ts";
import type { LockListener } from "../events.ts";
import { HeldLock } from "../held-lock.ts";
import type { LockMode } from "../holder-record.ts";
import { type Attempt, busy } from "../lock-recipe.ts";
import { awaitLease, hasLease } from "./await-lease.ts";
import type { CreatedTicket } from "./create-tickets.ts";
import { OwnTicket } from "./own-ticket.ts";
import { removeZnodes } from "./remove-znodes.ts";
import type { Ticket } from "./ticket.ts";
import type { TicketQueue } from "./ticket-queue.ts";
import { waitTurn } from "./wait-turn.ts";

export interface QueueEntryOptions {
  readonly mode: LockMode;
  readonly queue: TicketQueue;
  readonly cleanup: BackgroundCleanup;
  readonly onEvent: LockListener;
  /** Since when it is held is written into the ticket; not where the data is the caller's own. */
  readonly isStamped: boolean;
}

/**
 * One ticket's way through the queue: decide, wait, hold, release. It ends with the lock, or with
 * `leave()`; where a method throws, the ticket has been given back.
 */
export class QueueEntry {
  readonly #options: QueueEntryOptions;
  readonly #ticket: Ticket;
  readonly #own: OwnTicket;
  readonly #attempt: Attempt;
  #hasWaited = false;

  constructor(options: QueueEntryOptions, { ticket, listing }: CreatedTicket, attempt: Attempt) {
    const { mode, queue, onEvent } = options;
    this.#options = options;
    this.#ticket = ticket;
    this.#attempt = attempt;
    this.#own = new OwnTicket(queue.session, queue.path, ticket);
    try {
      onEvent({ event: "queued", path: queue.path, node: ticket.nodes[0], mode });
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
    this.#forget();
    const { queue, cleanup } = this.#options;
    cleanup.add(removeZnodes(queue.session, this.#ticket.nodes));
  }

  /** The lock, where the ticket is first and the lease fresh; undefined where it has to wait. */
  tryHold(): HeldLock | undefined {
    if (!this.isFirst || !hasLease(this.#options.queue.session)) return undefined;
    try {
      return this.#hold();
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  /** Waits until the ticket is first and the lease fresh. */
  async hold(): Promise<HeldLock> {
    const { queue } = this.#options;
    const { signal, mayWait, refreshMs } = this.#attempt;
    try {
      if (!this.isFirst) {
        if (!mayWait) throw busy(queue.path, await queue.holder(this.#ticket, signal));
        this.#hasWaited = true;
        this.#own.watch();
        await waitTurn(queue, this.#ticket, { signal, own: this.#own, refreshMs });
        this.#own.throwIfGone();
      }
      await awaitLease(queue.session, queue.path, this.#ticket, { signal });
      return this.#hold();
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  #hold(): HeldLock {
    const { mode, onEvent, isStamped, queue } = this.#options;
    const { session, path } = queue;
    const [ticket, own, { data, begun }] = [this.#ticket, this.#own, this.#attempt];
    const waitedMs = performance.now() - begun;
    onEvent({
      event: "acquired",
      path,
      node: ticket.nodes[0],
      token: ticket.token,
      waitedMs,
      mode,
      hasWaited: this.#hasWaited,
    });
    const acquiredAt = Date.now();
    const stamp = isStamped
      ? () => data({ acquired: new Date(acquiredAt).toISOString() })
      : undefined;
    return new HeldLock({
      session,
      path,
      mode,
      owned: ticket,
      own,
      waitedMs,
      onEvent,
      onRelease: () => this.#forget(),
      stamp,
    });
  }

  #forget(): void {
    for (const contender of this.#ticket.contenders) this.#options.queue.forget(contender);
  }
}
