import { LockError, UsageError } from "../../errors.ts";
import type {
  ChildRequest,
  GuardedChild,
  GuardPreparation,
  GuardRequest,
} from "../../processes/child-requests.ts";
import type { Session } from "../../session/session.ts";
import { awaitFreshLease, hasFreshLease } from "./await-fresh-lease.ts";
import { lockEnvironment } from "./environment.ts";
import { Guard } from "./guard.ts";
import { guardSettings } from "./guard-settings.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import type { Acquired } from "./queue-up.ts";
import { endingOf, type RunOutcome } from "./run-outcome.ts";

/** Checked before queuing, so that a typing error is not reported after an hour of waiting. */
export async function mustBeRunnable({ context }: LockRun, name: string): Promise<void> {
  const search = await context.processes.find(name);
  if (search.kind === "found") return;
  if (search.kind === "not-found")
    throw new LockError("command-not-found", `no such program: ${name}`);
  throw new LockError("command-not-executable", `not executable: ${search.path}`);
}

/** Checked before queuing, so that the outcome of a run is never lost. */
export async function mustBeWritable({ context }: LockRun, file: string): Promise<void> {
  const why = await context.files.cannotWrite(file);
  if (why !== undefined) throw new UsageError(`cannot write the status file: ${why}`);
}

/** A program to run, with the watchdog that was prepared while this process queued. */
export interface Prepared {
  readonly argv: ChildRequest["argv"];
  readonly preparation: GuardPreparation;
}

export async function runProgram(
  task: LockRun,
  prepared: Prepared,
  acquired: Acquired,
): Promise<RunOutcome> {
  const { context, tell } = task;
  const { signal } = context;
  const { held, session } = acquired;
  const env = { ...context.processes.childEnvironment(session), ...environment(task, acquired) };
  const notYet = new Error("the lease is not fresh");
  // This process may have been paused since the lock was acquired.
  const mayStart = () => {
    if (!hasFreshLease(acquired)) throw notYet;
  };
  const settings = guardSettings(task);
  const deathSignal = settings.onLost === "kill" ? "SIGKILL" : "SIGTERM";
  const guard = new Guard({
    session,
    holding: held,
    settings,
    async start(hooks) {
      for (;;) {
        // A signal that came before the program was started: it is not started at all.
        signal.throwIfAborted();
        try {
          const request = {
            ...requestOf(task, prepared),
            ...hooks,
            env,
            mayStart,
            deathSignal,
          } as const;
          const child = await context.processes.startGuarded(request);
          tellReach(task, child);
          return child;
        } catch (error) {
          if (error !== notYet) throw error;
          await awaitFreshLease(task, acquired);
        }
      }
    },
    tell,
  });
  const { end, stopped } = await guard.run();
  return endingOf(end, stopped);
}

/** Runs the program without a guard: a command around this one holds the lock and guards it. */
export async function runStraight(
  task: LockRun,
  prepared: Prepared,
  session: Session,
): Promise<RunOutcome> {
  const { context } = task;
  const child = await context.processes.startGuarded({
    ...requestOf(task, prepared),
    env: context.processes.childEnvironment(session),
    onSignal: () => {},
  });
  try {
    const end = await child.ended;
    await child.gone();
    return endingOf(end, undefined);
  } finally {
    await child.dispose();
  }
}

function requestOf(
  task: LockRun,
  prepared: Prepared,
): Pick<GuardRequest, "argv" | "preparation" | "group" | "signal" | "goesOn"> {
  const { signal, shell } = task.context;
  return { ...prepared, group: groupOf(task), signal, goesOn: !shell.isOneShot };
}

/** Warns if the system does not show zksh all processes of the program: it cannot stop those. */
function tellReach(task: LockRun, { reach }: GuardedChild): void {
  if (reach !== "all") task.tell({ event: "short-reach", path: pathOf(task), reach });
}

/**
 * Returns the process group. Inside another lock the program stays in the group that the outer
 * guard stops; with its own group it would outlive the outer lock.
 */
function groupOf({ context, values }: LockRun): GuardRequest["group"] {
  return values.group ?? (context.program.env.ZK_LOCK_HELD ? "share" : "auto");
}

export function environment(
  { context, recipe }: LockRun,
  { held, session }: Acquired,
): Record<string, string> {
  const outer = context.program.env.ZK_LOCK_HELD;
  return {
    ...lockEnvironment(held.locks, { timeoutMs: session.timeoutMs, outer }),
    ...recipe.environment,
  };
}
