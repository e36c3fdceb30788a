import { beatMs, type Liveness } from "./liveness.ts";

export interface HeartbeatEvents {
  /**
   * Something must be sent that shows the leader we live, and whose answer shows us that it knows.
   */
  beat(): void;
  /** The connection must be given up: nothing was heard for too long. */
  silent(why: string): void;
  /** The session must be given up: by the clock a server may have expired it. */
  expired(): void;
}

/**
 * The timers of a session: heartbeats, the limit on silence, and the end by our own clock. One
 * timer, set to whatever comes first. Beats come at their own pace, whatever else is sent or heard:
 * reads prove nothing to anybody (see Liveness).
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
  #oldestSentAt: () => number | undefined;

  constructor(liveness: Liveness, oldestSentAt: () => number | undefined, events: HeartbeatEvents) {
    this.#liveness = liveness;
    this.#oldestSentAt = oldestSentAt;
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
    return Math.max(this.#oldestSentAt() ?? now, this.#attachedAt);
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
    if (this.#liveness.aliveForMs() <= 0) return this.#despair();
    const now = this.#liveness.now();
    if (this.#attached) {
      if (now - this.#lastHeard >= this.#silenceMs) return this.#doubt();
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
   * The same for the session's life: an answer to a late request may be waiting, and would prove it
   * alive.
   */
  #despair(): void {
    setImmediate(() => {
      if (this.#timeoutMs === 0) return;
      if (this.#liveness.aliveForMs() > 0) return this.#schedule();
      this.#events.expired();
    });
  }

  /**
   * The process may have been paused with the answer waiting in the socket: let it be read before
   * judging.
   */
  #doubt(): void {
    const heardBefore = this.#lastHeard;
    setImmediate(() => {
      if (!this.#attached) return;
      if (this.#lastHeard !== heardBefore) return this.#schedule();
      this.#events.silent(`nothing heard for ${Math.round(this.#liveness.now() - heardBefore)} ms`);
    });
  }
}
