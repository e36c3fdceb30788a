/** Turns of the event loop, as far as scripts depend on them. */

/**
 * What was asked for in this turn has left, so that the server works while earlier answers are
 * written.
 */
export function sent(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * A long run of bad lines needs nothing from outside; signals and heartbeats do need their turn.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Whether a promise needs nothing from outside to settle. */
export function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<false>((resolve) => setImmediate(resolve, false))]);
}

/**
 * Whether there is another group that is not empty. A source that has to wait for the next one may
 * have one.
 */
export async function hasFurther(groups: AsyncIterator<readonly unknown[]>): Promise<boolean> {
  for (;;) {
    const next = groups.next();
    if (!(await isSettled(next))) {
      next.catch(() => {});
      return true;
    }
    const { done = true, value = [] } = await next.catch(() => ({ done: true, value: [] }));
    if (done || value.length > 0) return !done;
  }
}
