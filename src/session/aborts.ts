/** Which calls to end when a signal aborts. */

interface Waiting {
  readonly calls: Set<() => void>;
  readonly tellAll: () => void;
}

/**
 * One listener a signal, however many calls share it: a signal with a listener for each of a
 * hundred thousand reads would spend its time looking through them. When the last call is over,
 * nothing is left on the signal.
 */
export class Aborts {
  readonly #waiting = new WeakMap<AbortSignal, Waiting>();

  /** Calls `tell` when `signal` aborts; returns the function that stops waiting. */
  on(signal: AbortSignal, tell: () => void): () => void {
    const waiting = this.#waiting.get(signal) ?? this.#listen(signal);
    waiting.calls.add(tell);
    return () => {
      waiting.calls.delete(tell);
      if (waiting.calls.size > 0 || this.#waiting.get(signal) !== waiting) return;
      this.#waiting.delete(signal);
      signal.removeEventListener("abort", waiting.tellAll);
    };
  }

  #listen(signal: AbortSignal): Waiting {
    const calls = new Set<() => void>();
    const waiting = {
      calls,
      tellAll: () => {
        for (const tell of calls) tell();
      },
    };
    this.#waiting.set(signal, waiting);
    signal.addEventListener("abort", waiting.tellAll);
    return waiting;
  }
}
