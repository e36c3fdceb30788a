import { Aborts } from "../session/aborts.ts";

/** Thousands may wait under one signal. */
const aborts = new Aborts();

/** Settles as `promise`, which goes on for others; rejects as soon as `signal` aborts. */
export async function abortable<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return promise;
  let forget = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else forget = aborts.on(signal, abort);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}
