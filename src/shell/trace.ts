/**
 * The protocol trace of --debug: for the whole program, or only while a line that asks for it runs.
 */
export class Trace {
  readonly #write: (line: string) => void;
  readonly #isAlwaysOn: boolean;
  #linesTraced = 0;

  constructor(write: (line: string) => void, { isAlwaysOn }: { readonly isAlwaysOn: boolean }) {
    this.#write = write;
    this.#isAlwaysOn = isAlwaysOn;
  }

  /** Where sessions write what they send and hear; undefined while nothing is traced. */
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
