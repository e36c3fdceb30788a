/**
 * Tells every listener. One that throws must not keep the others, or whatever comes behind the
 * event, waiting.
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

/** Somebody's own fault, but nobody's secret: it surfaces as what it is, an uncaught error. */
export function throwLater(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
