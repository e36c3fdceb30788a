/**
 * Tells every listener. One that throws must not keep the other listeners, or the replies behind
 * the event, waiting.
 */
export function notifyListeners<T>(listeners: Iterable<(event: T) => void>, event: T): void {
  for (const listener of listeners) {
    try {
      listener(event);
    } catch (error) {
      throwLater(error);
    }
  }
}

/** A listener's bug must not be swallowed: it is thrown again, as an uncaught error. */
export function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
