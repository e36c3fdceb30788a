import type { ChildRequest } from "../../processes/child-requests.ts";
import type { LockProgress } from "../../results/locks.ts";
import type { Result } from "../../results/result.ts";
import type { Context } from "../command.ts";
import type { LockKind } from "./lock-kind.ts";
import type { LockStory } from "./lock-story.ts";
import type { LockValues } from "./options.ts";

/** One run of `lock PATH -- CMD`: its arguments, and where its events go. */
export interface LockRun {
  readonly context: Context;
  readonly recipe: LockKind;
  readonly values: LockValues;
  /** The program to run. Undefined: the lock is held until stdin ends. */
  readonly argv: ChildRequest["argv"] | undefined;
  /** The start, by performance.now: the time to connect counts as waiting. */
  readonly begun: number;
  readonly story: LockStory;
  emit(result: Result): void;
  tell(progress: LockProgress): void;
}

/** The path that stands for all paths in events. */
export function pathOf({ recipe }: LockRun): string {
  return recipe.paths[0];
}
