/**
 * What one waiter tells of the queue it is in: its place, who holds, who is in front, and who has
 * left.
 *
 * A waiter without a reader (`isFollowed` is false) reads one holder for its error message and
 * nothing else. Where a person looks, the parties in front are read too, each once; a holder again
 * until its record says since when it holds.
 */
import { NoNodeError, PermissionError } from "../../../errors.ts";
import { joinPath } from "../../../session/path.ts";
import type { Data, Session } from "../../../session/session.ts";
import type { Contending, LockListener, Permits, Waiting } from "../events.ts";
import { describeParty, type LockMode } from "../holder-record.ts";
import type { Contender } from "./contender.ts";
import { modeOf, type QueuePosition, queuePosition } from "./queue-position.ts";
import { untilAnswered } from "./retry-unanswered.ts";
import type { Ticket } from "./ticket.ts";

/** Named one by one; the others are counted. */
export const MAX_NAMED = 3;

/**
 * Who holds what a queue is for, where that is not the first of the queue: the permits of a
 * semaphore.
 */
export interface OutsideHolders {
  readonly holders: readonly Contending[];
  readonly holderCount: number;
  readonly permits: Permits;
}

export interface QueueReportOptions {
  readonly session: Session;
  readonly path: string;
  readonly mode: LockMode;
  readonly onEvent: LockListener;
  readonly ticket: Ticket;
  /** The queue is shown to a person. */
  readonly isFollowed: boolean;
  readonly outside?: ((signal: AbortSignal | undefined) => Promise<OutsideHolders>) | undefined;
}

export class QueueReport {
  readonly #options: QueueReportOptions;
  /** By the names of their tickets. */
  readonly #parties = new Map<string, Contending>();
  /** When a contender that was seen waiting was first seen to hold. */
  readonly #heldSince = new Map<string, number>();
  readonly #seenWaiting = new Set<string>();
  /** In front of us when it was last told, in order. */
  #inFront: readonly Contender[] = [];
  #holders: ReadonlySet<string> = new Set();
  #watched: string | undefined;
  #told = "";

  constructor(options: QueueReportOptions) {
    this.#options = options;
  }

