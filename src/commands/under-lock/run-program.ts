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

/** Found out before queuing: nobody wants to wait an hour for a typing error. */
export async function mustBeRunnable({ context }: LockRun, name: string): Promise<void> {
  const search = await context.findProgram(name);
  if (search.kind === "found") return;
  if (search.kind === "not-found")
    throw new LockError("command-not-found", `no such program: ${name}`);
  throw new LockError("command-not-executable", `not executable: ${search.path}`);
}

/** Found out before queuing, too: how it ended must not be lost. */
export async function mustBeWritable({ context }: LockRun, file: string): Promise<void> {
  const why = await context.cannotWrite(file);
  if (why !== undefined) throw new UsageError(`cannot write the status file: ${why}`);
}

/** A program to run, and what was made ready for it while its lock was queued for. */
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
  const env = { ...session.environment, ...environment(task, acquired) };
  const notYet = new Error("not in step");
  // We may have been frozen since we got it.
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
        // A signal to end that came before there was a program: there will be none.
        signal.throwIfAborted();
        try {
          const request = {
            ...requestOf(task, prepared),
            ...hooks,
            env,
            mayStart,
            deathSignal,
          } as const;
          const child = await context.startGuarded(request);
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

/**
 * The lock is held around us: nothing to take, and nothing to watch over that is not watched
 * already.
 */
export async function runStraight(
  task: LockRun,
  prepared: Prepared,
  { environment: env }: Session,
): Promise<RunOutcome> {
  const { context } = task;
  const child = await context.startGuarded({
    ...requestOf(task, prepared),
    env,
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
  const { signal, isOneShot } = task.context;
  return { ...prepared, group: groupOf(task), signal, goesOn: !isOneShot };
}

/** Where the system does not show zksh its own processes, the promise covers less. */
function tellReach(task: LockRun, { reach }: GuardedChild): void {
  if (reach !== "all") task.tell({ event: "short-reach", path: pathOf(task), reach });
}

/**
 * Inside another lock it stays within reach of whoever guards that: a group of its own would
 * outlive the outer lock.
 */
function groupOf({ context, values }: LockRun): GuardRequest["group"] {
  return values.group ?? (context.env("ZK_LOCK_HELD") ? "share" : "auto");
}

export function environment(
  { context, recipe }: LockRun,
  { held, session }: Acquired,
): Record<string, string> {
  const outer = context.env("ZK_LOCK_HELD");
  return {
    ...lockEnvironment(held.locks, { timeoutMs: session.timeoutMs, outer }),
    ...recipe.environment,
  };
}
