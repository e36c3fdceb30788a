const START = 128;
const LEAST = 8;
/** Enough to keep a server busy, few enough to stop soon after a failure. */
const MOST = 256;
/** What the answers to all of them may need, judged by the last ones. */
const BYTES = 8 * 1024 * 1024;

/**
 * How many lines of a script may be under way at a time: more with every short answer, fewer after
 * a long one.
 */
export class ScriptWindow {
  #size = START;

  get size(): number {
    return this.#size;
  }

  /** A line has said this much. */
  finished(bytes: number): void {
    const affordable = BYTES / Math.max(bytes, 1);
    if (affordable < this.#size) this.#size = Math.max(LEAST, Math.floor(affordable));
    else if (this.#size < MOST) this.#size++;
  }
}
