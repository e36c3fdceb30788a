import type { CallOptions, Committed, MultiOp, Session } from "../../session/session.ts";
import type { HeldLock } from "./held-lock.ts";
import type { RevokeRequest } from "./holder-record.ts";
import type { Removed } from "./queue/remove-znodes.ts";

/**
 * Several locks that are held as one: lost when any of them is, and released together.
 *
 * @example
 * ```ts
 * const held = await new MultiLock(session, ["/locks/a", "/locks/b"]).acquire();
 * const tokens = held.locks.map(({ fencingToken }) => fencingToken);
 * await held.release();
 * ```
 */
export class HeldLocks {
  /** In the order of their paths; each has its own token. */
  readonly locks: readonly HeldLock[];
  readonly waitedMs: number;
  readonly #session: Session;
  readonly #lost = new AbortController();

  constructor(session: Session, locks: readonly HeldLock[], waitedMs: number) {
    this.#session = session;
    this.locks = locks;
    this.waitedMs = waitedMs;
    for (const { signal } of locks) {
      const lose = () => this.#lost.abort(signal.reason);
      if (signal.aborted) lose();
      else signal.addEventListener("abort", lose, { once: true });
    }
  }

  /** Aborted when the first of them is lost, with the LockError that says how. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** True while all of them are held, judged by the lease. */
  isHeld(): boolean {
    return this.locks.every((lock) => lock.isHeld());
  }

  /** Milliseconds for which all are certainly held if nothing is ever heard again. */
  heldForMs(): number {
    return Math.min(...this.locks.map((lock) => lock.heldForMs()));
  }

  /** Told when a client asks for any of them. Returns the function that stops telling. */
  onRevoke(listener: (request: RevokeRequest) => void): () => void {
    const stops = this.locks.map((lock) => lock.onRevoke(listener));
    return () => {
      for (const stop of stops) stop();
    };
  }

  /**
   * As `multi`, but nothing happens unless all of them are still held when the server carries it
   * out.
   */
  async fenced(ops: readonly MultiOp[], options?: CallOptions): Promise<Committed> {
    const checks = this.locks.flatMap((lock) => lock.checks());
    try {
      const { results, zxid } = await this.#session.multi([...checks, ...ops], options);
      return { results: results.slice(checks.length), zxid };
    } catch (error) {
      throw this.locks.reduce((why, lock) => lock.explain(why), error);
    }
  }

  /**
   * Gives all of them back, the last one first, in one flight. `expiry`: the session ended before
   * all were confirmed.
   */
  async release(): Promise<Removed> {
    const how = await Promise.all([...this.locks].reverse().map((lock) => lock.release()));
    if (how.includes("expiry")) return "expiry";
    return how.includes("missing") ? "missing" : "delete";
  }
}
