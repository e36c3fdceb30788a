import { beatMs, type Liveness } from "./liveness.ts";

export interface HeartbeatEvents {
  /** When the oldest request without an answer was sent; undefined when there is none. */
  readonly oldestSentAt: number | undefined;
  /**
   * Something must be sent that shows the leader we live, and whose answer shows us that it knows.
   */
  beat(): void;
  /** The connection must be given up: nothing was heard for too long. */
  silent(why: string): void;
  /** The session must be given up: by the clock a server may have expired it. */
  expiredByClock(): void;
}

/**
 * The timers of a session: heartbeats, the limit on silence, and the end by our own clock. One
 * timer, set to the earliest of them. Beats keep their pace when other requests are sent or
 * answered: reads prove nothing (see Liveness).
 */
export class Heartbeat {
  readonly #liveness: Liveness;
  readonly #events: HeartbeatEvents;
  #timer: NodeJS.Timeout | undefined;
  #timeoutMs = 0;
  #attached = false;
  #attachedAt = 0;
  #lastHeard = 0;
  #lastBeat = 0;

  constructor(liveness: Liveness, events: HeartbeatEvents) {
    this.#liveness = liveness;
    this.#events = events;
  }

  /** A server has accepted the session. */
  attach(timeoutMs: number): void {
    this.#timeoutMs = timeoutMs;
    this.#attached = true;
    this.#lastHeard = this.#lastBeat = this.#attachedAt = this.#liveness.now();
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

  /** Sends the next beat now, and the others at their pace behind it. */
  beatNow(): void {
    if (!this.#attached) return;
    this.#lastBeat = this.#liveness.now();
    this.#events.beat();
    this.#schedule();
  }

  heard(now: number): void {
    this.#lastHeard = now;
  }

  // Well under the promised 2/3: the session's life ends at about 0.7, and another server has to be
  // found before that.
  get #silenceMs(): number {
    return this.#timeoutMs * 0.4;
  }

  /** What left with a handshake is looked at when that has been answered, however long it took. */
  #unansweredSince(now: number): number {
    return Math.max(this.#events.oldestSentAt ?? now, this.#attachedAt);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#timeoutMs === 0) return;
    const now = this.#liveness.now();
    let wait = this.#liveness.aliveForMs();
    if (this.#attached) {
      const silentSince = Math.min(this.#lastHeard, this.#unansweredSince(now));
      wait = Math.min(
        wait,
        silentSince + this.#silenceMs - now,
        this.#lastBeat + beatMs(this.#timeoutMs) - now,
      );
    }
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(wait)));
  }

  #check(): void {
    if (this.#liveness.aliveForMs() <= 0) return this.#checkExpiry();
    const now = this.#liveness.now();
    if (this.#attached) {
      if (now - this.#lastHeard >= this.#silenceMs) return this.#checkSilence();
      // Events alone are no answer: a server that leaves a beat unanswered is of no use.
      if (now - this.#unansweredSince(now) >= this.#silenceMs)
        return this.#events.silent("the server sends, but it does not answer");
      if (now - this.#lastBeat >= beatMs(this.#timeoutMs)) {
        this.#lastBeat = now;
        this.#events.beat();
      }
    }
    this.#schedule();
  }

  /**
   * An answer to a late request may be waiting in the socket, and would prove the session alive: it
   * is read before the session is given up.
   */
  #checkExpiry(): void {
    setImmediate(() => {
      if (this.#timeoutMs === 0) return;
      if (this.#liveness.aliveForMs() > 0) return this.#schedule();
      this.#events.expiredByClock();
    });
  }

  /**
   * The process may have been paused with the answer waiting in the socket: let it be read before
   * judging.
   */
  #checkSilence(): void {
    const heardBefore = this.#lastHeard;
    setImmediate(() => {
      if (!this.#attached) return;
      if (this.#lastHeard !== heardBefore) return this.#schedule();
      this.#events.silent(`nothing heard for ${Math.round(this.#liveness.now() - heardBefore)} ms`);
    });
  }
}
