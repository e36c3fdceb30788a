/**
 * The queue below a lock's path, as one client sees it.
 *
 * The grant rule: the listing is at least as new as our ticket and numbers only grow, so nobody can come in below us
 * later. If nobody who blocks us is below us in it, we are first. Otherwise only the nearest one below is watched: one
 * release wakes one waiter.
 *
 * All tickets of one queue object share what is known: the newest listing, less those seen to go. Where nobody can slip
 * in below (not beside read/write tickets: a writer that becomes a reader gives its late ticket the number of the first),
 * the event that the last one below has gone is the grant itself, without a question to the server.
 *
 * Every znode that is made below a path takes a number. So where a ticket has got the next one after all that are known, nobody
 * has come in between: all who may be in front of it are known, and no listing is needed. A path that was deleted and made
 * again counts anew; its czxid, asked for behind the ticket, tells. That question too is left out while all is calm: when the
 * ticket is the very next thing that happened on the servers after our last one was deleted from the path, as the zxids tell.
 */
import { NoNodeError, PermissionError } from "../../errors.ts";
import { joinPath } from "../../session/path.ts";
import type { Session, Stat } from "../../session/session.ts";
import { Bell } from "../bell.ts";
import { blocks, bySequence, type Contender, isReadWrite, parseContenders, strangers } from "./contender.ts";
import { type Foresight, list } from "./enter.ts";
import type { LockListener } from "./events.ts";
import { describeParty, type Party } from "./holder-record.ts";
import { NodeWatch } from "./node-watch.ts";
import type { OwnTicket } from "./own-ticket.ts";
import { checkSequence, isMissing, isNearLast, type Listing, type Ticket, ticketGone } from "./ticket.ts";
import { untilAnswered } from "./unanswered.ts";

/** After so many tickets in a row with nothing else between, the next one is expected to be one of them. If not, it costs a question. */
const CALM = 8;

export interface TicketQueueOptions {
  readonly session: Session;
  readonly path: string;
  readonly onEvent: LockListener;
}

