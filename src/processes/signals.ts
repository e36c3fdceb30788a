type Listener = (signal: NodeJS.Signals) => void;

/** Marks our listeners among those that packages may have put on the process. */
const TAKEN = Symbol("taken");

/**
 * Hears the signals until they are given back with the function returned. The takers of a signal
 * form a stack: only the newest hears it, and when it gives the signal back, the one before hears
 * it again.
 */
export function takeSignals<Name extends NodeJS.Signals>(
  names: readonly Name[],
  listener: (signal: Name) => void,
): () => void {
  // The stack is the process's own list of listeners, so that there is nothing else to keep.
  const hear = Object.assign(
    (signal: NodeJS.Signals) => {
      if (newest(signal) === hear) listener(signal as Name);
    },
    { [TAKEN]: true },
  );
  for (const name of names) process.on(name, hear);
  return () => {
    for (const name of names) process.off(name, hear);
  };
}

function newest(signal: NodeJS.Signals): Listener | undefined {
  return process.listeners(signal).findLast((listener) => TAKEN in listener);
}
