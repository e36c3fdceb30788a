/**
 * Waits until a ticket is first: only the nearest blocker is watched, so one release wakes one
 * waiter.
 */
import { AutoResetEvent } from "../../../async/auto-reset-event.ts";
import { joinPath } from "../../../session/path.ts";
import { NodeWatch } from "./node-watch.ts";
import type { OwnTicket } from "./own-ticket.ts";
import type { Ticket } from "./ticket.ts";
import type { TicketQueue } from "./ticket-queue.ts";

export interface WaitOptions {
  readonly signal: AbortSignal | undefined;
  /** Watches our own ticket: a waiter whose ticket is deleted leaves the queue. */
  readonly own: OwnTicket;
  /**
   * For a caller that shows the queue: how old what it shows may be, see {@link refreshDelay}. Left
   * out: the queue is listed only where the lock itself needs it.
   */
  readonly refreshMs: number | undefined;
}

/** Leaves no watch behind, however it ends. */
export async function waitTurn(
  queue: TicketQueue,
  ticket: Ticket,
  { signal, own, refreshMs }: WaitOptions,
): Promise<void> {
  const isFollowed = refreshMs !== undefined;
  const changed = new AutoResetEvent();
  const watch = new NodeWatch(queue.session, changed);
  const report = queue.report(ticket, isFollowed);
  const stopOwn = own.onChange(() => changed.set());
  try {
    for (;;) {
      report.left(queue.present);
      const blocker = queue.nearestBlocker(ticket);
      if (blocker === undefined) return;
      if (!(await watch.set(joinPath(queue.path, blocker.name), signal))) {
        await queue.refresh(ticket, signal);
        continue;
      }
      await report.tell(queue.present, blocker, watch.data, signal);
      await watch.wait(signal, refreshMs && refreshDelay(refreshMs, queue.present.length));
      own.throwIfGone();
      if (watch.isGone) {
        queue.forget(blocker);
        // No listing: the contenders that are left are known not to block, and none can come.
        const isGranted = !queue.canChangeOrder && queue.isFirst(ticket);
        // With a listing, the report tells of those that left earlier first.
        if (isGranted || !isFollowed) report.left(queue.present);
        if (isGranted) return;
      }
      // A blocker that writes to its ticket may just have got the lock: then others have left, which
      // matters only to a reader of the report.
      if (watch.isGone || !watch.hasChanged || isFollowed) await queue.refresh(ticket, signal);
    }
  } finally {
    stopOwn();
    watch.leave();
  }
}

/** In contenders; up to this length a queue is listed as often as the caller wants. */
const SHORT_QUEUE = 20;

/**
 * How long until the next look at a queue that is shown to a person. What is shown is at most
 * `maxAgeMs` old, in queues of more than 20 a tenth of a second per contender: n terminals then
 * list fewer than 17 times a second together, for any n. The delay is 0.6 to 0.9 of that, at
 * random, so that terminals do not look at the same moment.
 */
export function refreshDelay(maxAgeMs: number, contenders: number, random = Math.random()): number {
  const ageMs = contenders > SHORT_QUEUE ? Math.max(maxAgeMs, contenders * 100) : maxAgeMs;
  return ageMs * (0.6 + 0.3 * random);
}
