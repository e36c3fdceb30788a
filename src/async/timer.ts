/** setTimeout waits for 24 days at most, and not at all where it is told a longer time. */
const LONGEST_MS = 2 ** 31 - 1;

/** As setTimeout, for any length of time; Infinity is for ever. Returns what forgets it. */
export function startTimer(ms: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (leftMs: number) => {
    const next = leftMs > LONGEST_MS ? () => wait(leftMs - LONGEST_MS) : callback;
    timer = setTimeout(next, Math.min(leftMs, LONGEST_MS));
  };
  wait(ms);
  return () => clearTimeout(timer);
}
