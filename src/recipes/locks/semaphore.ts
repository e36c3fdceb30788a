/**
 * A number of permits, in the layout of Curator's InterProcessSemaphoreV2: a permit is a lease
 * below `leases/`, and a client that finds none free queues below `locks/`.
 *
 * A lease is good while its place by number is below the limit: places only get better, so that the
 * holders are always among the first. Curator counts all leases, good or not; only the head of the
 * queue may therefore keep one that is not good yet. Several permits are made in one transaction,
 * and waited for by the head alone: two who want several cannot each have half of them.
 */
import { randomUUID } from "node:crypto";
import { LockError, NoNodeError, PermissionError, UsageError } from "../../errors.ts";
import { joinPath } from "../../session/path.ts";
import type { CreateMode, Session } from "../../session/session.ts";
import { areGood, awaitPermits, type Leased, type PermitPlace } from "./await-permits.ts";
import type { LockEvent, Permits } from "./events.ts";
import { HeldLock } from "./held-lock.ts";
import { type Attempt, type LockOptions, LockRecipe } from "./lock-recipe.ts";
import { MUTEX } from "./mutex.ts";
import { awaitLease } from "./queue/await-lease.ts";
import { parseContenders } from "./queue/contender.ts";
import { askForPaths, type PathToMake, parentMode } from "./queue/create-lock-path.ts";
import { type CreatedTicket, createTickets } from "./queue/create-tickets.ts";
import { listTickets } from "./queue/list-tickets.ts";
import { OwnTicket } from "./queue/own-ticket.ts";
import { PermitReport, permitsOf } from "./queue/permit-report.ts";
import { QueueLock } from "./queue/queue-lock.ts";
import { removeZnodes } from "./queue/remove-znodes.ts";
import { isUnanswered, untilAnswered } from "./queue/retry-unanswered.ts";
import type { Ticket } from "./queue/ticket.ts";
import { encodeLimit, mustRecordLimit } from "./semaphore-limit.ts";

/** How many permits there are, and how many one holder takes. */
export interface SemaphoreOptions extends LockOptions {
  /**
   * How many permits there are; the same for all who use the path. Recorded with the path when that
   * is made.
   */
  readonly limit: number;
  /** How many are wanted, all or none; 1 unless told otherwise. */
  readonly count?: number;
  /** Records `limit` where another one is recorded. Those who wait or hold do not hear of it. */
  readonly setLimit?: boolean;
}

const OF_THE_TURN: ReadonlySet<LockEvent["event"]> = new Set(["acquired", "released", "lost"]);

interface HoldOptions {
  readonly own?: OwnTicket;
  readonly permits: Permits;
  readonly hasWaited?: boolean;
}

/**
 * Up to `limit` permits at a time, first come first served.
 *
 * @example
 * ```ts
 * const permit = await new Semaphore(session, "/sem/reports", { limit: 3 }).acquire();
 * await permit.release();
 * ```
 */
export class Semaphore extends LockRecipe<HeldLock> {
  readonly path: string;
  readonly limit: number;
  readonly count: number;
  readonly #place: PermitPlace;
  readonly #setLimit: boolean;

