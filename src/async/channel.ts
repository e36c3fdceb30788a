/** Values from producers to one consumer, in order; a producer never waits. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = [];
  #wake: (() => void) | undefined;
  #isClosed = false;

  push(value: T): void {
    this.#waiting.push(value);
    this.#wake?.();
  }

  /** Ends the iteration when every value has been consumed. */
  close(): void {
    this.#isClosed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
        yield next;
      if (this.#isClosed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
  }
}
