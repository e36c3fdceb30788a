/** The turns of the event loop that scripts wait for. */

/**
 * Resolves when the requests of this turn have been sent: the server then works while earlier
 * results are written.
 */
export function sent(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}

/**
 * Resolves in the next turn. Many failing lines in a row wait for no I/O, but signals and
 * heartbeats need their turn.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Returns true if the promise settles without I/O. */
export function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<false>((resolve) => setImmediate(resolve, false))]);
}

/** Returns true if another group has statements. A source that waits for input counts as true. */
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
