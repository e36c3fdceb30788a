/** `lock PATH -- CMD` and its relatives, from the first word to the exit code. */
import { setTimeout as pause } from "node:timers/promises";
import { LockError, lockExitCodeOf } from "../../errors.ts";
import { nameParty } from "../../recipes/locks/queue-lock.ts";
import type { Result } from "../../result.ts";
import type { LockProgress } from "../../results/locks.ts";
import type { Context } from "../command.ts";
import { Channel } from "./channel.ts";
import { type Ending, outcomeOf } from "./ending.ts";
import { heldOutside } from "./environment.ts";
import { hold, holdOn } from "./hold.ts";
import type { LockValues } from "./options.ts";
import { queueUp } from "./queue-up.ts";
import type { Recipe } from "./recipe.ts";
import { mustBeRunnable, runProgram, runStraight } from "./run-program.ts";
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
  #lastHolder = "";

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
        this.#listen(progress);
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
      const told = this.#inFull(error);
      await this.#note({ outcome: outcomeOf(told), code: lockExitCodeOf(told) });
      throw told;
    }
  }

  async #run(): Promise<Ending> {
    const task = this.#task;
    const { argv, values } = task;
    if (argv) await mustBeRunnable(task, argv[0]);
    if (this.#isHeldOutside() && argv) return runStraight(task, argv);
    const acquired = await queueUp(task);
    const { held, session } = acquired;
    const acquiredAt = performance.now();
    this.#token = held.locks[0]?.fencingToken;
    try {
      const ending = argv ? await runProgram(task, argv, acquired) : await hold(task, acquired);
      const restMs = (values.minHold ?? 0) - (performance.now() - acquiredAt);
      if (restMs > 0 && ending.outcome !== "lost") await holdOn(task, held, restMs);
      return ending;
    } finally {
      const how = await Promise.race([held.release(), pause(RELEASE_WITHIN_MS, "late" as const, { ref: false })]);
      if (how === "late") task.tell({ event: "released", path: pathOf(task), how: "expiry" });
      await session.close();
    }
  }

  /** A lock inside the same lock would wait for itself. True: it need not be taken again. */
  #isHeldOutside(): boolean {
    const { context, recipe, values, argv } = this.#task;
    const path = recipe.paths.find((one) => heldOutside(context.env, one) !== undefined);
    if (path === undefined) return false;
    if (values.reentrant && argv) return true;
    throw new LockError("nested-lock", `${path} is held by a command around this one: it would wait for itself`, {
      path,
      hint: "--reentrant runs the command at once, under the lock that is held",
    });
  }

  #listen(progress: LockProgress): void {
    if (progress.event === "waiting" && progress.holder) this.#lastHolder = nameParty(progress.holder);
  }

  /** With the code of -E, and a word on who has what we waited for. */
  #inFull(error: unknown): unknown {
    if (!(error instanceof LockError) || (error.reason !== "busy" && error.reason !== "lock-timeout")) return error;
    const { values, recipe } = this.#task;
    const { conflictExitCode: exitCode, wait } = values;
    const by = this.#lastHolder === "" ? "" : `, held by ${this.#lastHolder}`;
    // What was asked for, less what it took to connect, is nothing to tell anybody.
    const late = `waited ${wait} ms for ${recipe.paths.join(" and ")}${by}`;
    return new LockError(error.reason, error.reason === "busy" ? error.message : late, {
      ...(error.path !== undefined && { path: error.path }),
      ...(exitCode !== undefined && { exitCode }),
    });
  }

  async #note(ending: Readonly<Record<string, unknown>>): Promise<void> {
    const { context, values } = this.#task;
    if (values.statusFile === undefined) return;
    const token = this.#token === undefined ? {} : { token: String(this.#token) };
    const facts = { ...ending, path: pathOf(this.#task), ...token };
    await context.writeFile(values.statusFile, `${JSON.stringify(facts)}\n`);
  }
}
