import { setMaxListeners } from "node:events";

/**
 * Calls `listener` when `signal` aborts; at once where it has. Returns the function that removes
 * it. Thousands of waits may share one signal: Node would warn of more than ten listeners.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  setMaxListeners(0, signal);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
