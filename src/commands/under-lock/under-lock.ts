/** `lock PATH -- CMD` and its relatives, from the first word to the exit code. */
import { setTimeout as pause } from "node:timers/promises";
import { lockExitCodeOf } from "../../errors.ts";
import type { Result } from "../../result.ts";
import type { Context } from "../command.ts";
import { Channel } from "./channel.ts";
import { Conflict } from "./conflict.ts";
import { type Ending, outcomeOf } from "./ending.ts";
import { hold, holdOn } from "./hold.ts";
import { refuseHeldByShell } from "./nested.ts";
import type { LockValues } from "./options.ts";
import { queueUp } from "./queue-up.ts";
import type { Held, Recipe } from "./recipe.ts";
import { mustBeRunnable, mustBeWritable, runProgram, runStraight } from "./run-program.ts";
import { pathOf, type Task } from "./task.ts";

/** A link that is down must not keep us: the session's end releases the lock too. */
const RELEASE_WITHIN_MS = 5_000;

/** Runs the program under the lock; without one, holds the lock until stdin ends. The last result has the exit code. */
export async function* underLock(
  context: Context,
  recipe: Recipe,
  values: LockValues,
  program: readonly string[],
): AsyncGenerator<Result> {
  const results = new Channel<Result>();
  const work = new UnderLock(context, recipe, values, program, results).run().finally(() => results.close());
  work.catch(() => {});
  try {
    yield* results;
  } finally {
    // Also where nobody listens any more: the program has to be seen to its end.
    await work.catch(() => {});
  }
  yield { kind: "lock-ended", exitCode: await work };
}

class UnderLock {
  readonly #task: Task;
  #token: bigint | undefined;
  readonly #conflict = new Conflict();
  #hasToldRelease = false;

  constructor(
    context: Context,
    recipe: Recipe,
    values: LockValues,
    [file, ...rest]: readonly string[],
    results: Channel<Result>,
  ) {
    const givesUpAt = values.wait === undefined ? {} : { givesUpAt: Date.now() + values.wait };
    this.#task = {
      context,
      recipe,
      values,
      argv: file === undefined ? undefined : [file, ...rest],
      begun: performance.now(),
      emit: (result) => results.push(result),
      tell: (progress) => {
        if (progress.event === "released" && this.#hasToldRelease) return;
        this.#conflict.listen(progress);
        results.push({ kind: "lock-progress", progress, at: Date.now(), ...givesUpAt });
      },
    };
  }

  async run(): Promise<number> {
    try {
      const { outcome, exitCode, end } = await this.#run();
      await this.#note({ outcome, code: exitCode, ...(end && "killedBy" in end && { signal: end.killedBy }) });
      return exitCode;
    } catch (error) {
      const told = this.#conflict.inFull(error, this.#task.recipe, this.#task.values);
      await this.#note({ outcome: outcomeOf(told), code: lockExitCodeOf(told) });
      throw told;
    }
  }

  async #run(): Promise<Ending> {
    const task = this.#task;
    const { argv, values } = task;
    if (argv) await mustBeRunnable(task, argv[0]);
    if (values.statusFile !== undefined) await mustBeWritable(task, values.statusFile);
    refuseHeldByShell(task);
    const acquired = await queueUp(task);
    if (!acquired.held) return runStraight(task, acquired.session);
    const { held, session } = acquired;
    const acquiredAt = performance.now();
    this.#token = held.locks[0]?.fencingToken;
    try {
      const ending = argv ? await runProgram(task, argv, acquired) : await hold(task, acquired);
      const restMs = (values.minHold ?? 0) - (performance.now() - acquiredAt);
      if (restMs > 0 && ending.outcome !== "lost") await holdOn(task, held, restMs);
      return ending;
    } finally {
      await this.#release(held);
      // Whatever could not be deleted goes with the session.
      await session.close();
    }
  }

  async #release(held: Held): Promise<void> {
    const late = pause(RELEASE_WITHIN_MS, "late" as const, { ref: false });
    const how = await Promise.race([held.release().catch(() => "refused" as const), late]);
    if (how === "delete" || how === "expiry") return;
    this.#task.tell({ event: "released", path: pathOf(this.#task), how: "expiry" });
    this.#hasToldRelease = true;
  }

  async #note(ending: Readonly<Record<string, unknown>>): Promise<void> {
    const { context, values } = this.#task;
    if (values.statusFile === undefined) return;
    const token = this.#token === undefined ? {} : { token: String(this.#token) };
    const facts = { ...ending, path: pathOf(this.#task), ...token };
    try {
      await context.writeFile(values.statusFile, `${JSON.stringify(facts)}\n`);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#task.tell({ event: "unrecorded", path: pathOf(this.#task), file: values.statusFile, why });
    }
  }
}