export interface WaitOptions {
  readonly signal: AbortSignal | undefined;
  /** Told of the end of our own ticket while we wait. */
  readonly own: OwnTicket;
  /** Look at the queue this often, for whoever shows its length. Left out: only when something has happened. */
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
   * Called right before a ticket is made. Where it will probably get the next number, gives what says whether it did: then
   * everybody who may be in front of it is known, and it is taken in as by {@link note}.
   */
  foresight({ mayWait }: { mayWait: boolean }): Foresight | undefined {
    const isKnown = this.#isUsed && this.#isQuiet;
    this.#isUsed = true;
    if (!isKnown) return undefined;
    const knows = (ticket: Ticket, path: Stat | undefined) => {
      // Whoever does not wait must not be sent away because of somebody who has gone meanwhile.
      const isEnough = () => this.#foresees(ticket, path) && (mayWait || this.isFirst(ticket));
      if (this.#isForeseen(ticket, path)) return isEnough();
      // Answers that came together are taken in one after the other: the one that it follows may not be yet.
      return new Promise<boolean>((resolve) => setImmediate(() => resolve(isEnough())));
    };
    return { looks: this.#calm < CALM, knows };
  }

  /** Takes in a listing. Throws LockError where the numbers cannot be relied on, or the ticket is gone. */
  note(listing: Listing, ticket: Ticket): void {
    const { session, path, onEvent } = this.#options;
    if (isMissing(ticket, listing)) throw ticketGone(path, session);
    const isAlone = listing.children.length === ticket.nodes.length;
    const present = isAlone ? [...ticket.contenders] : parseContenders(listing.children, this.#known(ticket));
    checkSequence(ticket, present, path);
    // A listing that was asked for earlier may be taken in later, and would hide who came between.
    if (listing.asOf < this.#asOf) return;
    this.#isQuiet ||= this.#isNext(ticket) && listing.czxid === this.#czxid;
    this.#asOf = listing.asOf;
    this.#present = present;
    this.#czxid = listing.czxid;
    this.#nextNumber = listing.nextNumber;
    this.#isSettled = !present.some(isReadWrite);
    const sorts = strangers(present, listing.children);
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
    // A ticket that was not foreseen, or never taken in, may have been on another path than the one that is known.
    if (this.#isQuiet && token <= this.#asOf && zxid > this.#leftAt) this.#leftAt = zxid;
  }

  /** Nobody is to be waited for. */
  isFirst(ticket: Ticket): boolean {
    return this.#nearestBelow(ticket) === undefined;
  }

  /** Whoever holds what `ticket` waits for; undefined when it cannot be told. */
  async holder(ticket: Ticket, signal?: AbortSignal | undefined): Promise<Party | undefined> {
    const { claim } = ticket.contenders[0];
    const first = this.#present.find((other) => blocks(claim, other) && other.uuid !== ticket.uuid);
    return first && this.#read(first, signal);
  }

  /** Resolves when the ticket is first. Leaves no watch behind, however it ends. */
  async untilFirst(ticket: Ticket, options: WaitOptions): Promise<void> {
    const { session, path, onEvent } = this.#options;
    const { signal, own } = options;
    const bell = new Bell();
    const watch = new NodeWatch(session, bell);
    const stopOwn = own.onChange(() => bell.ring());
    let told = "";
    try {
      for (;;) {
        const below = this.#nearestBelow(ticket);
        if (below === undefined) return;
        if (!(await watch.set(this.#pathOf(below), signal))) {
          await this.#list(ticket, signal);
          continue;
        }
        told = await this.#tellWaiting(ticket, below, told, signal);
        await watch.heard(signal, options.refreshMs);
        own.throwIfGone();
        if (watch.isGone) {
          onEvent({ event: "predecessor-gone", path, ahead: below.name });
          this.#forget(below);
          if (this.#isSettled && this.isFirst(ticket)) return;
        }
        if (watch.isGone || !watch.hasChanged) await this.#list(ticket, signal);
      }
    } finally {
      stopOwn();
      watch.leave();
    }
  }

  async #tellWaiting(ticket: Ticket, below: Contender, told: string, signal: AbortSignal | undefined): Promise<string> {
    const { path, onEvent } = this.#options;
    const { claim } = ticket.contenders[0];
    const holder = await this.holder(ticket, signal);
    const position = clients(this.#present, (other) => isAhead(other, ticket));
    const all = clients(this.#present, (other) => other.claim === claim);
    const of = Math.max(all - 1, position);
    const news = JSON.stringify([position, of, holder?.node, holder?.acquiredAt, below.name]);
    if (news === told) return told;
    onEvent({
      event: "waiting",
      path,
      node: ticket.nodes[0],
      position,
      of,
      ahead: below.name,
      ...(holder && { holder }),
    });
    return news;
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
    return contenders.every((own, index) => own.sequence === this.#nextNumber + index && !isNearLast(own));
  }

  #admit({ contenders, token }: Ticket): void {
    this.#present.push(...contenders);
    this.#nextNumber += contenders.length;
    // A listing from before would not have it.
    this.#asOf = token;
  }

  /** By name: in a long queue nearly all were there before. */
  #known({ contenders }: Ticket): ReadonlyMap<string, Contender> {
    return new Map([...this.#present, ...contenders].map((contender) => [contender.name, contender]));
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

  async #read(contender: Contender, signal?: AbortSignal | undefined): Promise<Party | undefined> {
    const { session } = this.#options;
    const node = this.#pathOf(contender);
    try {
      const data = await untilAnswered(() => session.getData(node, signal ? { signal } : {}));
      return describeParty(node, contender, data);
    } catch (error) {
      if (error instanceof NoNodeError || error instanceof PermissionError) return undefined;
      throw error;
    }
  }
}

/** Came before, and keeps the ticket waiting. */
function isAhead(other: Contender, { contenders: [own], uuid }: Ticket): boolean {
  return bySequence(other, own) < 0 && other.uuid !== uuid && blocks(own.claim, other);
}

/** How many there are. One client's tickets have numbers in a row: they were made in one transaction. */
function clients(contenders: readonly Contender[], isMeant: (contender: Contender) => boolean): number {
  let count = 0;
  let last: string | undefined;
  for (const contender of contenders) {
    if (!isMeant(contender)) continue;
    const client = contender.uuid ?? contender.name;
    if (client !== last) count += 1;
    last = client;
  }
  return count;
}
