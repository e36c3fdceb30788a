/**
 * A number of permits, in the layout of Curator's InterProcessSemaphoreV2: a permit is a lease below `leases/`, and
 * whoever finds none free queues below `locks/`.
 *
 * A lease is good while its place by number is below the limit: places only get better, so that the holders are always
 * among the first. Curator counts all leases, good or not; only the head of the queue may therefore keep one that is not
 * good yet. Several permits are made in one transaction, and waited for by the head alone: two who want several cannot
 * each have half of them.
 */
import { randomUUID } from "node:crypto";
import { LockError, NoNodeError, PermissionError, UsageError } from "../../errors.ts";
import { baseName, joinPath } from "../../session/path.ts";
import type { CreateMode, Session, WatchListener } from "../../session/session.ts";
import { Bell } from "../bell.ts";
import { bySequence, type Contender, parseContender, parseContenders } from "./contender.ts";
import { type Entered, enter, list } from "./enter.ts";
import type { LockEvent } from "./events.ts";
import { HeldLock } from "./held-lock.ts";
import { describeParty, type Party, type RevokeRequest } from "./holder-record.ts";
import { type Attempt, type LockOptions, LockRecipe } from "./lock-recipe.ts";
import { askForPaths, type PathToMake, parentMode } from "./make-path.ts";
import { MUTEX } from "./mutex.ts";
import { OwnTicket, revoked } from "./own-ticket.ts";
import { QueueLock } from "./queue-lock.ts";
import { remove } from "./removal.ts";
import { encodeLimit, recordedLimit } from "./semaphore-limit.ts";
import { checkSequence, isMissing, type Listing, sessionLost, type Ticket, ticketGone } from "./ticket.ts";
import { isFateUnknown, untilAnswered } from "./unanswered.ts";

export interface SemaphoreOptions extends LockOptions {
  /** How many permits there are; the same for all who use the path. Recorded with the path when that is made. */
  readonly limit: number;
  /** How many are wanted, all or none; 1 unless told otherwise. */
  readonly count?: number;
  /** Records `limit` where another one is recorded. Those who wait or hold do not hear of it. */
  readonly setLimit?: boolean;
}

/** The permits that were just made, and who queues. */
interface Leased extends Entered {
  readonly queue: readonly Contender[];
}

export class Semaphore extends LockRecipe<HeldLock> {
  readonly path: string;
  readonly limit: number;
  readonly count: number;
  readonly #leases: string;
  readonly #locks: string;
  readonly #setLimit: boolean;

  constructor(session: Session, path: string, { limit, count = 1, setLimit = false, ...options }: SemaphoreOptions) {
    super(session, [path], "semaphore", options);
    if (!Number.isInteger(limit) || limit < 1) throw new UsageError(`bad limit ${limit}: at least one permit`);
    if (!Number.isInteger(count) || count < 1) throw new UsageError(`bad number of permits ${count}: at least one`);
    if (count > limit) throw new UsageError(`${count} permits of ${limit} can never be had`);
    if (options.compat === "all") throw new UsageError("kazoo's semaphore cannot share a path with this one");
    this.path = path;
    this.limit = limit;
    this.count = count;
    this.#leases = joinPath(path, "leases");
    this.#locks = joinPath(path, "locks");
    this.#setLimit = setLimit;
  }

  get name(): string {
    return this.path;
  }

