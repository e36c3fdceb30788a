// Taken before a test can put fake timers in their place.
const realSetTimeout = globalThis.setTimeout;
const realClearTimeout = globalThis.clearTimeout;
const now = performance.now.bind(performance);

export interface EventuallyOptions {
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
  /** What was waited for; begins the failure's text. */
  readonly message?: string;
}

/**
 * Repeats `check` until it neither throws nor gives `false`; resolves with its value, or fails with
 * its last error.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 20, message = "waited in vain" }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const deadline = now() + timeoutMs;
  let failure: unknown;
  for (;;) {
    try {
      const value = await before(deadline, check());
      if (value !== false) return value as Exclude<T, false>;
      failure = new Error("the check gave false");
    } catch (error) {
      // What an earlier check found says more than that the last one was cut off.
      failure = error instanceof Unfinished ? (failure ?? error) : error;
    }
    if (now() >= deadline) {
      const reason = failure instanceof Error ? failure.message : String(failure);
      throw new Error(`${message} (${timeoutMs} ms): ${reason}`, { cause: failure });
    }
    await sleep(intervalMs);
  }
}

/** Resolves after `ms` of real time, fake timers or not. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, ms));
}

/** A promise with its handles outside. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

/** A promise that somebody else settles. */
export function deferred<T = void>(): Deferred<T> {
  let resolve: Deferred<T>["resolve"] = () => {};
  let reject: Deferred<T>["reject"] = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

class Unfinished extends Error {}

/** A check that hangs must not outlive the deadline. */
async function before<T>(deadline: number, value: T | Promise<T>): Promise<T> {
  const late = deferred<never>();
  const timer = realSetTimeout(
    () => late.reject(new Unfinished("the check did not finish")),
    deadline - now(),
  );
  try {
    return await Promise.race([value, late.promise]);
  } finally {
    realClearTimeout(timer);
  }
}
