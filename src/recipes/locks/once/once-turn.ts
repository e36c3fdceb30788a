import { NoNodeError } from "../../../errors.ts";
import type { MultiOp, Session } from "../../../session/session.ts";
import type { LockListener } from "../events.ts";
import type { HeldLock } from "../held-lock.ts";
import type { RevokeRequest } from "../holder-record.ts";
import type { Removed } from "../queue/remove-znodes.ts";
import { isUnanswered, untilAnswered } from "../queue/retry-unanswered.ts";
import type { Period } from "./period.ts";
import { encodeRun, type RunRecord, readRuns, runsPath } from "./runs.ts";

export interface OnceTurnOptions {
  readonly session: Session;
  readonly held: HeldLock;
  /** The znode of this run's record. */
  readonly node: string;
  readonly record: RunRecord;
  readonly period: Period;
  readonly attempt: number;
  readonly onEvent: LockListener | undefined;
}

/** The job is to be run now, under a lock that no other host holds. */
export class OnceTurn {
  readonly kind = "run";
  readonly period: Period;
  /** 1 for the first run of the period. */
  readonly attempt: number;
  readonly locks: readonly HeldLock[];
  readonly #options: OnceTurnOptions;
  readonly #held: HeldLock;

  constructor(options: OnceTurnOptions) {
    this.#options = options;
    this.#held = options.held;
    this.locks = [options.held];
    this.period = options.period;
    this.attempt = options.attempt;
  }

  /** Aborts when the lock is lost: the job must end. */
  get signal(): AbortSignal {
    return this.#held.signal;
  }

  heldForMs(): number {
    return this.#held.heldForMs();
  }

  onRevoke(listener: (request: RevokeRequest) => void): () => void {
    return this.#held.onRevoke(listener);
  }

  /**
   * Records how the job ended and releases the lock, in one transaction. Without a code the
   * job was not run, and its record is deleted. Where it resolves to another word than `delete`, the
   * lock had been lost before: nothing was recorded, and the run counts as failed.
   */
  async finish(code: number | undefined): Promise<Removed> {
    const held = this.#held;
    const { path, nodePath: node } = held;
    try {
      await held.exchange(() => this.#commit(code));
    } catch (error) {
      const how = await held.release();
      // The lock was held, and yet the run could not be recorded: not permitted, for example.
      if (how === "delete") throw error;
      return how;
    }
    this.#options.onEvent?.({ event: "released", path, how: "delete", node });
    return "delete";
  }

  async #commit(code: number | undefined): Promise<void> {
    const { session, node } = this.#options;
    const tickets = this.#held.nodePaths.map((path): MultiOp => ({ op: "delete", path }));
    let recording = this.#recording(code);
    for (let hasLost = false, isNew = false; ; ) {
      try {
        await session.multi([...recording, ...tickets]);
        return;
      } catch (error) {
        hasLost ||= isUnanswered(error);
        // After a lost reply a missing znode can be one that the first request has deleted.
        if (hasLost && (await this.#isCommitted(code))) return;
        if (isUnanswered(error)) continue;
        if (isNew || !(error instanceof NoNodeError) || error.path !== node) throw error;
        // Another client has deleted the record of this run: a new one takes its place.
        recording = this.#newRecord(code);
        isNew = true;
      }
    }
  }

  #recording(code: number | undefined): MultiOp[] {
    const { node: path, record } = this.#options;
    if (code === undefined) return [{ op: "delete", path }];
    return [{ op: "setData", path, data: encodeRun({ ...record, exit: code }) }];
  }

  #newRecord(code: number | undefined): MultiOp[] {
    if (code === undefined) return [];
    const path = `${runsPath(this.#held.path)}/run-`;
    const data = encodeRun({ ...this.#options.record, exit: code });
    return [{ op: "create", path, data, mode: "persistentSequential" }];
  }

  async #isCommitted(code: number | undefined): Promise<boolean> {
    const { session } = this.#options;
    const { path, fencingToken } = this.#held;
    // The server that answers now may be behind the one that carried the transaction out.
    await untilAnswered(() => session.sync(path));
    const runs = await readRuns(session, path);
    const own = runs.find(({ token }) => token === fencingToken);
    return code === undefined ? own === undefined : own?.code === code;
  }
}
