/** Wakes one waiter; if none waits, the event stays set for the next one. */
export class AutoResetEvent {
  #isSet = false;
  #wake: (() => void) | undefined;

  set(): void {
    this.#isSet = true;
    this.#wake?.();
  }

  /** Resolves when the event is set; rejects with the reason of the signal if that comes first. */
  async wait(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (!this.#isSet) {
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
    this.#isSet = false;
  }
}
