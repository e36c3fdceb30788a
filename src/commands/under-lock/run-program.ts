import type { ChildRequest, GuardRequest } from "../../child.ts";
import { LockError, UsageError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { type Ending, endingOf } from "./ending.ts";
import { lockEnvironment } from "./environment.ts";
import { Guard, type GuardSettings } from "./guard.ts";
import { isInStep, untilInStep } from "./in-step.ts";
import type { Acquired } from "./queue-up.ts";
import { pathOf, type Task } from "./task.ts";

/** Found out before queuing: nobody wants to wait an hour for a typing error. */
export async function mustBeRunnable({ context }: Task, name: string): Promise<void> {
  const search = await context.findProgram(name);
  if (search.kind === "found") return;
  if (search.kind === "not-found") throw new LockError("command-not-found", `no such program: ${name}`);
  throw new LockError("command-not-executable", `not executable: ${search.path}`);
}

/** Found out before queuing, too: how it ended must not be lost. */
export async function mustBeWritable({ context }: Task, file: string): Promise<void> {
  const why = await context.cannotWrite(file);
  if (why !== undefined) throw new UsageError(`cannot write the status file: ${why}`);
}

export async function runProgram(task: Task, argv: ChildRequest["argv"], acquired: Acquired): Promise<Ending> {
  const { context, tell } = task;
  const { signal } = context;
  const { held, session } = acquired;
  const env = { ...session.environment, ...environment(task, acquired) };
  const notYet = new Error("not in step");
  // We may have been frozen since we got it.
  const mayStart = () => {
    if (!isInStep(acquired)) throw notYet;
  };
  const guard = new Guard({
    session,
    holding: held,
    settings: guardSettings(task, session),
    async start(onSignal) {
      for (;;) {
        // Whoever asked for an end before there was a program does not want one any more.
        signal.throwIfAborted();
        try {
          return await context.startGuarded({ ...requestOf(task, argv), env, onSignal, mayStart });
        } catch (error) {
          if (error !== notYet) throw error;
          await untilInStep(task, acquired);
        }
      }
    },
    tell,
  });
  const { end, stopped } = await guard.run();
  return endingOf(end, stopped);
}

/** The lock is held around us: nothing to take, and nothing to watch over that is not watched already. */
export async function runStraight(task: Task, { environment: env }: Session): Promise<Ending> {
  const { context, argv } = task;
  if (!argv) throw new Error("nothing to run");
  const child = await context.startGuarded({ ...requestOf(task, argv), env, onSignal: () => {} });
  try {
    const end = await child.ended;
    await child.gone();
    return endingOf(end, undefined);
  } finally {
    await child.dispose();
  }
}

function requestOf(task: Task, argv: ChildRequest["argv"]): Pick<GuardRequest, "argv" | "group" | "signal" | "goesOn"> {
  const { signal, isOneShot } = task.context;
  return { argv, group: groupOf(task), signal, goesOn: !isOneShot };
}

/** Inside another lock it stays within reach of whoever guards that: a group of its own would outlive the outer lock. */
function groupOf({ context, values }: Task): GuardRequest["group"] {
  return values.group ?? (context.env("ZK_LOCK_HELD") ? "share" : "auto");
}

export function environment({ context, recipe }: Task, { held, session }: Acquired): Record<string, string> {
  const outer = context.env("ZK_LOCK_HELD");
  return { ...lockEnvironment(held.locks, { timeoutMs: session.timeoutMs, outer }), ...recipe.environment };
}

function guardSettings(task: Task, { timeoutMs }: Session): GuardSettings {
  const { grace, stopSignal = "SIGTERM", onSuspend = "ignore", onLost = "term", onRevoke = "term" } = task.values;
  const graceMs = grace ?? Math.min(5_000, timeoutMs / 4);
  return { path: pathOf(task), graceMs, stopSignal, onSuspend, onLost, onRevoke };
}
