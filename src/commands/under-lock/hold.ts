import { startTimer } from "../../async/timer.ts";
import { UsageError } from "../../errors.ts";
import { LockExitCode } from "../../exit-codes.ts";
import type { Held, LockKind } from "./lock-kind.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import type { Acquired } from "./queue-up.ts";
import type { RunOutcome } from "./run-outcome.ts";
import { environment } from "./run-program.ts";

const LOST: RunOutcome = { outcome: "lost", exitCode: LockExitCode.lost };

/**
 * Throws UsageError if stdin has ended already: the lock would be released at once, and a script
 * would believe that it holds the lock.
 */
export function refuseEndedStdin({ context, recipe }: LockRun): void {
  const why = context.input.isOver();
  if (why === undefined) return;
  const stdin =
    why === "file" ? "stdin is a file, which ends at once" : "stdin is already at its end";
  throw new UsageError(
    `no command given, and ${stdin}: use zksh ${commandLine(recipe)} -- COMMAND`,
    {
      hint: "help locks shows how a script holds a lock without a command",
    },
  );
}

function commandLine({ mode, paths }: LockKind): string {
  const words = {
    exclusive: "lock",
    read: "rwlock read",
    write: "rwlock write",
    leader: "elect",
  } as const;
  return `${mode === "semaphore" ? "sem --limit N" : words[mode]} ${paths.join(" ")}`;
}

/**
 * Holds the lock until stdin ends, the lock is revoked or lost, or a signal aborts the context.
 */
export async function hold(task: LockRun, acquired: Acquired): Promise<RunOutcome> {
  const { context, values, emit, tell, recipe } = task;
  const { held, session, acquiredAt } = acquired;
  const { maxHold = Infinity, onRevoke } = values;
  const { signal } = context;
  const path = pathOf(task);
  if (context.input.isOver() === "ended")
    throw new UsageError(`stdin ended before ${path} was held: nothing was locked`);
  const [{ fencingToken: token, waitedMs } = unheld()] = held.locks;
  emit({
    kind: "lock-held",
    paths: recipe.paths,
    mode: recipe.mode,
    token,
    ...(task.story.hasWaited && { waitedMs }),
    environment: environment(task, acquired),
  });
  const stop = new AbortController();
  const stopState = session.onState(({ state }) => {
    if (state === "suspended") tell({ event: "suspended", path, leftMs: held.heldForMs() });
    else if (state === "connected") tell({ event: "resumed", path });
  });
  const ends: Promise<RunOutcome>[] = [
    // Checked again: the session may have expired without an event during a pause of this process.
    context.input
      .end(stop.signal)
      .then(() => (held.heldForMs() > 0 ? { outcome: "held", exitCode: 0 } : LOST)),
    aborted(held.signal, stop.signal).then(() => LOST),
    aborted(signal, stop.signal).then(() => Promise.reject(signal.reason)),
    new Promise<RunOutcome>((resolve) => {
      const stopRevoke = held.onRevoke((request) => {
        tell({ event: "revoked", path, request });
        if (onRevoke !== "ignore") resolve({ outcome: "revoked", exitCode: LockExitCode.revoked });
      });
      stop.signal.addEventListener("abort", stopRevoke, { once: true });
    }),
    new Promise<RunOutcome>((resolve) => {
      const stopTimer = startTimer(acquiredAt + maxHold - performance.now(), () => {
        tell({ event: "max-hold", path, maxHoldMs: maxHold });
        resolve({ outcome: "max-hold", exitCode: LockExitCode.maxHold });
      });
      stop.signal.addEventListener("abort", stopTimer, { once: true });
    }),
  ];
  try {
    return await Promise.race(ends);
  } finally {
    stopState();
    stop.abort();
  }
}

function unheld(): never {
  throw new Error("no lock is held");
}

/** Waits for the rest of --min-hold, or until the lock is lost or a signal comes. */
export async function holdOn({ context }: LockRun, held: Held, ms: number): Promise<void> {
  const over = new AbortController();
  const stopTimer = startTimer(ms, () => over.abort());
  await aborted(AbortSignal.any([held.signal, context.signal, over.signal]));
  stopTimer();
}

/** Resolves when `signal` aborts; never, if `stop` aborts first. */
function aborted(signal: AbortSignal, stop?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), {
      once: true,
      ...(stop && { signal: stop }),
    });
  });
}
