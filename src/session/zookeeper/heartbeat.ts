import { type Instant, type Liveness, reportingDelayMs } from "./liveness.ts";

export interface HeartbeatEvents {
  /** Something must be sent that shows the leader we live, and whose answer shows us that it knows. */
  beat(): void;
  /** The connection must be given up: nothing was heard for too long. */
  silent(why: string): void;
  /** The session must be given up: by the clock a server may have expired it. */
  expired(): void;
}

/**
 * The timers of a session: heartbeats, the limit on silence, and the end by our own clock. One timer, set to whatever comes
 * first. Beats come at their own pace, whatever else is sent or heard: reads prove nothing to anybody (see Liveness).
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
    this.#lastHeard = this.#lastBeat = this.#attachedAt = mono;
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

  // Well under the promised 2/3: the session's life ends at about 0.7, and another server has to be found before that.
  get #silenceMs(): number {
    return this.#timeoutMs * 0.4;
  }

  // Two beats are a little more than the reporting delay of Liveness, so every third proves the first.
  get #beatMs(): number {
    return reportingDelayMs(this.#timeoutMs) * 0.55;
  }

  /** What left with a handshake is looked at when that has been answered, however long it took. */
  #unansweredSince(now: number): number {
    return Math.max(this.#oldestSentAt()?.mono ?? now, this.#attachedAt);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#timeoutMs === 0) return;
    const now = this.#liveness.now().mono;
    let wait = this.#liveness.monotonicLeftMs();
    if (this.#attached) {
      const silentSince = Math.min(this.#lastHeard, this.#unansweredSince(now));
      wait = Math.min(wait, silentSince + this.#silenceMs - now, this.#lastBeat + this.#beatMs - now);
    }
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(wait)));
  }

  #check(): void {
    if (this.#liveness.monotonicLeftMs() <= 0) return this.#despair();
    const now = this.#liveness.now().mono;
    if (this.#attached) {
      if (now - this.#lastHeard >= this.#silenceMs) return this.#doubt();
      // Events alone are no answer: a server that leaves a beat unanswered is of no use.
      if (now - this.#unansweredSince(now) >= this.#silenceMs)
        return this.#events.silent("the server sends, but it does not answer");
      if (now - this.#lastBeat >= this.#beatMs) {
        this.#lastBeat = now;
        this.#events.beat();
      }
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
