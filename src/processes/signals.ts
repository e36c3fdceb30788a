type Listener = (signal: NodeJS.Signals) => void;

/** Marks our listeners among those that packages may have put on the process. */
const TAKEN = Symbol("taken");

/**
 * Listens to signals until the returned function is called. The listeners of a signal form a stack:
 * only the newest is called, and when it stops listening, the one before is called again.
 */
export function takeSignals<Name extends NodeJS.Signals>(
  names: readonly Name[],
  listener: (signal: Name) => void,
): () => void {
  // The process's own list of listeners is the stack, so that no other state is needed.
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
