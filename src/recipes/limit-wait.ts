import { Aborts } from "../session/aborts.ts";

export interface LimitedWait {
  readonly signal: AbortSignal;
  /** Forgets the deadline and the caller's signal. */
  end(): void;
}

/** Thousands may wait under one signal. */
const aborts = new Aborts();

/** Timers cannot wait longer: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** A signal that follows the caller's, and aborts with `late()` after `ms`. */
export function limitWait(signal: AbortSignal | undefined, ms: number | undefined, late: () => Error): LimitedWait {
  const controller = new AbortController();
  const follow = () => controller.abort(signal?.reason);
  if (signal?.aborted) follow();
  const forget = signal && aborts.on(signal, follow);
  const timer = ms === undefined || ms > LONGEST_MS ? undefined : setTimeout(() => controller.abort(late()), ms);
  const end = () => {
    forget?.();
    clearTimeout(timer);
  };
  return { signal: controller.signal, end };
}
