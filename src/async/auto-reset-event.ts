/** Wakes the waiter; a ring without a waiter is kept for the next one. */
export class AutoResetEvent {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Rejects with the signal's reason when that comes first. */
  async heard(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#isRung) {
      await new Promise<void>((resolve, reject) => {
        const onAbort = () => reject(signal?.reason);
        signal?.addEventListener("abort", onAbort, { once: true });
        this.#wake = () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        };
      });
    }
    this.#wake = undefined;
    this.#isRung = false;
  }
}
