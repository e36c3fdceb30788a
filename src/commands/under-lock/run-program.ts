import os from "node:os";
import { LockExitCode } from "../../exit-codes.ts";
import type {
  ChildEnd,
  ChildRequest,
  GuardedChild,
  GuardPreparation,
  GuardRequest,
} from "../../processes/child-requests.ts";
import type { StopReason } from "../../results/locks.ts";
import type { Session } from "../../session/session.ts";
import { awaitFreshLease, hasFreshLease } from "./await-fresh-lease.ts";
import { lockEnvironment } from "./environment.ts";
import { Guard } from "./guard.ts";
import { guardSettings } from "./guard-settings.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import type { Acquired } from "./queue-up.ts";
import type { RunOutcome } from "./run-outcome.ts";

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
  const { held, session, acquiredAt } = acquired;
  const settings = guardSettings(task, acquiredAt);
  const guard = new Guard({ session, holding: held, settings, tell: task.tell });
  const child = await start(task, prepared.preparation, acquired, {
    ...requestOf(task, prepared),
    ...guard.hooks,
    env: { ...task.context.processes.childEnvironment(session), ...environment(task, acquired) },
    deathSignal: settings.onLost === "kill" ? "SIGKILL" : "SIGTERM",
  });
  const { end, stopped } = await guard.run(child);
  return endingOf(end, stopped);
}

/** Starts the program, when the lease is fresh. */
async function start(
  task: LockRun,
  preparation: GuardPreparation,
  acquired: Acquired,
  request: GuardRequest,
): Promise<GuardedChild> {
  const { signal } = task.context;
  const notYet = new Error("the lease is not fresh");
  // This process may have been paused since the lock was acquired.
  const mayStart = () => {
    if (!hasFreshLease(acquired)) throw notYet;
  };
  for (;;) {
    // A signal that came before the program was started: it is not started at all.
    signal.throwIfAborted();
    try {
      const child = await preparation.start({ ...request, mayStart });
      tellReach(task, child);
      return child;
    } catch (error) {
      if (error !== notYet) throw error;
      await awaitFreshLease(task, acquired);
    }
  }
}

/** Runs the program without a guard: a command around this one holds the lock and guards it. */
export async function runStraight(
  task: LockRun,
  prepared: Prepared,
  session: Session,
): Promise<RunOutcome> {
  const { context } = task;
  const child = await prepared.preparation.start({
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

/** The exit code of a program that the guard stopped does not count. */
function endingOf(end: ChildEnd, stopped: StopReason | undefined): RunOutcome {
  if (stopped === "revoked") return { outcome: "revoked", exitCode: LockExitCode.revoked, end };
  if (stopped === "max-hold") return { outcome: "max-hold", exitCode: LockExitCode.maxHold, end };
  if (stopped !== undefined && stopped !== "impatient")
    return { outcome: "lost", exitCode: LockExitCode.lost, end };
  return { outcome: "child", exitCode: exitCodeOfChild(end), end };
}

function exitCodeOfChild(end: ChildEnd): number {
  if ("code" in end) return end.code;
  const signals: Readonly<Record<string, number>> = os.constants.signals;
  return 128 + (signals[end.killedBy] ?? 0);
}

function requestOf(
  task: LockRun,
  { argv }: Prepared,
): Pick<GuardRequest, "argv" | "group" | "signal" | "goesOn"> {
  const { signal, shell } = task.context;
  return { argv, group: groupOf(task), signal, goesOn: !shell.isOneShot };
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
    ...held.environment,
  };
}
