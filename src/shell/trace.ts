/** The protocol trace of --debug: for the whole program, or for one line with that option. */
export class Trace {
  readonly #write: (line: string) => void;
  readonly #isAlwaysOn: boolean;
  #linesTraced = 0;

  constructor(write: (line: string) => void, { isAlwaysOn }: { readonly isAlwaysOn: boolean }) {
    this.#write = write;
    this.#isAlwaysOn = isAlwaysOn;
  }

  /** Takes the trace of sent and received packets; undefined while the trace is off. */
  get target(): ((line: string) => void) | undefined {
    return this.#isAlwaysOn || this.#linesTraced > 0 ? this.#write : undefined;
  }

  async during<T>(line: () => Promise<T>): Promise<T> {
    this.#linesTraced += 1;
    try {
      return await line();
    } finally {
      this.#linesTraced -= 1;
    }
  }
}
