/**
 * Polls all locks below some paths. Sets no watches: there may be thousands of locks. The pause
 * between two polls grows with the number of contenders and with the duration of a poll, so that
 * many boards on one ensemble stay cheap.
 */
import { setTimeout as pause } from "node:timers/promises";
import { NoNodeError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import type { Follower, Notice } from "../../watching/watched-changes.ts";
import { type Answered, Answers, tickUntil } from "./answers.ts";
import { type Deadlock, findDeadlocks } from "./deadlocks.ts";
import { findLocks } from "./find-locks.ts";
import type { LockReport, QueueMember } from "./inspect-lock.ts";

export interface BoardChange extends Answered {
  /** The busiest first: most waiters, then the longest wait. */
  readonly reports: readonly LockReport[];
  readonly deadlocks: readonly Deadlock[];
  /**
   * The locks that have changed since the last poll; a lock that is free again has no holders and
   * no waiters.
   */
  readonly changed: readonly LockReport[];
  readonly newDeadlocks: readonly Deadlock[];
  /** In milliseconds since the epoch. */
  readonly lookedAt: number;
  readonly nextLookAt: number;
}

type Looked = Pick<BoardChange, "reports" | "deadlocks" | "lookedAt" | "nextLookAt">;

const NO_NEWS = { changed: [], newDeadlocks: [] } as const;

const LEAST_PAUSE_MS = 2_000;
const PAUSE_PER_CONTENDER_MS = 100;
/**
 * The pause is at least nine times the duration of a poll: polling takes a tenth of the time at
 * most.
 */
const PAUSE_PER_LOOK = 9;

export class BoardFollower implements Follower<BoardChange | Notice> {
  readonly path: string;
  readonly #roots: readonly string[];
  readonly #tickMs: number | undefined;
  #told: ReadonlyMap<string, string> | undefined;
  #toldDeadlocks: ReadonlySet<string> = new Set();
  readonly #unreadable = new Set<string>();

  /** `tickMs`: yield at least this often, also without a change, for views that show ages. */
  constructor(roots: readonly string[], tickMs?: number) {
    this.path = roots[0] ?? "/";
    this.#roots = roots;
    this.#tickMs = tickMs;
  }

  async *follow(session: Session, signal: AbortSignal): AsyncGenerator<BoardChange | Notice> {
    const answers = new Answers(session);
    try {
      yield* this.#lookAgainAndAgain(session, answers, signal);
    } finally {
      answers.stop();
    }
  }

  async *#lookAgainAndAgain(
    session: Session,
    answers: Answers,
    signal: AbortSignal,
  ): AsyncGenerator<BoardChange | Notice> {
    const tickMs = this.#tickMs;
    let looked: Looked | undefined;
    for (;;) {
      const startedAt = Date.now();
      const notices: Notice[] = [];
      const before = looked;
      const again = (): BoardChange | Notice => ({
        ...(before as Looked),
        ...NO_NEWS,
        ...answers.now(),
      });
      const options = { tickMs: before && tickMs, signal };
      const reports = yield* tickUntil(this.#look(session, signal, notices), again, options);
      yield* notices;
      const lookedAt = Date.now();
      // Time without an answering server is no load, so it does not make the pause longer.
      const lookMs = answers.haveComeSince(startedAt) ? lookedAt - startedAt : 0;
      const nextLookAt = lookedAt + pauseAfter(reports, lookMs);
      const deadlocks = findDeadlocks(reports);
      looked = { reports: busiestFirst(reports), deadlocks, lookedAt, nextLookAt };
      const isFirst = this.#told === undefined;
      const [changed, newDeadlocks] = [this.#changed(reports), this.#newDeadlocks(deadlocks)];
      if (isFirst || changed.length + newDeadlocks.length > 0)
        yield { ...looked, changed, newDeadlocks };
      for (let left = nextLookAt - Date.now(); left > 0; left = nextLookAt - Date.now()) {
        await pause(Math.min(left, tickMs ?? left), undefined, { signal });
        if (tickMs !== undefined) yield { ...looked, ...NO_NEWS, ...answers.now() };
      }
    }
  }

  async #look(session: Session, signal: AbortSignal, notices: Notice[]): Promise<LockReport[]> {
    const onFailure = (path: string, error: Error) => {
      if (this.#unreadable.has(path)) return;
      this.#unreadable.add(path);
      notices.push({ event: "unreadable", path, error });
    };
    const found = new Map<string, LockReport>();
    for (const root of this.#roots) {
      try {
        for (const report of await findLocks(session, root, { signal, onFailure }))
          found.set(report.path, report);
      } catch (error) {
        if (!(error instanceof NoNodeError)) throw error;
      }
    }
    return [...found.values()];
  }

  #changed(reports: readonly LockReport[]): LockReport[] {
    const before = this.#told ?? new Map<string, string>();
    const now = new Map(reports.map((report) => [report.path, fingerprint(report)]));
    this.#told = now;
    const gone = [...before.keys()].filter((path) => !now.has(path)).map(free);
    return [...reports.filter(({ path }) => before.get(path) !== now.get(path)), ...gone];
  }

  #newDeadlocks(deadlocks: readonly Deadlock[]): Deadlock[] {
    const before = this.#toldDeadlocks;
    const key = (deadlock: Deadlock) => deadlock.map(({ waiter }) => waiter.node).join(" ");
    this.#toldDeadlocks = new Set(deadlocks.map(key));
    return deadlocks.filter((deadlock) => !before.has(key(deadlock)));
  }
}

/** Two reports differ if this text differs: limit, holders, waiters and revoke requests. */
function fingerprint({ limit, holders, waiters }: LockReport): string {
  const tickets = (all: readonly QueueMember[]) =>
    all.map(({ node, acquiredAt, revoke }) => [node, acquiredAt, revoke]);
  return JSON.stringify([limit, tickets(holders), tickets(waiters)]);
}

function free(path: string): LockReport {
  return { path, exists: true, layouts: [], holders: [], waiters: [], incompatibleTickets: [] };
}

function pauseAfter(reports: readonly LockReport[], lookMs: number): number {
  const contenders = reports.reduce(
    (sum, { holders, waiters }) => sum + holders.length + waiters.length,
    0,
  );
  return Math.max(LEAST_PAUSE_MS, PAUSE_PER_CONTENDER_MS * contenders, PAUSE_PER_LOOK * lookMs);
}

export function longestWaitSince({ waiters }: LockReport): number | undefined {
  return waiters.reduce<number | undefined>(
    (first, { queuedAt }) => Math.min(first ?? queuedAt, queuedAt),
    undefined,
  );
}

function busiestFirst(reports: readonly LockReport[]): LockReport[] {
  const since = new Map(
    reports.map((report) => [report, longestWaitSince(report) ?? Number.POSITIVE_INFINITY]),
  );
  const order = (a: LockReport, b: LockReport) =>
    b.waiters.length - a.waiters.length ||
    compare(since.get(a), since.get(b)) ||
    (a.path < b.path ? -1 : 1);
  return [...reports].sort(order);
}

function compare(a = 0, b = 0): number {
  return a === b ? 0 : a - b;
}
