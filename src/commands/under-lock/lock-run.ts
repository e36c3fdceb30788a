import type { ChildRequest } from "../../processes/child-requests.ts";
import type { LockProgress } from "../../results/locks.ts";
import type { Result } from "../../results/result.ts";
import type { Context } from "../command.ts";
import type { LockKind } from "./lock-kind.ts";
import type { LockStory } from "./lock-story.ts";
import type { LockValues } from "./options.ts";

/** One `lock PATH -- CMD`: what was asked for, and where to tell what becomes of it. */
export interface LockRun {
  readonly context: Context;
  readonly recipe: LockKind;
  readonly values: LockValues;
  /** The program to run; undefined: hold the lock until stdin ends. */
  readonly argv: ChildRequest["argv"] | undefined;
  /** By performance.now: the time to connect counts as waiting. */
  readonly begun: number;
  readonly story: LockStory;
  emit(result: Result): void;
  tell(progress: LockProgress): void;
}

/** The path that stands for all of them in what is told. */
export function pathOf({ recipe }: LockRun): string {
  return recipe.paths[0];
}
