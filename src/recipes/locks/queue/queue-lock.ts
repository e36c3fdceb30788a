/**
 * A lock that contenders queue for. Mutex, read/write lock and election differ only in which
 * tickets wait for which.
 */
import { randomUUID } from "node:crypto";
import { UsageError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import type { HeldLock } from "../held-lock.ts";
import type { LockMode } from "../holder-record.ts";
import { type Attempt, type LockOptions, LockRecipe } from "../lock-recipe.ts";
import type { Claim } from "./contender.ts";
import { createTickets } from "./create-tickets.ts";
import { SharedListing } from "./list-tickets.ts";
import { QueueEntry } from "./queue-entry.ts";
import type { OutsideHolders } from "./queue-report.ts";
import type { TicketShape } from "./ticket.ts";
import { TicketQueue } from "./ticket-queue.ts";

export type { AcquireOptions, LockOptions } from "../lock-recipe.ts";

export interface QueueLockShape {
  readonly claim: Claim;
  readonly mode: LockMode;
  /** What stands in front of a ticket's number. kazoo sees only the second ticket. */
  readonly labels: { readonly curator: string; readonly kazoo?: string };
  /** The holders, where the first of the queue is not one: those who have a semaphore's permits. */
  readonly outside?: (signal: AbortSignal | undefined) => Promise<OutsideHolders>;
}

/**
 * A lock whose waiters queue: {@link Mutex}, and the sides of a {@link ReadWriteLock}.
 *
 * @example
 * ```ts
 * const { read } = new ReadWriteLock(session, "/locks/db");
 * const held = await read.acquire({ waitMs: 5_000 });
 * ```
 */
export class QueueLock extends LockRecipe<HeldLock> {
  readonly path: string;
  readonly #shape: QueueLockShape;
  readonly #queue: TicketQueue;
  readonly #listing: SharedListing;

  constructor(session: Session, path: string, shape: QueueLockShape, options?: LockOptions) {
    super(session, [path], shape.mode, options);
    if (options?.compat === "all" && shape.labels.kazoo === undefined) {
      throw new UsageError(
        `compat 'all' is not possible in mode ${shape.mode}: kazoo has no such ticket`,
      );
    }
    this.path = path;
    this.#shape = shape;
    const { mode, outside } = shape;
    this.#queue = new TicketQueue({ session, path, mode, outside, onEvent: this.tell });
    this.#listing = new SharedListing(session, path);
  }

  get name(): string {
    return this.path;
  }

  protected async take(attempt: Attempt): Promise<HeldLock> {
    const entry = await this.#enter(attempt);
    return entry.tryHold() ?? (await entry.hold());
  }

  /** Creates the ticket, and takes in the queue that it found. */
  async #enter(attempt: Attempt): Promise<QueueEntry> {
    const { session, path, mode, cleanup, knownPaths } = this;
    const { signal } = attempt;
    const queue = this.#queue;
    const shape = ticketShape(path, this.#shape, this.options, attempt);
    const [created] = await createTickets(session, [shape], randomUUID(), {
      signal,
      cleanup,
      knownPaths,
      list: () => this.#listing.next(signal),
    });
    if (created === undefined) throw new Error("no ticket was created");
    const isStamped = this.options.data === undefined;
    return new QueueEntry(
      { mode, queue, cleanup, onEvent: this.tell, isStamped },
      created,
      attempt,
    );
  }
}

export function ticketShape(
  path: string,
  { labels: { curator, kazoo } }: QueueLockShape,
  { acl, pathAcl = acl, compat, mustExist }: LockOptions,
  { data }: Attempt,
): TicketShape {
  const isCompat = compat === "all" && kazoo !== undefined;
  return {
    path,
    labels: isCompat ? [curator, kazoo] : [curator],
    data: data(),
    // A kazoo Lock remembers that it has created the path, and fails when the server has removed it
    // as an empty container since.
    parents: mustExist ? undefined : isCompat ? "persistent" : "container",
    acl,
    pathAcl,
  };
}
