/**
 * Several exclusive locks, all or nothing, under one deadline.
 *
 * All tickets are made in one transaction: where all paths are free, that is all. Otherwise the
 * locks in front of the first that is taken (by the order of paths) are kept, the tickets behind it
 * are given back, and the rest follows one by one: nobody who takes locks in this order can wait
 * for us while we wait for them.
 *
 * Others may take locks in another order, so that each would wait for the other for ever. Whoever
 * waits and sees that somebody waits for what it has got already gives that back after a while, and
 * takes it anew later.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { UsageError } from "../../errors.ts";
import { baseName } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import type { HeldLock } from "./held-lock.ts";
import { HeldLocks } from "./held-locks.ts";
import { type Attempt, type LockOptions, LockRecipe } from "./lock-recipe.ts";
import { MUTEX } from "./mutex.ts";
import { blocks, bySequence, parseContender, parseContenders } from "./queue/contender.ts";
import { type CreatedTickets, createTickets } from "./queue/create-tickets.ts";
import { listTickets } from "./queue/list-tickets.ts";
import { revoked } from "./queue/own-ticket.ts";
import { QueueEntry } from "./queue/queue-entry.ts";
import { ticketShape } from "./queue/queue-lock.ts";
import { remove } from "./queue/remove-znodes.ts";
import { TicketQueue } from "./queue/ticket-queue.ts";

/**
 * How long others are kept waiting by one who waits itself: twice as long after each time that it
 * gave way.
 */
const PATIENCE_MS = 1_000;

/** What one `acquire` has got so far. */
interface Progress {
  readonly held: Map<string, HeldLock>;
  /** Aborted when something that was got is lost, or asked for. */
  readonly alarm: AbortController;
  patienceMs: number;
}

type CarefulAttempt = Attempt & { readonly signal: AbortSignal };

export class MultiLock extends LockRecipe<HeldLocks> {
  /** In order, each once. */
  readonly paths: readonly string[];
  readonly #queues: ReadonlyMap<string, TicketQueue>;

  constructor(session: Session, paths: readonly string[], options?: LockOptions) {
    super(session, paths, MUTEX.mode, options);
    if (paths.length === 0) throw new UsageError("no path to lock");
    this.paths = [...new Set(paths)].sort();
    const queueOf = (path: string) =>
      new TicketQueue({ session, path, mode: MUTEX.mode, onEvent: this.tell });
    this.#queues = new Map(this.paths.map((path) => [path, queueOf(path)]));
  }

  get name(): string {
    return this.paths.join(", ");
  }

  protected async take(attempt: Attempt): Promise<HeldLocks> {
    const alarm = new AbortController();
    const progress: Progress = { held: new Map(), alarm, patienceMs: PATIENCE_MS };
    const signals = attempt.signal ? [attempt.signal, alarm.signal] : [alarm.signal];
    const careful = { ...attempt, signal: AbortSignal.any(signals) };
    try {
      for (;;) {
        const missing = this.paths.filter((path) => !progress.held.has(path));
        if (missing.length === 0) break;
        await this.#takeSome(missing, progress, careful);
      }
      alarm.signal.throwIfAborted();
    } catch (error) {
      for (const lock of [...progress.held.values()].reverse()) this.chores.add(lock.release());
      throw alarm.signal.aborted ? alarm.signal.reason : error;
    }
    const locks = this.paths.flatMap((path) => progress.held.get(path) ?? []);
    return new HeldLocks(this.session, locks, performance.now() - attempt.begun);
  }

  /** Takes those that are free in front of the first that is not, and then that one. */
  async #takeSome(
    missing: readonly string[],
    progress: Progress,
    attempt: CarefulAttempt,
  ): Promise<void> {
    const { signal } = attempt;
    const { chores, knownPaths } = this;
    const shapes = missing.map((path) => ticketShape(path, MUTEX, this.options, attempt));
    const entered = await createTickets(this.session, shapes, randomUUID(), {
      signal,
      chores,
      knownPaths,
    });
    const places = this.#places(missing, entered, attempt);
    const firstTaken = places.findIndex((place) => !place.isFirst);
    const free = firstTaken < 0 ? places : places.splice(0, firstTaken);
    const [contended, ...later] = firstTaken < 0 ? [] : places;
    for (const place of later) place.leave();
    try {
      if (contended && !attempt.mayWait) await contended.held();
      for (let place = free.shift(); place; place = free.shift())
        this.#keep(await place.held(), progress);
    } catch (error) {
      for (const place of free) place.leave();
      if (attempt.mayWait) contended?.leave();
      throw error;
    }
    if (contended) this.#keep(await this.#waitFor(contended, progress, signal), progress);
  }

  #places(
    paths: readonly string[],
    entered: readonly CreatedTickets[],
    attempt: Attempt,
  ): QueueEntry[] {
    const { session, mode, chores } = this;
    const isStamped = this.options.data === undefined;
    const rest = [...entered];
    const places: QueueEntry[] = [];
    try {
      for (const path of paths) {
        const [queue, one] = [this.#queues.get(path), rest.shift()];
        if (!queue || !one) break;
        places.push(
          new QueueEntry(
            { session, path, mode, queue, chores, onEvent: this.tell, isStamped },
            one,
            attempt,
          ),
        );
      }
      return places;
    } catch (error) {
      for (const place of places) place.leave();
      for (const { ticket } of rest) chores.add(remove(session, ticket.nodes));
      throw error;
    }
  }

  #keep(lock: HeldLock, { held, alarm }: Progress): void {
    held.set(lock.path, lock);
    lock.signal.addEventListener("abort", () => alarm.abort(lock.signal.reason), { once: true });
    lock.onRevoke((request) => alarm.abort(revoked(lock.path, request)));
  }

  async #waitFor(place: QueueEntry, progress: Progress, signal: AbortSignal): Promise<HeldLock> {
    const stop = new AbortController();
    const givingWay = this.#giveWay(progress, AbortSignal.any([signal, stop.signal]));
    try {
      return await place.held();
    } finally {
      stop.abort();
      await givingWay;
    }
  }

  /** While we wait: gives back what somebody else waits for. Never rejects. */
  async #giveWay(progress: Progress, signal: AbortSignal): Promise<void> {
    try {
      while (progress.held.size > 0) {
        // Not all at the same time: two who give way to each other would meet again.
        await pause(progress.patienceMs * (1 + Math.random()), undefined, { signal });
        for (const [path, lock] of progress.held) {
          if (!(await this.#isInTheWay(lock, signal))) continue;
          signal.throwIfAborted();
          progress.held.delete(path);
          progress.patienceMs *= 2;
          this.tell({ event: "gave-way", path });
          this.chores.add(lock.release());
        }
      }
    } catch {
      // Stopped; or the session has ended, which whoever waits hears too.
    }
  }

  async #isInTheWay({ path, nodePath }: HeldLock, signal: AbortSignal): Promise<boolean> {
    const own = parseContender(baseName(nodePath));
    const { children } = await listTickets(this.session, path, { signal });
    return parseContenders(children).some(
      (other) =>
        own && blocks(other.claim, own) && bySequence(own, other) < 0 && other.uuid !== own.uuid,
    );
  }
}
