/**
 * Several exclusive locks, all or nothing, under one deadline.
 *
 * All tickets are created in one transaction: where all paths are free, that is all. Otherwise the
 * locks in front of the first that is taken (in the order of paths) are kept, the tickets behind it
 * are given back, and the rest follows one by one. Two clients that take locks in this order cannot
 * wait for each other.
 *
 * Other clients may take locks in another order, so that each waits for the other for ever. A
 * client that waits, and sees another wait for a lock it already has, gives that lock back after a
 * while and takes it again later.
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
import { type CreatedTicket, createTickets } from "./queue/create-tickets.ts";
import { listTickets } from "./queue/list-tickets.ts";
import { revoked } from "./queue/own-ticket.ts";
import { QueueEntry } from "./queue/queue-entry.ts";
import { ticketShape } from "./queue/queue-lock.ts";
import { removeZnodes } from "./queue/remove-znodes.ts";
import { TicketQueue } from "./queue/ticket-queue.ts";

/** How long a waiter keeps locks that another client waits for; doubled each time it gives way. */
const GIVE_WAY_AFTER_MS = 1_000;

/** What one `acquire` has taken so far. */
interface Progress {
  readonly held: Map<string, HeldLock>;
  /** Aborted when a lock that was taken is lost, or revoked. */
  readonly failure: AbortController;
  giveWayAfterMs: number;
}

type AbortableAttempt = Attempt & { readonly signal: AbortSignal };

/**
 * Several locks, all or none: acquired in the order of their paths, so that two MultiLocks cannot
 * block each other.
 *
 * @example
 * ```ts
 * const held = await new MultiLock(session, ["/locks/a", "/locks/b"]).acquire();
 * await held.release();
 * ```
 */
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
    const failure = new AbortController();
    const progress: Progress = { held: new Map(), failure, giveWayAfterMs: GIVE_WAY_AFTER_MS };
    const signals = attempt.signal ? [attempt.signal, failure.signal] : [failure.signal];
    const abortable = { ...attempt, signal: AbortSignal.any(signals) };
    try {
      for (;;) {
        const missing = this.paths.filter((path) => !progress.held.has(path));
        if (missing.length === 0) break;
        await this.#takeSome(missing, progress, abortable);
      }
      failure.signal.throwIfAborted();
    } catch (error) {
      for (const lock of [...progress.held.values()].reverse()) this.cleanup.add(lock.release());
      throw failure.signal.aborted ? failure.signal.reason : error;
    }
    const locks = this.paths.flatMap((path) => progress.held.get(path) ?? []);
    return new HeldLocks(this.session, locks, performance.now() - attempt.begun);
  }

  /** Takes the free locks in front of the first that is taken, and then waits for that one. */
  async #takeSome(
    missing: readonly string[],
    progress: Progress,
    attempt: AbortableAttempt,
  ): Promise<void> {
    const { signal } = attempt;
    const { cleanup, knownPaths } = this;
    const shapes = missing.map((path) => ticketShape(path, MUTEX, this.options, attempt));
    const created = await createTickets(this.session, shapes, randomUUID(), {
      signal,
      cleanup,
      knownPaths,
    });
    const entries = this.#enter(missing, created, attempt);
    const firstTaken = entries.findIndex((entry) => !entry.isFirst);
    const free = firstTaken < 0 ? entries : entries.splice(0, firstTaken);
    const [contended, ...later] = firstTaken < 0 ? [] : entries;
    for (const entry of later) entry.leave();
    try {
      if (contended && !attempt.mayWait) await contended.hold();
      for (let entry = free.shift(); entry; entry = free.shift())
        this.#keep(await entry.hold(), progress);
    } catch (error) {
      for (const entry of free) entry.leave();
      if (attempt.mayWait) contended?.leave();
      throw error;
    }
    if (contended) this.#keep(await this.#waitFor(contended, progress, signal), progress);
  }

  #enter(
    paths: readonly string[],
    created: readonly CreatedTicket[],
    attempt: Attempt,
  ): QueueEntry[] {
    const { session, mode, cleanup } = this;
    const isStamped = this.options.data === undefined;
    const rest = [...created];
    const entries: QueueEntry[] = [];
    try {
      for (const path of paths) {
        const [queue, one] = [this.#queues.get(path), rest.shift()];
        if (!queue || !one) break;
        entries.push(
          new QueueEntry({ mode, queue, cleanup, onEvent: this.tell, isStamped }, one, attempt),
        );
      }
      return entries;
    } catch (error) {
      for (const entry of entries) entry.leave();
      for (const { ticket } of rest) cleanup.add(removeZnodes(session, ticket.nodes));
      throw error;
    }
  }

  #keep(lock: HeldLock, { held, failure }: Progress): void {
    held.set(lock.path, lock);
    lock.signal.addEventListener("abort", () => failure.abort(lock.signal.reason), { once: true });
    lock.onRevoke((request) => failure.abort(revoked(lock.path, request)));
  }

  async #waitFor(entry: QueueEntry, progress: Progress, signal: AbortSignal): Promise<HeldLock> {
    const stop = new AbortController();
    const givingWay = this.#giveWay(progress, AbortSignal.any([signal, stop.signal]));
    try {
      return await entry.hold();
    } finally {
      stop.abort();
      await givingWay;
    }
  }

  /** While we wait: gives back what another client waits for. Never rejects. */
  async #giveWay(progress: Progress, signal: AbortSignal): Promise<void> {
    try {
      while (progress.held.size > 0) {
        // At random: two clients that give way at the same moment would meet again.
        await pause(progress.giveWayAfterMs * (1 + Math.random()), undefined, { signal });
        for (const [path, lock] of progress.held) {
          if (!(await this.#isWaitedFor(lock, signal))) continue;
          signal.throwIfAborted();
          progress.held.delete(path);
          progress.giveWayAfterMs *= 2;
          this.tell({ event: "gave-way", path });
          this.cleanup.add(lock.release());
        }
      }
    } catch {
      // Stopped, or the session has ended: then the wait for the lock fails too.
    }
  }

  async #isWaitedFor({ path, nodePath }: HeldLock, signal: AbortSignal): Promise<boolean> {
    const own = parseContender(baseName(nodePath));
    const { children } = await listTickets(this.session, path, { signal });
    return parseContenders(children).some(
      (other) =>
        own && blocks(other.claim, own) && bySequence(own, other) < 0 && other.uuid !== own.uuid,
    );
  }
}