  get #paths(): readonly PathToMake[] {
    return [{ path: this.path, data: encodeLimit(this.limit) }, { path: this.#leases }, { path: this.#locks }];
  }

  protected async take(attempt: Attempt): Promise<HeldLock> {
    const { ticket, listing, queue } = await this.#lease(attempt);
    try {
      // Whoever came before goes before, even where a permit is free.
      if (queue.length === 0 && this.#isGood(ticket, listing)) return this.#hold(ticket, attempt);
    } catch (error) {
      this.chores.add(remove(this.session, ticket.nodes));
      throw error;
    }
    this.chores.add(remove(this.session, ticket.nodes));
    if (!attempt.mayWait) throw this.#busy();
    return this.#inTurn(attempt);
  }

  /** Makes leases, and their path where it may be missing, and looks at everything in one flight. */
  async #lease(attempt: Attempt): Promise<Leased> {
    const { session, chores, knownPaths } = this;
    const { signal } = attempt;
    const { acl } = this.options;
    const labels = Array.from({ length: this.count }, () => "lease-");
    const shape = { path: this.#leases, labels, data: attempt.data(), ...(acl && { acl }) };
    for (;;) {
      const mode = knownPaths.has(shape.path) ? undefined : await this.#pathMode(signal);
      const obstacle = mode && askForPaths(session, this.#paths, mode, { signal });
      const entering = enter(session, [shape], randomUUID(), { signal, chores, knownPaths });
      const listing = list(session, this.#locks, { signal });
      const recorded = this.#recorded(signal);
      for (const asking of [listing, recorded]) asking.catch(() => {});
      try {
        const [entered] = (await entering) as [Entered];
        try {
          await this.#checkLimit(await recorded, signal);
          return { ...entered, queue: parseContenders((await listing).children) };
        } catch (error) {
          chores.add(remove(session, entered.ticket.nodes));
          throw error;
        }
      } catch (error) {
        if (!(error instanceof NoNodeError)) throw error;
        const why = await obstacle;
        if (why !== undefined && !isFateUnknown(why)) throw why;
        knownPaths.clear();
      }
    }
  }

  async #recorded(signal: AbortSignal | undefined): Promise<Buffer | null> {
    try {
      return (await untilAnswered(() => this.session.getData(this.path, { signal }))).data;
    } catch (error) {
      if (error instanceof PermissionError) return null;
      throw error;
    }
  }

  async #checkLimit(data: Buffer | null, signal: AbortSignal | undefined): Promise<void> {
    const { path, limit } = this;
    const recorded = recordedLimit(data);
    if (recorded?.by === "kazoo") {
      throw new LockError("limit-mismatch", `${path} is a kazoo semaphore (${recorded.limit} leases)`, {
        path,
        hint: "its layout and ours cannot share a path: use another",
      });
    }
    if (recorded === undefined ? !this.#setLimit || data?.length : recorded.limit === limit) return;
    if (recorded !== undefined && !this.#setLimit) {
      const permits = recorded.limit === 1 ? "1 permit" : `${recorded.limit} permits`;
      throw new LockError("limit-mismatch", `${path} has ${permits}, not ${limit}`, {
        path,
        hint: `use ${recorded.limit}, or record the new limit (--set-limit)`,
      });
    }
    await untilAnswered(() => this.session.setData(path, encodeLimit(limit), { signal }));
  }

  /** What missing paths are made as. */
  async #pathMode(signal: AbortSignal | undefined): Promise<CreateMode> {
    const { session, path } = this;
    if (this.options.mustExist) await untilAnswered(() => session.getData(path, { signal }));
    return parentMode(session, "container", { signal });
  }

  /** Throws where the numbers cannot be relied on, or a lease of ours is gone. */
  #isGood(ticket: Ticket, listing: Listing): boolean {
    if (isMissing(ticket, listing)) throw ticketGone(this.path, this.session);
    checkSequence(ticket, parseContenders(listing.children), this.#leases);
    const own = new Set(ticket.nodes.map(baseName));
    const [last] = ticket.contenders.slice(-1);
    const isAhead = (name: string) => {
      if (own.has(name)) return false;
      const other = parseContender(name);
      // Something without a number counts for Curator too.
      return other === undefined || last === undefined || bySequence(other, last) < 0;
    };
    return listing.children.filter(isAhead).length + own.size <= this.limit;
  }

  #hold(ticket: Ticket, { begun, data }: Attempt, own = new OwnTicket(this.session, this.path, ticket)): HeldLock {
    const { session, path, mode, tell: onEvent } = this;
    if (!session.isAlive()) throw sessionLost();
    const waitedMs = performance.now() - begun;
    onEvent({ event: "acquired", path, node: ticket.nodes[0], token: ticket.token, waitedMs });
    const acquiredAt = Date.now();
    const stamp = this.options.data ? undefined : () => data({ acquired: new Date(acquiredAt).toISOString() });
    return new HeldLock({ session, path, mode, stake: ticket, own, waitedMs, onEvent, stamp });
  }

  async #inTurn(attempt: Attempt): Promise<HeldLock> {
    const { holder: _, compat: __, ...options } = this.options;
    const shape = { ...MUTEX, mode: this.mode };
    const queue = new QueueLock(this.session, this.#locks, shape, {
      ...options,
      mustExist: false,
      data: attempt.data(),
      onEvent: this.#tellOfQueue,
    });
    const { signal, refreshMs } = attempt;
    try {
      const turn = await queue.acquire({ signal, ...(refreshMs !== undefined && { refreshMs }) });
      try {
        return await this.#asHead(turn, attempt);
      } finally {
        this.chores.add(turn.release());
      }
    } finally {
      this.chores.add(queue.settled());
    }
  }

  async #asHead(turn: HeldLock, attempt: Attempt): Promise<HeldLock> {
    const leased = await this.#lease(attempt);
    const { ticket } = leased;
    const own = new OwnTicket(this.session, this.path, ticket);
    own.watch();
    try {
      await this.#untilGood(leased, own, turn, attempt);
      own.throwIfGone();
      return this.#hold(ticket, attempt, own);
    } catch (error) {
      own.end();
      this.chores.add(remove(this.session, ticket.nodes));
      throw error;
    }
  }

  async #untilGood(leased: Leased, own: OwnTicket, turn: HeldLock, { signal }: Attempt): Promise<void> {
    const { session, path } = this;
    const { ticket } = leased;
    const bell = new Bell();
    const ring = () => bell.ring();
    let request: RevokeRequest | undefined;
    let isWatching = false;
    const watch: WatchListener = () => {
      isWatching = false;
      ring();
    };
    const stopOwn = own.onChange(ring);
    turn.signal.addEventListener("abort", ring);
    const stopTurn = turn.onRevoke((asked) => {
      request = asked;
      ring();
    });
    try {
      for (let { listing } = leased; !this.#isGood(ticket, listing); ) {
        if (!isWatching) {
          isWatching = true;
          listing = await list(session, this.#leases, { watch, signal });
          continue;
        }
        await this.#tellWaiting(leased, listing, signal);
        await bell.heard(signal);
        if (session.state === "lost") throw sessionLost();
        own.throwIfGone();
        if (request) throw revoked(path, request);
        if (turn.signal.aborted) throw ticketGone(path, session);
      }
    } finally {
      stopOwn();
      stopTurn();
      turn.signal.removeEventListener("abort", ring);
      if (isWatching && session.state !== "lost") session.removeWatch(this.#leases, watch).catch(() => {});
    }
  }

  async #tellWaiting({ ticket, queue }: Leased, { children }: Listing, signal: AbortSignal | undefined): Promise<void> {
    const first = parseContenders(children).find(({ uuid }) => uuid !== ticket.uuid);
    const holder = first && (await this.#read(first, signal));
    this.tell({
      event: "waiting",
      path: this.path,
      node: ticket.nodes[0],
      position: 1,
      of: Math.max(1, queue.length),
      ahead: first?.name ?? "",
      ...(holder && { holder }),
    });
  }

  async #read(contender: Contender, signal: AbortSignal | undefined): Promise<Party | undefined> {
    const node = joinPath(this.#leases, contender.name);
    try {
      return describeParty(node, contender, await untilAnswered(() => this.session.getData(node, { signal })));
    } catch (error) {
      if (error instanceof NoNodeError || error instanceof PermissionError) return undefined;
      throw error;
    }
  }

  /** The queue's own holder is the first who waits; that it has got its turn, and gives it back, is nobody's concern. */
  readonly #tellOfQueue = (event: LockEvent): void => {
    const { path } = this;
    if (event.event === "waiting") {
      const { node, position, of, ahead } = event;
      this.tell({ event: "waiting", path, node, position: position + 1, of: of + 1, ahead });
    } else if (event.event === "queued" || event.event === "predecessor-gone" || event.event === "strangers") {
      this.tell({ ...event, path });
    }
  };

  #busy(): LockError {
    const { path, count, limit } = this;
    const what = count === 1 ? "no free permit" : `no ${count} free permits`;
    return new LockError("busy", `${path} has ${what} (limit ${limit})`, { path });
  }
}
