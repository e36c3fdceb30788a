/** Enough for the requests of an ordinary turn to leave in one write. */
const START = 512;
const LEAST = 16;
/** More would only wait in the server's buffers instead of ours. */
const MOST = 4000;
/** The part of the session timeout that an answer may take. */
const SHARE = 0.1;

/**
 * How many requests may be written and not yet answered. The session's clock counts from the
 * sending of the last answered request: behind a long line of others every answer is an old one,
 * and a healthy session would look dead. So the line is kept as short as the server needs to serve
 * it in a small part of the session timeout, in the manner of TCP: one more with every answer in
 * time, half as many when one is late.
 */
export class CongestionWindow {
  #size = START;
  #limitMs = Number.POSITIVE_INFINITY;
  #halvedAt = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#size;
  }

  /** A server has granted this session timeout. */
  attach(timeoutMs: number): void {
    this.#limitMs = timeoutMs * SHARE;
    this.rest();
  }

  answered(sentAt: number, now: number): void {
    if (now - sentAt <= this.#limitMs) {
      if (this.#size < MOST) this.#size++;
    } else if (sentAt > this.#halvedAt) {
      // Once for all that stand in the same line: they are late for the same reason.
      this.#size = Math.max(LEAST, this.#size >> 1);
      this.#halvedAt = now;
    }
  }

  /**
   * Nothing is on its way, and nothing waits: what was learned with short answers may not hold for
   * the next ones.
   */
  rest(): void {
    this.#size = Math.min(this.#size, START);
  }
}
