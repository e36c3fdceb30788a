/**
 * The session's own clock: when may a server have expired us?
 *
 * The leader of an ensemble expires sessions, counting from when it last heard of them. We talk to one server, often a follower.
 * It notes whom it heard from and tells the leader whenever the leader pings it, every half tick. So an answer proves
 * little: a follower answers pings and reads from its own memory, also when it is cut off from the leader, and it may die
 * before it has told the leader of our last request. What can be proved is this: once a request has been answered, the
 * follower has noted it; if half a tick later another is sent that the *leader* has to answer (sync, any write), then that
 * answer shows that the leader has been told of the first. The session's life is counted from when the first was sent.
 */

/** One moment on both clocks. Linux's monotonic clock stops while the machine sleeps; the wall clock can be set. */
export interface Instant {
  readonly mono: number;
  readonly wall: number;
}

export function earlier(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.mono <= other.mono ? one : other;
}

export interface Clock {
  now(): Instant;
}

/** Not `performance`: the first look at it loads ten of node's modules, at every start. */
export const systemClock: Clock = {
  now: () => ({ mono: Number(process.hrtime.bigint()) / 1e6, wall: Date.now() }),
};

/** Clocks run at different speeds, and timers fire late. */
export function safetyMarginMs(timeoutMs: number): number {
  return timeoutMs * 0.05;
}

/** Half a tick is at most a quarter of a session timeout, because servers grant no less than two ticks. */
export function reportingDelayMs(timeoutMs: number): number {
  return timeoutMs / 4;
}

/** Requests sent closer together than this part of the timeout are remembered as one, the first: that errs on the safe side. */
const RESOLUTION = 1 / 64;

export class Liveness {
  readonly #clock: Clock;
  #timeoutMs = 0;
  /** What the leader is known to have heard. */
  #heard: Instant | undefined;
  /** Answered requests of this connection, in order; none older than the last that the leader has heard of. */
  #noted: { readonly sentAt: Instant; readonly answeredAt: number }[] = [];

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  now(): Instant {
    return this.#clock.now();
  }

  /** A handshake sent at `sentAt` was accepted with this timeout: the leader itself has looked at the session. */
  start(timeoutMs: number, sentAt: Instant): void {
    this.#timeoutMs = timeoutMs;
    this.#noted = [];
    this.#credit(sentAt);
  }

  /** The connection is gone: later answers will say nothing about the server at its other end. */
  detach(): void {
    this.#noted = [];
  }

  /** A request sent at `sentAt` has been answered, and by the leader if nobody else could have. */
  answered(sentAt: Instant, { byLeader }: { byLeader: boolean }): void {
    if (byLeader) this.#prove(sentAt.mono - reportingDelayMs(this.#timeoutMs));
    const last = this.#noted.at(-1);
    if (last !== undefined && sentAt.mono - last.sentAt.mono < this.#timeoutMs * RESOLUTION) return;
    this.#noted.push({ sentAt, answeredAt: this.#clock.now().mono });
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

  /** The leader has been told of everything that was answered by then. */
  #prove(until: number): void {
    const noted = this.#noted;
    let told = -1;
    for (let next = noted[0]; next !== undefined && next.answeredAt <= until; next = noted[told + 1]) told += 1;
    const heard = noted[told];
    if (heard === undefined) return;
    this.#credit(heard.sentAt);
    if (told > 0) noted.splice(0, told);
  }

  #credit(heard: Instant): void {
    if (this.#heard === undefined || heard.mono > this.#heard.mono) this.#heard = heard;
  }

  #left(which: keyof Instant, now: number): number {
    if (this.#heard === undefined) return 0;
    return this.#heard[which] + this.#timeoutMs - safetyMarginMs(this.#timeoutMs) - now;
  }
}
