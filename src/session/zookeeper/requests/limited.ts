import { startTimer } from "../../../async/timer.ts";
import { DeadlineError, InterruptedError, type ZkshError } from "../../../errors.ts";
import type { Aborts } from "../../aborts.ts";
import type { CallOptions } from "../../session.ts";

/**
 * Settles like `answer`, or earlier when the caller's signal or deadline comes first; then `giveUp`
 * may say what became of the work, for the error's `outcome`.
 */
export function limited<T>(
  aborts: Aborts,
  answer: Promise<T>,
  { signal, timeoutMs }: CallOptions,
  what: string,
  giveUp: () => Promise<T> | undefined = () => undefined,
): Promise<T> {
  if (signal === undefined && timeoutMs === undefined) return answer;
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => end(interrupted(signal as AbortSignal, giveUp()));
    const onDeadline = () =>
      end(new DeadlineError(`${what} (${timeoutMs} ms)`, withOutcome(giveUp())));
    const stopTimer = timeoutMs === undefined ? undefined : startTimer(timeoutMs, onDeadline);
    const forget = signal && aborts.on(signal, onAbort);
    const release = () => {
      stopTimer?.();
      forget?.();
    };
    const end = (error: Error) => {
      release();
      reject(error);
    };
    if (signal?.aborted) onAbort();
    answer.then((value) => {
      release();
      resolve(value);
    }, end);
  });
}

function withOutcome(outcome: Promise<unknown> | undefined): { outcome?: Promise<unknown> } {
  return outcome === undefined ? {} : { outcome };
}

export function interrupted(signal: AbortSignal, outcome?: Promise<unknown>): ZkshError {
  return new InterruptedError("interrupted", { cause: signal.reason, ...withOutcome(outcome) });
}