  /** Tells who of those in front has left. */
  left(present: readonly Contender[]): void {
    if (this.#inFront.length === 0) return;
    const names = new Set(present.map(({ name }) => name));
    const gone = this.#inFront.filter(({ name }) => !names.has(name));
    this.#inFront = this.#inFront.filter(({ name }) => names.has(name));
    for (const { name } of gone) this.#tellGone(name);
  }

  /** Tells where the ticket stands, if that is news. `watched` and what its znode has said. */
  async tell(
    present: readonly Contender[],
    watched: Contender,
    data: Data | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { path, mode, ticket, outside, isFollowed, onEvent } = this.#options;
    const place = this.#place(present);
    if (data) this.#keep(watched, data);
    this.#observe(place);
    // What the watched znode says is up to date: its watch tells of changes.
    const isStale = (party: Contending) => isUnsettled(party) && nameOf(party) !== watched.name;
    const held =
      outside && isFollowed
        ? await outside(signal)
        : await this.#readHolders(place, isStale, signal);
    const waiters = isFollowed
      ? await this.#readAll(place.waiters.slice(0, MAX_NAMED), signal)
      : [];
    const aheadBy =
      this.#parties.get(watched.name) ??
      (isFollowed ? await this.#read(watched, signal) : undefined);
    this.#inFront = isFollowed ? inFrontOf(present, place, watched) : [watched];
    this.#holders = new Set(place.holders.map(({ name }) => name));
    this.#watched = watched.name;
    const [holder] = held.holders;
    const waiting: Waiting = {
      event: "waiting",
      path,
      node: ticket.nodes[0],
      mode,
      position: place.waiters.length + 1,
      of: place.of,
      inFront: place.inFront,
      ahead: watched.name,
      ...(aheadBy && { aheadBy }),
      watches: "ticket",
      ...(holder && { holder }),
      ...held,
      waiters,
      waiterCount: place.waiters.length,
    };
    const news = newsOf(waiting);
    if (news === this.#told) return;
    this.#told = news;
    onEvent(waiting);
  }

  /** The first who holds; undefined when it cannot be told. */
  async holder(
    present: readonly Contender[],
    signal: AbortSignal | undefined,
  ): Promise<Contending | undefined> {
    const [first] = this.#place(present).holders;
    return first && this.#read(first, signal);
  }

  #place(present: readonly Contender[]): QueuePosition {
    const place = queuePosition(present, this.#options.ticket);
    if (!this.#options.outside) return place;
    // The first in this queue waits for a permit as the others do.
    const first = place.holders.filter(({ uuid }) => uuid !== this.#options.ticket.uuid);
    return {
      ...place,
      holders: [],
      waiters: [...first, ...place.waiters],
      of: place.of + place.holders.length,
    };
  }

  /**
   * A holder that does not say since when it holds, and was seen waiting before, holds since now.
   */
  #observe({ holders, waiters }: QueuePosition): void {
    for (const { name } of waiters) this.#seenWaiting.add(name);
    for (const { name } of holders) {
      if (this.#seenWaiting.delete(name)) this.#heldSince.set(name, Date.now());
    }
  }

  async #readHolders(
    { holders }: QueuePosition,
    isStale: (party: Contending) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<Pick<Waiting, "holders" | "holderCount">> {
    const { isFollowed } = this.#options;
    const read = await this.#readAll(holders.slice(0, isFollowed ? MAX_NAMED : 1), signal, isStale);
    return { holders: read.map((holder) => this.#since(holder)), holderCount: holders.length };
  }

  #since(holder: Contending): Contending {
    const since = this.#heldSince.get(nameOf(holder));
    return holder.acquiredAt === undefined && since !== undefined
      ? { ...holder, acquiredAt: since }
      : holder;
  }

  async #readAll(
    contenders: readonly Contender[],
    signal: AbortSignal | undefined,
    isStale: (party: Contending) => boolean = () => false,
  ): Promise<Contending[]> {
    const reading = contenders.map((contender) => {
      const known = this.#parties.get(contender.name);
      return known && !isStale(known) ? known : this.#read(contender, signal);
    });
    return (await Promise.all(reading)).filter((party) => party !== undefined);
  }

  async #read(
    contender: Contender,
    signal: AbortSignal | undefined,
  ): Promise<Contending | undefined> {
    const { session, path } = this.#options;
    try {
      const options = signal ? { signal } : {};
      return this.#keep(
        contender,
        await untilAnswered(() => session.getData(joinPath(path, contender.name), options)),
      );
    } catch (error) {
      if (error instanceof NoNodeError || error instanceof PermissionError) return undefined;
      throw error;
    }
  }

  #keep(contender: Contender, data: Data): Contending {
    const { path, outside, mode } = this.#options;
    const party = describeParty(joinPath(path, contender.name), contender, data);
    const kept = { ...party, mode: outside ? mode : modeOf(contender) };
    this.#parties.set(contender.name, kept);
    return kept;
  }

  #tellGone(name: string): void {
    const { path, onEvent } = this.#options;
    const known = this.#parties.get(name);
    const aheadBy = known && this.#since(known);
    const since = this.#holders.has(name) ? aheadBy?.acquiredAt : undefined;
    onEvent({
      event: name === this.#watched ? "predecessor-gone" : "contender-gone",
      path,
      ahead: name,
      ...(aheadBy && { aheadBy }),
      ...(since !== undefined && { heldMs: Math.max(0, Date.now() - since) }),
    });
  }
}

function inFrontOf(
  present: readonly Contender[],
  { holders, waiters }: QueuePosition,
  watched: Contender,
): readonly Contender[] {
  const names = new Set([...holders, ...waiters, watched].map(({ name }) => name));
  return present.filter(({ name }) => names.has(name));
}

/** Our holders write down since when they hold after a second; others never do. */
function isUnsettled({ client, acquiredAt }: Contending): boolean {
  return acquiredAt === undefined && client.startsWith("zksh");
}

function nameOf({ node }: Contending): string {
  return node.slice(node.lastIndexOf("/") + 1);
}

/** A new report is made only if one of these has changed. */
export function newsOf({
  position,
  of,
  inFront,
  ahead,
  holders,
  holderCount,
  permits,
  aheadBy,
}: Waiting): string {
  const held = holders.map(({ node, acquiredAt }) => [node, acquiredAt]);
  return JSON.stringify([position, of, inFront, ahead, aheadBy?.node, held, holderCount, permits]);
}
