/**
 * The queue below a lock's path, as one client sees it.
 *
 * The grant rule: the listing is at least as new as our ticket and numbers only grow, so nobody can
 * come in below us later. If nobody who blocks us is below us in it, we are first. Otherwise only
 * the nearest one below is watched: one release wakes one waiter.
 *
 * All tickets of one queue object share what is known: the newest listing, less those seen to go.
 * Where nobody can slip in below (not beside read/write tickets: a writer that becomes a reader
 * gives its late ticket the number of the first), the event that the last one below has gone is the
 * grant itself, without a question to the server.
 *
 * Every znode that is made below a path takes a number. So where a ticket has got the next one
 * after all that are known, nobody has come in between: all who may be in front of it are known,
 * and no listing is needed. A path that was deleted and made again counts anew; its czxid, asked
 * for behind the ticket, tells. That question too is left out while all is calm: when the ticket is
 * the very next thing that happened on the servers after our last one was deleted from the path, as
 * the zxids tell.
 */

import { AutoResetEvent } from "../../../async/auto-reset-event.ts";
import { joinPath } from "../../../session/path.ts";
import type { Session, Stat } from "../../../session/session.ts";
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
import { type Foresight, list } from "./create-tickets.ts";
import { NodeWatch } from "./node-watch.ts";
import type { OwnTicket } from "./own-ticket.ts";
import { type OutsideHolders, QueueReport } from "./queue-report.ts";
import {
  checkSequence,
  isMissing,
  isNearLast,
  type Ticket,
  type TicketListing,
  ticketGone,
} from "./ticket.ts";

/**
 * After so many tickets in a row with nothing else between, the next one is expected to be one of
 * them. If not, it costs a question.
 */
const CALM = 8;

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
  /** First come first: the newest listing, less those seen to go. */
  #present: Contender[] = [];
  #asOf = -1n;
  /** Nobody of the newest listing can put another ticket in the place of its own. */
  #isSettled = false;
  #toldStrangers = "";
  /** The number after all that are known, and the path's czxid. */
  #nextNumber = -1;
  #czxid: bigint | undefined;
  /** The newest ticket has got it, or there was none yet that could. */
  #isQuiet = true;
  #isUsed = false;
  /** When a ticket of ours was last deleted from the path: it was the same path until then. */
  #leftAt = -1n;
  /** How many tickets in a row have followed directly. */
  #calm = 0;

  constructor(options: TicketQueueOptions) {
    this.#options = options;
  }

  /**
   * Called right before a ticket is made. Where it will probably get the next number, gives what
   * says whether it did: then everybody who may be in front of it is known, and it is taken in as
   * by {@link note}.
   */
  foresight({ mayWait }: { mayWait: boolean }): Foresight | undefined {
    const isKnown = this.#isUsed && this.#isQuiet;
    this.#isUsed = true;
    if (!isKnown) return undefined;
    const knows = (ticket: Ticket, path: Stat | undefined) => {
      // Whoever does not wait must not be sent away because of somebody who has gone meanwhile.
      const isEnough = () => this.#foresees(ticket, path) && (mayWait || this.isFirst(ticket));
      if (this.#isForeseen(ticket, path)) return isEnough();
      // Answers that came together are taken in one after the other: the one that it follows may
      // not be yet.
      return new Promise<boolean>((resolve) => setImmediate(() => resolve(isEnough())));
    };
    return { looks: this.#calm < CALM, knows };
  }

  /**
   * Takes in a listing. Throws LockError where the numbers cannot be relied on, or the ticket is
   * gone.
   */
  note(listing: TicketListing, ticket: Ticket): void {
    const { session, path, onEvent } = this.#options;
    if (isMissing(ticket, listing)) throw ticketGone(path, session);
    const isAlone = listing.children.length === ticket.nodes.length;
    const present = isAlone
      ? [...ticket.contenders]
      : parseContenders(listing.children, this.#known(ticket));
    checkSequence(ticket, present, path);
    // A listing that was asked for earlier may be taken in later, and would hide who came between.
    if (listing.asOf < this.#asOf) return;
    this.#isQuiet ||= this.#isNext(ticket) && listing.czxid === this.#czxid;
    this.#asOf = listing.asOf;
    this.#present = present;
    this.#czxid = listing.czxid;
    this.#nextNumber = listing.nextNumber;
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

  /** A znode of the ticket was deleted, as this very transaction. */
  gone({ token }: Ticket, zxid: bigint): void {
    // A ticket that was not foreseen, or never taken in, may have been on another path than the one
    // that is known.
    if (this.#isQuiet && token <= this.#asOf && zxid > this.#leftAt) this.#leftAt = zxid;
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
    this.note(await list(session, path, { signal }), ticket);
  }

  #foresees(ticket: Ticket, path: Stat | undefined): boolean {
    this.#isQuiet = this.#isForeseen(ticket, path);
    this.#calm = this.#isDirect(ticket) ? this.#calm + 1 : 0;
    if (this.#isQuiet) this.#admit(ticket);
    return this.#isQuiet;
  }

  #isForeseen(ticket: Ticket, path: Stat | undefined): boolean {
    return this.#isNext(ticket) && (this.#isDirect(ticket) || path?.czxid === this.#czxid);
  }

  #isDirect({ token }: Ticket): boolean {
    return token === this.#leftAt + 1n;
  }

  #isNext({ contenders }: Ticket): boolean {
    return contenders.every(
      (own, index) => own.sequence === this.#nextNumber + index && !isNearLast(own),
    );
  }

  #admit({ contenders, token }: Ticket): void {
    for (const contender of contenders) this.#present.push(contender);
    this.#nextNumber += contenders.length;
    // A listing from before would not have it.
    this.#asOf = token;
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
