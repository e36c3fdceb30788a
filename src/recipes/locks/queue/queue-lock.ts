/**
 * A lock that is got by queuing. Mutex, read/write lock and election differ in who waits for whom,
 * and in nothing else.
 */
import { randomUUID } from "node:crypto";
import { UsageError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import type { HeldLock } from "../held-lock.ts";
import type { LockMode } from "../holder-record.ts";
import { type Attempt, type LockOptions, LockRecipe } from "../lock-recipe.ts";
import type { Claim } from "./contender.ts";
import { createTickets } from "./create-tickets.ts";
import { QueueEntry } from "./queue-entry.ts";
import type { OutsideHolders } from "./queue-report.ts";
import type { TicketShape } from "./ticket.ts";
import { TicketQueue } from "./ticket-queue.ts";

export type { AcquireOptions, LockOptions } from "../lock-recipe.ts";

export interface QueueLockShape {
  readonly claim: Claim;
  readonly mode: LockMode;
  /** In front of the number. The second is for kazoo, which looks for nothing else. */
  readonly labels: { readonly curator: string; readonly kazoo?: string };
  /** Who holds what the queue is for, where that is not its first contender. */
  readonly outside?: (signal: AbortSignal | undefined) => Promise<OutsideHolders>;
}

export class QueueLock extends LockRecipe<HeldLock> {
  readonly path: string;
  readonly #shape: QueueLockShape;
  readonly #queue: TicketQueue;

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
  }

  get name(): string {
    return this.path;
  }

  protected async take(attempt: Attempt): Promise<HeldLock> {
    const { session, path, mode, chores, knownPaths } = this;
    const { signal } = attempt;
    const queue = this.#queue;
    const shape = ticketShape(path, this.#shape, this.options, attempt);
    const [entered] = await createTickets(session, [shape], randomUUID(), {
      signal,
      chores,
      knownPaths,
      list: () => queue.listed(signal),
    });
    if (entered === undefined) throw new Error("no ticket was created");
    const isStamped = this.options.data === undefined;
    const place = new QueueEntry(
      { session, path, mode, queue, chores, onEvent: this.tell, isStamped },
      entered,
      attempt,
    );
    return place.heldAtOnce() ?? (await place.held());
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
    // kazoo remembers that it has made the path, and fails for good when an empty container was
    // removed meanwhile.
    parents: mustExist ? undefined : isCompat ? "persistent" : "container",
    acl,
    pathAcl,
  };
}
