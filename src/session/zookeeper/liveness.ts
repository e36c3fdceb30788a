/**
 * The session's own clock. The server counts a session's timeout from the last request it received; the client cannot
 * know that moment, but it knows when it *sent* the last request that was answered, which is earlier. Counted from
 * there, the session is given up before any server can have expired it, also when no server can be reached to ask.
 */

/** One moment on both clocks. Linux's monotonic clock stops while the machine sleeps; the wall clock can be set. */
export interface Instant {
  readonly mono: number;
  readonly wall: number;
}

export interface Clock {
  now(): Instant;
}

export const systemClock: Clock = {
  now: () => ({ mono: performance.now(), wall: Date.now() }),
};

/**
 * How much earlier than the server we give up. A follower tells the leader of the sessions it heard from every half
 * tick; if it dies in between, the leader's account of us is that much older than ours. Half a tick is 1 s with the usual
 * tickTime of 2 s, and at most a quarter of the session timeout, which is at least two ticks. The 5 % covers clocks that
 * run at different speeds and timers that fire late.
 */
export function safetyMarginMs(timeoutMs: number): number {
  return Math.max(timeoutMs * 0.05, Math.min(timeoutMs / 4, 1000));
}

export class Liveness {
  readonly #clock: Clock;
  #timeoutMs = 0;
  #acknowledged: Instant | undefined;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** A handshake sent at `sentAt` was accepted with this timeout. */
  start(timeoutMs: number, sentAt: Instant): void {
    this.#timeoutMs = timeoutMs;
    this.acknowledged(sentAt);
  }

  /** A request sent at `sentAt` has been answered. */
  acknowledged(sentAt: Instant): void {
    if (this.#acknowledged === undefined || sentAt.mono > this.#acknowledged.mono) this.#acknowledged = sentAt;
  }

  now(): Instant {
    return this.#clock.now();
  }

  /** False as soon as either clock says that a server may have expired the session. */
  isAlive(): boolean {
    return this.aliveForMs() > 0;
  }

  aliveForMs(): number {
    const { mono, wall } = this.#clock.now();
    return Math.max(0, Math.min(this.#left("mono", mono), this.#left("wall", wall)));
  }

  /** What is left by the clock that nobody can set: the session ends when this reaches 0. */
  monotonicLeftMs(): number {
    return Math.max(0, this.#left("mono", this.#clock.now().mono));
  }

  #left(which: keyof Instant, now: number): number {
    if (this.#acknowledged === undefined) return 0;
    return this.#acknowledged[which] + this.#timeoutMs - safetyMarginMs(this.#timeoutMs) - now;
  }
}
