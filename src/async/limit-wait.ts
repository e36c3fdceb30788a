import { onAbort } from "./on-abort.ts";
import { startTimer } from "./timer.ts";

export interface LimitedWait<Signal extends AbortSignal | undefined = AbortSignal | undefined> {
  /** Undefined where nothing can cut the wait short. */
  readonly signal: Signal;
  /** Forgets the deadline and the caller's signal. */
  end(): void;
  /** Ends, and aborts the signal: for work that goes on until it is told to stop. */
  stop(): void;
}

/** A signal that follows the caller's, and aborts with `late()` after `ms`. */
export function limitWait(
  signal: AbortSignal,
  ms: number | undefined,
  late: () => Error,
): LimitedWait<AbortSignal>;
export function limitWait(
  signal: AbortSignal | undefined,
  ms: number | undefined,
  late: () => Error,
): LimitedWait;
export function limitWait(
  signal: AbortSignal | undefined,
  ms: number | undefined,
  late: () => Error,
): LimitedWait {
  // Most waits are never cut short, and a signal costs more than many a request.
  if (signal === undefined && ms === undefined) return { signal, end: () => {}, stop: () => {} };
  const controller = new AbortController();
  const follow = () => controller.abort(signal?.reason);
  const forget = signal && onAbort(signal, follow);
  const stopTimer = ms === undefined ? undefined : startTimer(ms, () => controller.abort(late()));
  const end = () => {
    forget?.();
    stopTimer?.();
  };
  const stop = () => {
    end();
    controller.abort();
  };
  return { signal: controller.signal, end, stop };
}
