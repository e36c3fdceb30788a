import type { Started } from "./script-line.ts";

/** The lines that have been sent and not been written yet, in order. */
export class LinesUnderWay {
  readonly #lines: Started[] = [];
  #reads = 0;

  get lines(): readonly Started[] {
    return this.#lines;
  }

  get length(): number {
    return this.#lines.length;
  }

  /** How many of them only read. */
  get reads(): number {
    return this.#reads;
  }

  get newest(): Started | undefined {
    return this.#lines.at(-1);
  }

  add(line: Started): void {
    this.#lines.push(line);
    if (line.isRead) this.#reads += 1;
  }

  /** Throws when there is none. */
  takeOldest(): Started {
    const line = this.#lines.shift();
    if (line === undefined) throw new Error("no line is under way");
    if (line.isRead) this.#reads -= 1;
    return line;
  }
}
