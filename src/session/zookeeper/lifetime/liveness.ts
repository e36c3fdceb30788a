/**
 * The session's own clock: until when can no server have expired the session? docs/adr/0003 has the
 * proof.
 *
 * The leader expires sessions, counting from when it last heard of them. A client talks to one
 * server, often a follower, which reports its clients to the leader when the leader pings it, every
 * half tick. So one answer proves little. Three do:
 *
 * 1. P is answered: the follower has noted the session.
 * 2. Y is sent half a tick later and answered by the leader, which has pinged the follower meanwhile. The ping travels in
 *    front of Y's answer, so the follower has reported P when the client has that answer.
 * 3. S is sent then, behind the report, and is a committed transaction: the report has reached a leader with a quorum. The
 *    lease runs from the send time of P.
 *
 * `sync` and handshakes are answered by a leader without followers too, for as long as syncLimit, while another leader's
 * clock may run. They serve as P and Y, never as S. A session without a lease counts itself alive
 * after step 2.
 */
import type { Clock } from "./clock.ts";

/** Clocks run at different speeds, and timers fire late. */
export function safetyMarginMs(timeoutMs: number): number {
  return timeoutMs * 0.05;
}

/**
 * Half a tick is at most a quarter of a session timeout, because servers grant no less than two
 * ticks.
 */
export function reportingDelayMs(timeoutMs: number): number {
  return timeoutMs / 4;
}

/** Two beats are a little more than the reporting delay, so every third beat proves the first. */
export function beatMs(timeoutMs: number): number {
  return reportingDelayMs(timeoutMs) * 0.55;
}

/**
 * How old P may be, as a part of the timeout, when S is answered. A leader that was paused can
 * answer requests before it sends the ping that is overdue, and expire the session a moment later.
 * When it answered P its last report was at most
 * 0.25 (half a tick) + 0.14 (a beat) old, so nothing expires before P + 1 - 0.39. An answer that comes by
 * 1 - 0.25 - 0.14 - 0.07 leaves the leader 0.07 of the timeout to exchange one ping with the follower.
 */
const MAX_PROOF_AGE = 0.54;

/**
 * Requests sent closer together than this part of the timeout are remembered as one, the first:
 * that errs on the safe side.
 */
const RESOLUTION = 1 / 64;

export interface Answer {
  /** The leader must have seen the request: a sync or a write. */
  readonly byLeader: boolean;
  /** A quorum must have acknowledged it: a write. */
  readonly isCommitted: boolean;
}

export class Liveness {
  readonly #clock: Clock;
  #timeoutMs = 0;
  #aliveUntil = Number.NEGATIVE_INFINITY;
  #leaseUntil = Number.NEGATIVE_INFINITY;
  /**
   * Step 1: the leader's answers on this connection, oldest first; none older than the last that
   * was reported.
   */
  #noted: { readonly sentAt: number; readonly answeredAt: number }[] = [];
  /**
   * Step 2: what the server is known to have reported, and since when, oldest first; none older
   * than the last that was proved.
   */
  #reported: { readonly sentAt: number; readonly knownAt: number }[] = [];
  #isLeased = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  /** While locks rest on the session its life is the lease, not the weaker promise. */
  set isLeased(isLeased: boolean) {
    this.#isLeased = isLeased;
  }

  /**
   * A handshake sent at `sentAt` was accepted: a leader has looked at the session, which may be a
   * deposed one.
   */
  start(timeoutMs: number, sentAt: number): void {
    const isShorter = timeoutMs < this.#timeoutMs;
    this.#timeoutMs = timeoutMs;
    const until = sentAt + this.#lifeMs;
    this.#aliveUntil = isShorter ? until : Math.max(this.#aliveUntil, until);
    // The server applies its shorter timeout from this handshake on, although an earlier one
    // granted more.
    if (isShorter) this.#leaseUntil = Math.min(this.#leaseUntil, until);
    this.#noted = [];
    // The leader itself has looked at the session: the handshake needs no report.
    this.#reported = [{ sentAt, knownAt: this.#clock.now() }];
  }

  /** The connection is gone: later answers will say nothing about the server at its other end. */
  detach(): void {
    this.#noted = [];
    this.#reported = [];
  }

  /** A request sent at `sentAt` has been answered. */
  answered(sentAt: number, { byLeader, isCommitted }: Answer): void {
    if (!byLeader) return;
    const now = this.#clock.now();
    if (isCommitted) this.#prove(sentAt, now);
    this.#report(sentAt, now);
    const last = this.#noted.at(-1);
    if (last !== undefined && sentAt - last.sentAt < this.#timeoutMs * RESOLUTION) return;
    this.#noted.push({ sentAt, answeredAt: now });
  }

  isAlive(): boolean {
    return this.aliveForMs() > 0;
  }

  /** Until the session must count as lost: the lease while locks rest on it. */
  aliveForMs(): number {
    const until = this.#isLeased ? Math.min(this.#aliveUntil, this.#leaseUntil) : this.#aliveUntil;
    return Math.max(0, until - this.#clock.now());
  }

  leaseForMs(): number {
    return Math.max(0, Math.min(this.#aliveUntil, this.#leaseUntil) - this.#clock.now());
  }

  get #lifeMs(): number {
    return this.#timeoutMs - safetyMarginMs(this.#timeoutMs);
  }

  /** Step 2: Y, sent at `sentAt`, is answered. */
  #report(sentAt: number, now: number): void {
    const noted = takeLast(
      this.#noted,
      ({ answeredAt }) => answeredAt <= sentAt - reportingDelayMs(this.#timeoutMs),
    );
    if (noted === undefined) return;
    this.#aliveUntil = Math.max(this.#aliveUntil, noted.sentAt + this.#lifeMs);
    if (noted.sentAt !== this.#reported.at(-1)?.sentAt)
      this.#reported.push({ sentAt: noted.sentAt, knownAt: now });
  }

  /** Step 3: S, sent at `sentAt`, is committed. */
  #prove(sentAt: number, now: number): void {
    const reported = takeLast(this.#reported, ({ knownAt }) => knownAt <= sentAt);
    if (reported === undefined || now - reported.sentAt > this.#timeoutMs * MAX_PROOF_AGE) return;
    this.#leaseUntil = Math.max(this.#leaseUntil, reported.sentAt + this.#lifeMs);
  }
}

/** The last entry of the first ones that are `isDone`; those in front of it are dropped. */
function takeLast<T>(entries: T[], isDone: (entry: T) => boolean): T | undefined {
  let last = -1;
  for (let next = entries[0]; next !== undefined && isDone(next); next = entries[last + 1])
    last += 1;
  if (last > 0) entries.splice(0, last);
  return last < 0 ? undefined : entries[0];
}
