import type { ChildRequest } from "../../child.ts";
import type { Result } from "../../result.ts";
import type { LockProgress } from "../../results/locks.ts";
import type { Context } from "../command.ts";
import type { LockStory } from "./lock-story.ts";
import type { LockValues } from "./options.ts";
import type { Recipe } from "./recipe.ts";

/** One `lock PATH -- CMD`: what was asked for, and where to tell what becomes of it. */
export interface Task {
  readonly context: Context;
  readonly recipe: Recipe;
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
export function pathOf({ recipe }: Task): string {
  return recipe.paths[0];
}
