import { LockExitCode } from "../../errors.ts";
import { startTimer } from "../../timer.ts";
import type { Ending } from "./ending.ts";
import type { Acquired } from "./queue-up.ts";
import type { Held } from "./recipe.ts";
import { environment } from "./run-program.ts";
import { pathOf, type Task } from "./task.ts";

const LOST: Ending = { outcome: "lost", exitCode: LockExitCode.lost };

/** Until stdin ends, somebody asks for the lock, or it is lost. A signal ends it too, by the context's own. */
export async function hold(task: Task, acquired: Acquired): Promise<Ending> {
  const { context, values, emit, tell, recipe } = task;
  const { held, session } = acquired;
  const { signal } = context;
  const path = pathOf(task);
  emit({ kind: "lock-held", paths: recipe.paths, environment: environment(task, acquired) });
  const stop = new AbortController();
  const stopState = session.onState(({ state }) => {
    if (state === "suspended") tell({ event: "suspended", path, leftMs: held.heldForMs() });
    else if (state === "connected") tell({ event: "resumed", path });
  });
  const ends: Promise<Ending>[] = [
    // Looked at once more: a pause may have ended the session without anybody having had the time to say so.
    context.stdinEnd(stop.signal).then(() => (held.heldForMs() > 0 ? { outcome: "held", exitCode: 0 } : LOST)),
    aborted(held.signal, stop.signal).then(() => LOST),
    aborted(signal, stop.signal).then(() => Promise.reject(signal.reason)),
    new Promise<Ending>((resolve) => {
      const stopRevoke = held.onRevoke((request) => {
        tell({ event: "revoked", path, request });
        if (values.onRevoke !== "ignore") resolve({ outcome: "revoked", exitCode: LockExitCode.revoked });
      });
      stop.signal.addEventListener("abort", stopRevoke, { once: true });
    }),
  ];
  try {
    return await Promise.race(ends);
  } finally {
    stopState();
    stop.abort();
  }
}

/** What is left of --min-hold; cut short by loss and by signals. */
export async function holdOn({ context }: Task, held: Held, ms: number): Promise<void> {
  const over = new AbortController();
  const stopTimer = startTimer(ms, () => over.abort());
  await aborted(AbortSignal.any([held.signal, context.signal, over.signal]));
  stopTimer();
}

/** Resolves when `signal` is aborted; never when `stop` is first. */
function aborted(signal: AbortSignal, stop?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, ...(stop && { signal: stop }) });
  });
}
