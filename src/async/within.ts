import { startTimer } from "./timer.ts";

/** What `work` gives; undefined when that takes longer than `ms`. Nothing stops the work. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let stopTimer = () => {};
  const late = new Promise<undefined>((resolve) => {
    stopTimer = startTimer(ms, () => resolve(undefined));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stopTimer();
  }
}
