import { formatDuration } from "../../duration.ts";
import { LockError } from "../../errors.ts";
import { nameParty } from "../../recipes/locks/lock-recipe.ts";
import type { LockProgress } from "../../results/locks.ts";
import type { LockValues } from "./options.ts";
import type { Recipe } from "./recipe.ts";

/** Remembers who has what is waited for, for the error of whoever does not get it. */
export class Conflict {
  #holder = "";

  listen(progress: LockProgress): void {
    if (progress.event === "waiting" && progress.holder) this.#holder = nameParty(progress.holder);
  }

  /** With the code of -E, and a word on who has what we waited for. */
  inFull(error: unknown, { paths }: Recipe, { conflictExitCode: exitCode, wait = 0 }: LockValues): unknown {
    if (!(error instanceof LockError) || (error.reason !== "busy" && error.reason !== "lock-timeout")) return error;
    const by = this.#holder === "" ? "" : `, held by ${this.#holder}`;
    // What was asked for, less what it took to connect, is nothing to tell anybody.
    const late = `waited ${formatDuration(wait)} for ${paths.join(" and ")}${by}`;
    return new LockError(error.reason, error.reason === "busy" ? error.message : late, {
      ...(error.path !== undefined && { path: error.path }),
      ...(exitCode !== undefined && { exitCode }),
    });
  }
}
