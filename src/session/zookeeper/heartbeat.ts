import type { Instant, Liveness } from "./liveness.ts";

export interface HeartbeatEvents {
  ping(): void;
  /** The connection must be given up: nothing was heard for too long. */
  silent(why: string): void;
  /** The session must be given up: by the clock a server may have expired it. */
  expired(): void;
}

/**
 * The timers of a session: pings, the limit on silence, and the end by our own clock. One timer, set to whatever comes
 * first. Pings go by the time since the last *send*: a busy inbound side proves to the server nothing about us.
 */
export class Heartbeat {
  readonly #liveness: Liveness;
  readonly #events: HeartbeatEvents;
  #timer: NodeJS.Timeout | undefined;
  #timeoutMs = 0;
  #attached = false;
  #lastHeard = 0;
  #lastSent = 0;
  /** When a request (not a ping) was last answered. */
  #lastProgress = 0;
  #oldestSentAt: () => Instant | undefined;

  constructor(liveness: Liveness, oldestSentAt: () => Instant | undefined, events: HeartbeatEvents) {
    this.#liveness = liveness;
    this.#oldestSentAt = oldestSentAt;
    this.#events = events;
  }

  /** A server has accepted the session. */
  attach(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
    this.#attached = true;
    const { mono } = this.#liveness.now();
    this.#lastHeard = this.#lastSent = this.#lastProgress = mono;
    this.#schedule();
  }

  /** The connection is gone; only the session's own end is waited for. */
  detach(): void {
    this.#attached = false;
    this.#schedule();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#attached = false;
    this.#timeoutMs = 0;
  }

  heard(now: number): void {
    this.#lastHeard = now;
  }

  sent(now: number): void {
    this.#lastSent = now;
  }

  progressed(now: number): void {
    this.#lastProgress = now;
  }

  // A little under 2/3, so that a timer that fires late still keeps the promise of 2/3.
  get #silenceMs(): number {
    return this.#timeoutMs * 0.65;
  }

  get #pingMs(): number {
    return Math.min(this.#timeoutMs / 3, 10_000);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#timeoutMs === 0) return;
    const now = this.#liveness.now().mono;
    let wait = this.#liveness.monotonicLeftMs();
    if (this.#attached) {
      wait = Math.min(wait, this.#lastHeard + this.#silenceMs - now, this.#lastSent + this.#pingMs - now);
    }
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(wait)));
  }

  #check(): void {
    if (this.#liveness.monotonicLeftMs() <= 0) return this.#despair();
    const now = this.#liveness.now().mono;
    if (this.#attached) {
      if (now - this.#lastHeard >= this.#silenceMs) return this.#doubt();
      const since = Math.max(this.#oldestSentAt()?.mono ?? now, this.#lastProgress);
      if (now - since >= this.#timeoutMs) return this.#events.silent("pings are answered, requests are not");
      // Also when the wall clock alone has run away: the machine slept, or the clock was set. An answer tells which.
      if (now - this.#lastSent >= this.#pingMs || !this.#liveness.isAlive()) this.#events.ping();
    }
    this.#schedule();
  }

  /** The same for the session's life: an answer to a late request may be waiting, and would prove it alive. */
  #despair(): void {
    setImmediate(() => {
      if (this.#timeoutMs === 0) return;
      if (this.#liveness.monotonicLeftMs() > 0) return this.#schedule();
      this.#events.expired();
    });
  }

  /** The process may have been paused with the answer waiting in the socket: let it be read before judging. */
  #doubt(): void {
    const heardBefore = this.#lastHeard;
    setImmediate(() => {
      if (!this.#attached) return;
      if (this.#lastHeard !== heardBefore) return this.#schedule();
      this.#events.silent(`nothing heard for ${Math.round(this.#liveness.now().mono - heardBefore)} ms`);
    });
  }
}
