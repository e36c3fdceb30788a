import { onAbort } from "./on-abort.ts";

/** Settles as `promise`, which goes on for others; rejects as soon as `signal` aborts. */
export async function abortable<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return promise;
  let forget = () => {};
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}
