/**
 * Watches queues. Makes nothing.
 *
 * Each round looks at the locks with one-shot watches on all that a look has listed, and on what
 * the holders have written; a change that comes while the round is under way rings for the next
 * one. Rounds keep a distance, so that a busy queue is told as it is a few times a second. The
 * session sets the watches again after a reconnect. Leaving the loop takes them off.
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

/** All the locks as they are now, and those among them that have changed. */
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
 * A semaphore may have many holders; what they write is of less interest than that they come and
 * go.
 */
const WATCHED_HOLDERS = 32;

export class QueueFollower implements Follower<QueueChange> {
  readonly path: string;
  readonly #paths: readonly string[];
  readonly #tickMs: number | undefined;
  readonly #told = new Map<string, string>();
  /** What is known of the tickets of each lock; of a long queue little changes at a time. */
  readonly #known = new Map<string, Map<string, Data>>();
  readonly #watchedHolders = new Set<string>();
  /** Wherever there may be a watch of ours. */
  readonly #touched = new Set<string>();

  /**
   * `tickMs`: how often to tell even though nothing has changed, for those who show how long ago
   * something was.
   */
  constructor(paths: readonly string[], tickMs?: number) {
    this.path = paths[0] ?? "/";
    this.#paths = paths;
    this.#tickMs = tickMs;
  }

  async *follow(session: Session, signal: AbortSignal): AsyncGenerator<QueueChange> {
    const bell = new AutoResetEvent();
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
      bell.ring();
    };
    try {
      while (!isLost) {
        const nextRound = pause(ROUND_MS, undefined, { signal });
        nextRound.catch(() => {});
        const looking = Promise.all(
          this.#paths.map((path) => this.#look(session, path, { signal, watch })),
        );
        // Before the first look there is nothing to show again.
        const options = { tickMs: reports.length > 0 ? tickMs : undefined, signal };
        reports = yield* tickUntil(looking, tick, options);
        const changed = reports.filter((report) => this.#isNews(report));
        if (changed.length > 0) yield { reports, changed, ...answers.now() };
        while (!(await isHeard(bell, signal, tickMs))) yield tick();
        await nextRound;
      }
    } finally {
      answers.stop();
      // Not awaited: leaving must not take longer because a server is slow.
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
      // What a holder writes between the look and the watch would be missed: once it is watched,
      // look again.
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

  /** It is to be read again. */
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

/** False when the time is up and nothing was heard. */
async function isHeard(
  bell: AutoResetEvent,
  signal: AbortSignal,
  withinMs: number | undefined,
): Promise<boolean> {
  if (withinMs === undefined) {
    await bell.heard(signal);
    return true;
  }
  const late = new Error("nothing was heard");
  const limited = limitWait(signal, withinMs, () => late);
  try {
    await bell.heard(limited.signal);
    return true;
  } catch (error) {
    if (error !== late) throw error;
    return false;
  } finally {
    limited.end();
  }
}
