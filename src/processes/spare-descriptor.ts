import { closeSync, openSync } from "node:fs";

/**
 * An open file that is closed when the process has no other descriptor left, so that /proc can
 * still be read then. A guard that could not read it would take a running command for one that has
 * ended.
 */
export class SpareDescriptor {
  #descriptor: number | undefined;

  /** Throws when there is none to keep. */
  constructor() {
    this.#open();
  }

  /** Runs `work`, and once more without the spare when `work` failed for want of a descriptor. */
  lend<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (this.#descriptor === undefined || !isShortage(error)) throw error;
    }
    this.close();
    try {
      return work();
    } finally {
      this.#reopen();
    }
  }

  /** May be called twice. */
  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #open(): void {
    this.#descriptor = openSync("/dev/null", "r");
  }

  #reopen(): void {
    try {
      this.#open();
    } catch (error) {
      // Another thread was faster; the next shortage is not covered.
      if (!isShortage(error)) throw error;
    }
  }
}

/** True when the process, or the machine, has run out of descriptors or memory for them. */
export function isShortage(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "EMFILE" || code === "ENFILE" || code === "ENOMEM";
}
