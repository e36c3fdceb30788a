/** Turns the events of a lock and of its session into results, with the steps of the recipe. */
import type { Waiting } from "../../recipes/locks/events.ts";
import type { LockProgress } from "../../results/locks.ts";
import type { Result } from "../../results/result.ts";
import type { Session } from "../../session/session.ts";
import { Conflict } from "./conflict.ts";
import type { LockKind } from "./lock-kind.ts";
import { LockSteps } from "./lock-steps.ts";
import type { LockValues } from "./options.ts";

/** The number of steps kept for --status-file: the last ones, which show the outcome. */
const MAX_STEPS = 100;

export interface LockStoryOptions {
  readonly recipe: LockKind;
  readonly values: LockValues;
  /** The lock is held until stdin ends, see {@link LockProgressResult.isHeldOpen}. */
  readonly isHeldOpen?: boolean;
  emit(result: Result): void;
}

/** A step, for --status-file. */
export interface ToldStep {
  readonly at: number;
  readonly progress: LockProgress;
}

export class LockStory {
  readonly conflict = new Conflict();
  readonly #options: LockStoryOptions;
  readonly #steps: LockSteps;
  readonly #since = Date.now();
  readonly #told: ToldStep[] = [];
  /** The last event about the queue while this process waits. */
  #waiting: Waiting | undefined;
  #hasWaited = false;
  #isUnanswered = false;
  #timeoutMs = 0;

  constructor(options: LockStoryOptions) {
    this.#options = options;
    this.#steps = new LockSteps(options.recipe.layout, { isExplained: options.values.explain });
  }

  /** True if other contenders were ahead. */
  get hasWaited(): boolean {
    return this.#hasWaited;
  }

  get told(): readonly ToldStep[] {
    return this.#told;
  }

  readonly tell = (progress: LockProgress): void => {
    const { values, recipe, isHeldOpen, emit } = this.#options;
    this.conflict.listen(progress);
    this.#hasWaited ||= progress.event === "waiting";
    if (progress.event === "waiting") this.#waiting = progress;
    else if (progress.event === "acquired" || progress.event === "requeued")
      this.#waiting = undefined;
    const at = Date.now();
    const { steps, firstNumber } = this.#steps.next(progress);
    const ticket = this.#steps.ticket(progress.path);
    if (progress.event !== "answered") this.#told.push({ at, progress });
    if (this.#told.length > MAX_STEPS) this.#told.shift();
    emit({
      kind: "lock-progress",
      progress,
      at,
      since: this.#since,
      ...(values.wait !== undefined && { givesUpAt: this.#since + values.wait }),
      steps,
      ...(ticket !== undefined && { ticket }),
      mode: recipe.mode,
      ...(recipe.paths.length > 1 && { isOneOfSeveral: true }),
      ...(recipe.layout === "unique" && { isUnordered: true }),
      ...(isHeldOpen && { isHeldOpen }),
      ...(values.explain && { explain: { firstNumber, timeoutMs: this.#timeoutMs } }),
    });
  };

  /**
   * Emits an event when the servers stop answering a waiter, and when they answer again. Returns a
   * function that stops listening.
   */
  follow(session: Session): () => void {
    this.#timeoutMs = session.timeoutMs;
    return session.onState(({ state }) => {
      const waiting = this.#waiting;
      if (!waiting) return;
      const { path } = waiting;
      if (state === "suspended" && !this.#isUnanswered) {
        this.#isUnanswered = true;
        this.tell({ event: "unanswered", path, leftMs: session.aliveForMs() });
      } else if (state === "connected" && this.#isUnanswered) {
        this.#isUnanswered = false;
        this.tell({ event: "answered", path, waiting });
      } else if (state === "lost") this.#isUnanswered = false;
    });
  }
}
