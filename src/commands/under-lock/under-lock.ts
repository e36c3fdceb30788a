/** Runs lock, rwlock, sem and elect: from the arguments to the exit code. */
import { setTimeout as pause } from "node:timers/promises";
import { Channel } from "../../async/channel.ts";
import { lockExitCodeOf } from "../../exit-codes.ts";
import type { Removed } from "../../recipes/locks/queue/remove-znodes.ts";
import type { Result } from "../../results/result.ts";
import { escapeJson } from "../../text/escape.ts";
import type { Context } from "../command.ts";
import { hold, holdOn } from "./hold.ts";
import type { Held, LockKind } from "./lock-kind.ts";
import { type LockRun, pathOf } from "./lock-run.ts";
import { LockStory } from "./lock-story.ts";
import { refuseHeldByShell } from "./nested.ts";
import type { LockValues } from "./options.ts";
import { queueUp } from "./queue-up.ts";
import { lostEnding, outcomeOf, type RunOutcome } from "./run-outcome.ts";
import {
  mustBeRunnable,
  mustBeWritable,
  type Prepared,
  runProgram,
  runStraight,
} from "./run-program.ts";
import { statusStep } from "./status-file.ts";

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
      await this.#note({
        outcome,
        code: exitCode,
        ...(end && "killedBy" in end && { signal: end.killedBy }),
      });
      return exitCode;
    } catch (error) {
      const told = this.#story.conflict.inFull(error, this.#task.recipe, this.#task.values);
      await this.#note({ outcome: outcomeOf(told), code: lockExitCodeOf(told) });
      throw told;
    }
  }

  async #run(): Promise<RunOutcome> {
    const task = this.#task;
    const { context, argv, values } = task;
    if (argv) await mustBeRunnable(task, argv[0]);
    if (values.statusFile !== undefined) await mustBeWritable(task, values.statusFile);
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
    const { held, session } = acquired;
    const acquiredAt = performance.now();
    this.#token = held.locks[0]?.fencingToken;
    let ending: RunOutcome | undefined;
    try {
      ending = program ? await runProgram(task, program, acquired) : await hold(task, acquired);
      const restMs = (values.minHold ?? 0) - (performance.now() - acquiredAt);
      if (restMs > 0 && ending.outcome !== "lost") await holdOn(task, held, restMs);
    } finally {
      const how = await this.#release(held);
      // The ticket was deleted before the command ended: the lock was not held to the end.
      if (how === "missing" && ending?.outcome !== "revoked") ending = lostEnding(ending);
      // The end of the session deletes a ticket that could not be deleted.
      await session.close();
    }
    return ending;
  }

  async #release(held: Held): Promise<Removed | "refused" | "late"> {
    const late = pause(RELEASE_WITHIN_MS, "late" as const, { ref: false });
    const how = await Promise.race([held.release().catch(() => "refused" as const), late]);
    if (how !== "refused" && how !== "late") return how;
    const node = held.locks[0]?.nodePath ?? "";
    this.#task.tell({ event: "released", path: pathOf(this.#task), how: "expiry", node });
    this.#hasToldRelease = true;
    return how;
  }

  async #note(ending: Readonly<Record<string, unknown>>): Promise<void> {
    const { context, values } = this.#task;
    if (values.statusFile === undefined) return;
    const token = this.#token === undefined ? {} : { token: String(this.#token) };
    const steps = this.#story.told.map(statusStep);
    const facts = {
      ...ending,
      path: pathOf(this.#task),
      ...token,
      ...(steps.length > 0 && { steps }),
    };
    try {
      // Neighbours' names are in it, and the file may be shown on a terminal, or be one.
      await context.files.write(values.statusFile, `${escapeJson(JSON.stringify(facts))}\n`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#task.tell({
        event: "unrecorded",
        path: pathOf(this.#task),
        file: values.statusFile,
        why,
      });
    }
  }
}