  constructor(
    session: Session,
    path: string,
    { limit, count = 1, setLimit = false, ...options }: SemaphoreOptions,
  ) {
    super(session, [path], "semaphore", options);
    if (!Number.isInteger(limit) || limit < 1)
      throw new UsageError(`bad limit ${limit}: use 1 or more`);
    if (!Number.isInteger(count) || count < 1)
      throw new UsageError(`bad number of permits ${count}: use 1 or more`);
    if (count > limit) throw new UsageError(`cannot take ${count} permits: the limit is ${limit}`);
    if (options.compat === "all")
      throw new UsageError(
        "compat 'all' is not possible: kazoo's semaphore cannot share a path with zksh",
      );
    this.path = path;
    this.limit = limit;
    this.count = count;
    this.#setLimit = setLimit;
    const leases = joinPath(path, "leases");
    this.#place = {
      session,
      path,
      leases,
      locks: joinPath(path, "locks"),
      limit,
      report: new PermitReport(session, leases, limit),
      tell: this.tell,
    };
  }

  get name(): string {
    return this.path;
  }

  get #paths(): readonly PathToMake[] {
    const { acl: ticketAcl, pathAcl: acl = ticketAcl } = this.options;
    const below = [this.#place.leases, this.#place.locks].map((path) => ({ path, acl }));
    return [{ path: this.path, data: encodeLimit(this.limit), acl }, ...below];
  }

  protected async take(attempt: Attempt): Promise<HeldLock> {
    const { ticket, listing, queue } = await this.#lease(attempt);
    const permits = permitsOf(listing.children, this.limit);
    try {
      // Clients that queue go first, even where a permit is free.
      if (queue.length === 0 && areGood(this.#place, ticket, listing))
        return await this.#hold(ticket, attempt, { permits });
    } catch (error) {
      this.cleanup.add(removeZnodes(this.session, ticket.nodes));
      throw error;
    }
    this.cleanup.add(removeZnodes(this.session, ticket.nodes));
    if (!attempt.mayWait) throw this.#busy();
    const taken = permitsOf(listing.children, this.limit, ticket.uuid);
    this.tell({ event: "no-permit", path: this.path, node: ticket.nodes[0], permits: taken });
    return this.#inTurn(attempt);
  }

  /**
   * Makes leases, and their path where it may be missing, and looks at everything in one flight.
   */
  async #lease(attempt: Attempt): Promise<Leased> {
    const { session, cleanup, knownPaths } = this;
    const { signal } = attempt;
    const { acl } = this.options;
    const labels = Array.from({ length: this.count }, () => "lease-");
    const shape = { path: this.#place.leases, labels, data: attempt.data(), ...(acl && { acl }) };
    for (;;) {
      const mode = knownPaths.has(shape.path) ? undefined : await this.#pathMode(signal);
      const obstacle = mode && askForPaths(session, this.#paths, mode, { signal });
      const entering = createTickets(session, [shape], randomUUID(), {
        signal,
        cleanup,
        knownPaths,
      });
      const listing = listTickets(session, this.#place.locks, { signal });
      const recorded = this.#recorded(signal);
      for (const asking of [listing, recorded]) asking.catch(() => {});
      try {
        const [entered] = (await entering) as [CreatedTicket];
        try {
          if (mustRecordLimit(await recorded, this, this.#setLimit))
            await this.#recordLimit(signal);
          return { ...entered, queue: parseContenders((await listing).children) };
        } catch (error) {
          cleanup.add(removeZnodes(session, entered.ticket.nodes));
          throw error;
        }
      } catch (error) {
        if (!(error instanceof NoNodeError)) throw error;
        const why = await obstacle;
        if (why !== undefined && !isUnanswered(why)) throw why;
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

  async #recordLimit(signal: AbortSignal | undefined): Promise<void> {
    await untilAnswered(() => this.session.setData(this.path, encodeLimit(this.limit), { signal }));
  }

  /** What missing paths are made as. */
  async #pathMode(signal: AbortSignal | undefined): Promise<CreateMode> {
    const { session, path } = this;
    if (this.options.mustExist) await untilAnswered(() => session.getData(path, { signal }));
    return parentMode(session, "container", { signal });
  }

  async #hold(
    ticket: Ticket,
    { begun, data, signal }: Attempt,
    {
      own = new OwnTicket(this.session, this.path, ticket),
      permits,
      hasWaited = false,
    }: HoldOptions,
  ): Promise<HeldLock> {
    const { session, path, mode, tell: onEvent } = this;
    await awaitLease(session, path, ticket, { signal });
    const waitedMs = performance.now() - begun;
    const [node] = ticket.nodes;
    onEvent({
      event: "acquired",
      path,
      node,
      token: ticket.token,
      waitedMs,
      mode,
      hasWaited,
      permits,
    });
    const acquiredAt = Date.now();
    const stamp = this.options.data
      ? undefined
      : () => data({ acquired: new Date(acquiredAt).toISOString() });
    return new HeldLock({ session, path, mode, owned: ticket, own, waitedMs, onEvent, stamp });
  }

  async #inTurn(attempt: Attempt): Promise<HeldLock> {
    const { holder: _, compat: __, ...options } = this.options;
    const shape = { ...MUTEX, mode: this.mode, outside: this.#place.report.look };
    const queue = new QueueLock(this.session, this.#place.locks, shape, {
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
        this.cleanup.add(turn.release());
      }
    } finally {
      this.cleanup.add(queue.settled());
    }
  }

  async #asHead(turn: HeldLock, attempt: Attempt): Promise<HeldLock> {
    const leased = await this.#lease(attempt);
    const { ticket } = leased;
    const own = new OwnTicket(this.session, this.path, ticket);
    own.watch();
    try {
      this.tell({ event: "leased", path: this.path, node: ticket.nodes[0] });
      const { children } = await awaitPermits(this.#place, leased, own, turn, attempt);
      own.throwIfGone();
      return await this.#hold(ticket, attempt, {
        own,
        hasWaited: true,
        permits: permitsOf(children, this.limit),
      });
    } catch (error) {
      own.end();
      this.cleanup.add(removeZnodes(this.session, ticket.nodes));
      throw error;
    }
  }

  /** The queue's own events are not passed on: they are not about the semaphore's permits. */
  readonly #tellOfQueue = (event: LockEvent): void => {
    if (!OF_THE_TURN.has(event.event)) this.tell({ ...event, path: this.path });
  };

  #busy(): LockError {
    const { path, count, limit } = this;
    const what = count === 1 ? "no free permit" : `no ${count} free permits`;
    return new LockError("busy", `${path} has ${what} (limit ${limit})`, { path });
  }
}
