/**
 * Follows the queues of locks with watches. Creates no znodes.
 *
 * Each round inspects the locks and sets one-shot watches on the listed znodes and on the tickets
 * of the holders. A change during a round starts the next one. Rounds are at least ROUND_MS apart,
 * so a busy queue is reported a few times a second. The session registers the watches again after a
 * reconnect. Leaving the loop removes them.
 */
import { setTimeout as pause } from "node:timers/promises";
import { AutoResetEvent } from "../../../async/auto-reset-event.ts";
import { limitWait } from "../../../async/limit-wait.ts";
import { NoNodeError, PermissionError } from "../../../errors.ts";
import { joinPath } from "../../../session/path.ts";
import type { Data, Session, WatchEvent, WatchListener } from "../../../session/session.ts";
import type { Follower } from "../../watching/watched-changes.ts";
import { type Answered, Answers, tickUntil } from "./answers.ts";
import { inspectLock, type LockReport } from "./inspect-lock.ts";

/** The present state of all locks, and those of them that have changed. */
export interface QueueChange extends Answered {
  readonly reports: readonly LockReport[];
  readonly changed: readonly LockReport[];
}

interface Watching {
  readonly signal: AbortSignal;
  readonly watch: WatchListener;
}

const ROUND_MS = 200;
/**
 * How many tickets of holders are watched for changed data: a semaphore may have many holders, and
 * listing its leases already shows who comes and goes.
 */
const WATCHED_HOLDERS = 32;

export class QueueFollower implements Follower<QueueChange> {
  readonly path: string;
  readonly #paths: readonly string[];
  readonly #tickMs: number | undefined;
  readonly #told = new Map<string, string>();
  /** The tickets of each lock as they were read last: little of a long queue changes at a time. */
  readonly #known = new Map<string, Map<string, Data>>();
  readonly #watchedHolders = new Set<string>();
  /** The paths on which a watch of ours may be set. */
  readonly #touched = new Set<string>();

  /** `tickMs`: yield at least this often, also without a change, for views that show ages. */
  constructor(paths: readonly string[], tickMs?: number) {
    this.path = paths[0] ?? "/";
    this.#paths = paths;
    this.#tickMs = tickMs;
  }

  async *follow(session: Session, signal: AbortSignal): AsyncGenerator<QueueChange> {
    const wakeUp = new AutoResetEvent();
    const answers = new Answers(session);
    const tickMs = this.#tickMs;
    let isLost = false;
    let reports: readonly LockReport[] = [];
    const tick = () => ({ reports, changed: [], ...answers.now() });
    const watch = ({ type, path }: WatchEvent) => {
      isLost ||= type === "lost";
      this.#watchedHolders.delete(path);
      this.#forget(path);
      if (type === "deleted") this.#touched.delete(path);
      wakeUp.set();
    };
    try {
      while (!isLost) {
        const nextRound = pause(ROUND_MS, undefined, { signal });
        nextRound.catch(() => {});
        const looking = Promise.all(
          this.#paths.map((path) => this.#look(session, path, { signal, watch })),
        );
        // Before the first report there is nothing to repeat.
        const options = { tickMs: reports.length > 0 ? tickMs : undefined, signal };
        reports = yield* tickUntil(looking, tick, options);
        const changed = reports.filter((report) => this.#isNews(report));
        if (changed.length > 0) yield { reports, changed, ...answers.now() };
        while (!(await isSetWithin(wakeUp, signal, tickMs))) yield tick();
        await nextRound;
      }
    } finally {
      answers.stop();
      // Not awaited: a slow server must not delay the end of the command.
      if (!isLost)
        for (const path of this.#touched) session.removeWatch(path, watch).catch(() => {});
      this.#known.clear();
      this.#touched.clear();
      this.#watchedHolders.clear();
    }
  }

  async #look(session: Session, path: string, options: Watching): Promise<LockReport> {
    for (const part of [
      path,
      joinPath(path, "leases"),
      joinPath(path, "locks"),
      `${path}-__lock__`,
    ]) {
      this.#touched.add(part);
    }
    const known = this.#known.get(path) ?? new Map();
    this.#known.set(path, known);
    for (;;) {
      const report = await inspectLock(session, path, { ...options, known });
      const nodes = report.holders.slice(0, WATCHED_HOLDERS).map(({ node }) => node);
      const unwatched = nodes.filter((node) => !this.#watchedHolders.has(node));
      if (unwatched.length === 0) return report;
      // A change between inspectLock() and the watch would be missed, so inspect again with the
      // watch set.
      await Promise.all(unwatched.map((node) => this.#watchHolder(session, node, options)));
    }
  }

  async #watchHolder(session: Session, node: string, options: Watching): Promise<void> {
    this.#touched.add(node);
    this.#watchedHolders.add(node);
    this.#forget(node);
    try {
      await session.getData(node, options);
    } catch (error) {
      if (!(error instanceof NoNodeError) && !(error instanceof PermissionError)) throw error;
    }
  }

  /** The next inspectLock() reads the ticket again. */
  #forget(node: string): void {
    for (const tickets of this.#known.values()) tickets.delete(node);
  }

  #isNews(report: LockReport): boolean {
    const { path, exists, limit, holders, waiters } = report;
    const tickets = [holders, waiters].map((all) =>
      all.map(({ node, acquiredAt, revoke }) => [node, acquiredAt, revoke]),
    );
    const text = JSON.stringify([exists, limit, tickets]);
    const isNews = this.#told.get(path) !== text;
    this.#told.set(path, text);
    return isNews;
  }
}

/** Returns false if `withinMs` passed first. */
async function isSetWithin(
  event: AutoResetEvent,
  signal: AbortSignal,
  withinMs: number | undefined,
): Promise<boolean> {
  if (withinMs === undefined) {
    await event.wait(signal);
    return true;
  }
  const late = new Error("no event in time");
  const limited = limitWait(signal, withinMs, () => late);
  try {
    await event.wait(limited.signal);
    return true;
  } catch (error) {
    if (error !== late) throw error;
    return false;
  } finally {
    limited.end();
  }
}
