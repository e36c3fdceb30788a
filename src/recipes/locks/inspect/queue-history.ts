/**
 * The history of a watched queue: since when each contender has waited and held, and when it left.
 * Contenders that have left are kept for {@link HISTORY_MS}, and at most {@link MAX_LEFT} of them,
 * to bound the memory.
 */
import type { LockReport, QueueMember } from "./inspect-lock.ts";

/** One contender's time in the queue, in milliseconds since the epoch. */
export interface Stay {
  /** The contender in the last report that contained it. */
  readonly contender: QueueMember;
  /** The token of its first ticket, which gives the order of arrival. */
  readonly order: bigint;
  readonly queuedAt: number;
  /** Undefined while it waits. */
  readonly heldAt?: number;
  /** Undefined while its ticket exists. */
  readonly leftAt?: number;
}

/** The data of the timelines of the watched locks. */
export interface Timeline {
  /** When the watch began, in milliseconds since the epoch. */
  readonly since: number;
  /** By lock path, each in the order of arrival. */
  readonly stays: ReadonlyMap<string, readonly Stay[]>;
}

export const HISTORY_MS = 10 * 60_000;
const MAX_LEFT = 500;

export class QueueHistory {
  /** The stays of the present contenders, by ticket. */
  #present = new Map<string, Stay>();
  /** The stays of contenders that have left, in the order of leaving. */
  #left: readonly Stay[] = [];
  #lookedAt: number | undefined;

  /** Returns all stays in the order of arrival. */
  stays(): Stay[] {
    return [...this.#left, ...this.#present.values()].sort((a, b) => (a.order < b.order ? -1 : 1));
  }

  record({ holders, waiters }: LockReport, at: number): void {
    const before = this.#present;
    this.#present = new Map();
    const gone = new Map(before);
    for (const { node } of [...holders, ...waiters]) gone.delete(node);
    for (const contender of holders) this.#see(contender, true, before, gone, at);
    for (const contender of waiters) this.#see(contender, false, before, gone, at);
    const left = [...this.#left, ...[...gone.values()].map((stay) => ({ ...stay, leftAt: at }))];
    this.#left = left
      .filter(({ leftAt }) => leftAt !== undefined && leftAt > at - HISTORY_MS)
      .slice(-MAX_LEFT);
    this.#lookedAt = at;
  }

  #see(
    contender: QueueMember,
    isHolder: boolean,
    before: ReadonlyMap<string, Stay>,
    gone: Map<string, Stay>,
    at: number,
  ): void {
    const known = before.get(contender.node) ?? takeOver(contender, gone);
    // The server's clock says when the contender came; our clock says between which two reports.
    // The value is clamped to that interval, because clocks differ.
    const queuedAt = known?.queuedAt ?? clamp(contender.queuedAt, this.#lookedAt ?? 0, at);
    const order = known?.order ?? contender.token;
    const heldAt = known
      ? (known.heldAt ?? at)
      : clamp(contender.acquiredAt ?? queuedAt, queuedAt, at);
    this.#present.set(contender.node, { contender, order, queuedAt, ...(isHolder && { heldAt }) });
  }
}

/** One history for each of the watched locks. */
export class QueueHistories {
  readonly #since: number;
  readonly #histories = new Map<string, QueueHistory>();
  #stays: ReadonlyMap<string, readonly Stay[]> = new Map();

  constructor(since: number) {
    this.#since = since;
  }

  update(changed: readonly LockReport[], at: number): Timeline {
    for (const report of changed) {
      const history = this.#histories.get(report.path) ?? new QueueHistory();
      this.#histories.set(report.path, history);
      history.record(report, at);
    }
    if (changed.length > 0) {
      this.#stays = new Map([...this.#histories].map(([path, history]) => [path, history.stays()]));
    }
    return { since: this.#since, stays: this.#stays };
  }
}

/**
 * A contender for a permit replaces its ticket below `locks` by one below `leases`; both are one
 * stay.
 */
function takeOver({ mode, session }: QueueMember, gone: Map<string, Stay>): Stay | undefined {
  if (mode !== "semaphore") return undefined;
  for (const [node, stay] of gone) {
    if (stay.contender.session !== session || stay.heldAt !== undefined) continue;
    gone.delete(node);
    return stay;
  }
  return undefined;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
