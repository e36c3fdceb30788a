import { NoNodeError, UsageError } from "../../../errors.ts";
import type { MultiOp, MultiResult, Session } from "../../../session/session.ts";
import type { HeldLock } from "../held-lock.ts";
import type { AcquireOptions, LockOptions } from "../lock-recipe.ts";
import { Mutex } from "../mutex.ts";
import { makePaths } from "../queue/create-lock-path.ts";
import { isUnanswered, untilAnswered } from "../queue/retry-unanswered.ts";
import { OnceTurn } from "./once-turn.ts";
import { isSamePeriod, type Per, type Period, periodAt } from "./period.ts";
import { encodeRun, findRun, type Run, type RunRecord, readRuns, runsPath } from "./runs.ts";

export interface OnceOptions extends Omit<LockOptions, "data" | "compat"> {
  readonly per: Per;
  /** How often a failed run of one period may be repeated, by any host. 0 unless told otherwise. */
  readonly retries?: number;
  /** How many records are kept; those of the present period always are. 10 unless told otherwise. */
  readonly keep?: number;
}

/** There is nothing to run: in this period the job has succeeded, or failed for the last time. */
export interface OnceFound {
  readonly kind: "done" | "failed";
  readonly period: Period;
  /** The run that succeeded, or the last that failed. */
  readonly run: Run;
  /** How many runs there were in this period. */
  readonly attempts: number;
}

const KEEP = 10;

/**
 * One successful run in each period, whichever host comes first. Hosts queue for a lock at `path`;
 * its holder looks at the records of the period, and either runs the job or finds it done. The
 * record of a run is completed in the transaction that releases the lock, so a run is recorded if
 * and only if its lock was held to the end; one whose host crashed counts as failed.
 *
 * @example
 * ```ts
 * const claim = await new Once(session, "/cron/backup", { per: { lengthMs: 86_400_000 } }).claim();
 * if (claim.kind === "run") {
 *   const isDone = await backup({ signal: claim.signal });
 *   await claim.finish(isDone ? 0 : 1);
 * }
 * ```
 */
export class Once {
  readonly path: string;
  readonly #session: Session;
  readonly #options: OnceOptions;
  readonly #mutex: Mutex;

  constructor(session: Session, path: string, options: OnceOptions) {
    const { per, retries = 0 } = options;
    if (!(per.lengthMs >= 1))
      throw new UsageError(`bad period of ${per.lengthMs} ms: at least 1 ms`);
    if (!Number.isInteger(retries) || retries < 0)
      throw new UsageError(`bad number of retries ${retries}: 0 or more`);
    this.path = path;
    this.#session = session;
    this.#options = options;
    this.#mutex = new Mutex(session, path, options);
  }

  /**
   * Waits for its turn, and tells whether the job is to be run. The period is that in which the
   * host came to the queue, by ZooKeeper's clock. Throws as {@link Mutex.acquire}.
   */
  async claim(options: AcquireOptions = {}): Promise<OnceTurn | OnceFound> {
    const held = await this.#mutex.acquire(options);
    try {
      const claimed = await this.#decide(held, options);
      if (claimed.kind !== "run") await held.release();
      return claimed;
    } catch (error) {
      held.release().catch(() => {});
      throw error;
    }
  }

  async #decide(held: HeldLock, { signal }: AcquireOptions): Promise<OnceTurn | OnceFound> {
    const { per, retries = 0 } = this.#options;
    const [stat, runs] = await Promise.all([
      untilAnswered(() => this.#session.exists(held.nodePath, { signal })),
      readRuns(this.#session, this.path, { signal }),
    ]);
    if (stat === undefined)
      throw held.explain(new NoNodeError("no-node", "", { path: held.nodePath }));
    const period = periodAt(stat.ctime, per);
    const ofPeriod = runs.filter((run) => isSamePeriod(run.period, period));
    const attempts = ofPeriod.length;
    const done = ofPeriod.find(({ code }) => code === 0);
    if (done) return { kind: "done", period, run: done, attempts };
    const last = ofPeriod.at(-1);
    if (last && attempts > retries) return { kind: "failed", period, run: last, attempts };
    const record = this.#record(held, period);
    const node = await this.#begin(held, record);
    await this.#prune(runs, period);
    return new OnceTurn({
      session: this.#session,
      held,
      node,
      record,
      period,
      attempt: attempts + 1,
      onEvent: this.#options.onEvent,
    });
  }

  #record(held: HeldLock, { beginMs, endMs }: Period): RunRecord {
    const { who, host, pid, cmd, tool = "zksh" } = this.#options.holder ?? {};
    const ticket = held.nodePath.slice(held.nodePath.lastIndexOf("/") + 1);
    const token = String(held.fencingToken);
    return { v: 1, tool, begin: beginMs, end: endMs, token, ticket, who, host, pid, cmd };
  }

  /** Records that the run begins, while the lock is held. Returns the record's znode. */
  async #begin(held: HeldLock, record: RunRecord): Promise<string> {
    const { acl, pathAcl = acl } = this.#options;
    const path = runsPath(this.path);
    const create: MultiOp = {
      op: "create",
      path: `${path}/run-`,
      data: encodeRun(record),
      mode: "persistentSequential",
      ...(acl && { acl }),
    };
    for (let hasMade = false; ; ) {
      try {
        const { results } = await held.fenced([create]);
        return createdPath(results);
      } catch (error) {
        if (isUnanswered(error)) {
          const node = await findRun(this.#session, this.path, held.fencingToken);
          if (node !== undefined) return node;
        } else if (error instanceof NoNodeError && !hasMade) {
          await makePaths(this.#session, [{ path, acl: pathAcl }], "persistent");
          hasMade = true;
        } else throw error;
      }
    }
  }

  /** Deletes the oldest records. One that cannot be deleted is tried again by the next run. */
  async #prune(runs: readonly Run[], period: Period): Promise<void> {
    const { keep = KEEP } = this.#options;
    const old = runs.filter((run) => !isSamePeriod(run.period, period));
    // The new run is one of those that are kept.
    const most = Math.max(0, keep - 1 - (runs.length - old.length));
    const tooMany = old.slice(0, Math.max(0, old.length - most));
    await Promise.allSettled(tooMany.map(({ node }) => this.#session.delete(node)));
  }
}

function createdPath(results: readonly MultiResult[]): string {
  const created = results.find((result) => result.op === "create");
  if (created?.op !== "create") throw new Error("the record was not created");
  return created.path;
}
