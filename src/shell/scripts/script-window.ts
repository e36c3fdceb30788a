const START = 128;
const LEAST = 8;
/** The largest window: enough to keep a server busy, few enough to stop soon after a failure. */
const MOST = 256;
/** The memory that the expected replies of one window may take. */
const BYTES = 8 * 1024 * 1024;

/**
 * The number of script lines under way at a time: it grows with every short reply and shrinks after
 * a long one.
 */
export class ScriptWindow {
  #size = START;

  get size(): number {
    return this.#size;
  }

  /** Adapts the window to the output of a finished line. */
  finished(bytes: number): void {
    const affordable = BYTES / Math.max(bytes, 1);
    if (affordable < this.#size) this.#size = Math.max(LEAST, Math.floor(affordable));
    else if (this.#size < MOST) this.#size++;
  }
}
