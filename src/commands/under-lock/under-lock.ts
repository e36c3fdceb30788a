/** Runs lock, rwlock, sem and elect: from the arguments to the exit code. */
import { setTimeout as pause } from "node:timers/promises";
import { Channel } from "../../async/channel.ts";
import { LockError } from "../../errors.ts";
import { lockExitCodeOf } from "../../exit-codes.ts";
import type { Removed } from "../../recipes/locks/queue/remove-znodes.ts";
import type { Result } from "../../results/result.ts";
import type { Context } from "../command.ts";
import { hold, holdOn } from "./hold.ts";
import { mustFitHold } from "./hold-limits.ts";
import type { Held, LockKind } from "./lock-kind.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import { LockStory } from "./lock-story.ts";
import type { LockValues } from "./options.ts";
import { queueUp } from "./queue-up.ts";
import { lostEnding, outcomeOf, type RunOutcome } from "./run-outcome.ts";
import { type Prepared, runProgram, runStraight } from "./run-program.ts";
import { mustBeWritable, writeStatus } from "./status-file.ts";

/** The limit for a release without a connection; the end of the session releases the lock too. */
const RELEASE_WITHIN_MS = 5_000;

/**
 * Runs the program under the lock, or without a program holds the lock until stdin ends. The last
 * result has the exit code.
 */
export async function* underLock(
  context: Context,
  recipe: LockKind,
  values: LockValues,
  program: readonly string[],
): AsyncGenerator<Result> {
  const results = new Channel<Result>();
  const work = new UnderLock(context, recipe, values, program, results)
    .run()
    .finally(() => results.close());
  work.catch(() => {});
  try {
    yield* results;
  } finally {
    // Also if the consumer of the results has stopped: the program must be guarded to its end.
    await work.catch(() => {});
  }
  yield { kind: "lock-ended", exitCode: await work };
}

class UnderLock {
  readonly #task: LockRun;
  #token: bigint | undefined;
  readonly #story: LockStory;
  #hasToldRelease = false;

  constructor(
    context: Context,
    recipe: LockKind,
    values: LockValues,
    [file, ...rest]: readonly string[],
    results: Channel<Result>,
  ) {
    const emit = (result: Result) => results.push(result);
    this.#story = new LockStory({ recipe, values, isHeldOpen: file === undefined, emit });
    this.#task = {
      context,
      recipe,
      values,
      argv: file === undefined ? undefined : [file, ...rest],
      begun: performance.now(),
      story: this.#story,
      emit,
      tell: (progress) => {
        if (progress.event !== "released" || !this.#hasToldRelease) this.#story.tell(progress);
      },
    };
  }

  async run(): Promise<number> {
    try {
      const { outcome, exitCode, end } = await this.#run();
      await writeStatus(this.#task, this.#token, {
        outcome,
        code: exitCode,
        ...(end && "killedBy" in end && { signal: end.killedBy }),
      });
      return exitCode;
    } catch (error) {
      const told = this.#story.conflict.inFull(error, this.#task.recipe, this.#task.values);
      const ending = { outcome: outcomeOf(told), code: lockExitCodeOf(told) };
      await writeStatus(this.#task, this.#token, ending);
      throw told;
    }
  }

  async #run(): Promise<RunOutcome> {
    const task = this.#task;
    const { context, argv } = task;
    mustFitHold(task.values);
    if (argv) await mustBeRunnable(task, argv[0]);
    await mustBeWritable(task);
    refuseHeldByShell(task);
    if (!argv) return this.#queueAndRun(undefined);
    // The watchdog starts now, so that it is ready when the lock is acquired. At the prompt the line
    // editor owns the terminal until then.
    const preparation = await context.processes.prepareGuard({
      savesTerminal: context.shell.isOneShot,
    });
    try {
      return await this.#queueAndRun({ argv, preparation });
    } finally {
      preparation.dispose();
    }
  }

  async #queueAndRun(program: Prepared | undefined): Promise<RunOutcome> {
    const task = this.#task;
    const { values } = task;
    const acquired = await queueUp(task);
    if (!acquired.held) {
      if (!program) throw new Error("nothing to run");
      return runStraight(task, program, acquired.session);
    }
    const { held, session, acquiredAt } = acquired;
    this.#token = held.locks[0]?.fencingToken;
    let ending: RunOutcome | undefined;
    try {
      ending = program ? await runProgram(task, program, acquired) : await hold(task, acquired);
      const restMs = (values.minHold ?? 0) - (performance.now() - acquiredAt);
      if (restMs > 0 && ending.outcome !== "lost") await holdOn(task, held, restMs);
    } finally {
      const how = await this.#release(held, ending);
      // The ticket was deleted before the command ended: the lock was not held to the end.
      const isLost = how === "missing" || (how !== "delete" && held.recordsEnd);
      if (isLost && ending?.outcome !== "revoked") ending = lostEnding(ending);
      // The end of the session deletes a ticket that could not be deleted.
      await session.close();
    }
    return ending;
  }

  async #release(
    held: Held,
    ending: RunOutcome | undefined,
  ): Promise<Removed | "refused" | "late"> {
    const late = pause(RELEASE_WITHIN_MS, "late" as const, { ref: false });
    const how = await Promise.race([held.release(ending).catch(() => "refused" as const), late]);
    if (how !== "refused" && how !== "late") return how;
    const node = held.locks[0]?.nodePath ?? "";
    this.#task.tell({ event: "released", path: pathOf(this.#task), how: "expiry", node });
    this.#hasToldRelease = true;
    return how;
  }
}

/** Checked before queuing, so that a typing error is not reported after an hour of waiting. */
async function mustBeRunnable({ context }: LockRun, name: string): Promise<void> {
  const search = await context.processes.find(name);
  if (search.kind === "found") return;
  if (search.kind === "not-found")
    throw new LockError("command-not-found", `no such program: ${name}`);
  throw new LockError("command-not-executable", `not executable: ${search.path}`);
}

/** Throws LockError if an earlier line of this shell holds one of the paths. */
function refuseHeldByShell({ context, recipe }: LockRun): void {
  const path = recipe.paths.find((one) => context.shell.heldLocks.has(one));
  if (path === undefined) return;
  throw new LockError("nested-lock", `this shell already holds ${path}`, {
    path,
    hint: `unlock ${path} first`,
  });
}
