export interface LimitedWait {
  readonly signal: AbortSignal;
  /** Forgets the deadline and the caller's signal. */
  end(): void;
}

/** Timers cannot wait longer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** A signal that follows the caller's, and aborts with `late()` after `ms`. */
export function limitWait(signal: AbortSignal | undefined, ms: number | undefined, late: () => Error): LimitedWait {
  const controller = new AbortController();
  const follow = () => controller.abort(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener("abort", follow, { once: true });
  const timer = ms === undefined || ms > LONGEST_MS ? undefined : setTimeout(() => controller.abort(late()), ms);
  const end = () => {
    signal?.removeEventListener("abort", follow);
    clearTimeout(timer);
  };
  return { signal: controller.signal, end };
}
