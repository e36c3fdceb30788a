import { LockError } from "../../errors.ts";
import { ChosenCodeError } from "../../exit-codes.ts";
import type { LockProgress } from "../../results/locks.ts";
import { formatDuration } from "../../text/duration.ts";
import { nameWithReason } from "../../text/party-name.ts";
import type { LockKind } from "./lock-kind.ts";
import type { LockValues } from "./options.ts";

/** Remembers the holder, for the error of a waiter that gives up. */
export class Conflict {
  #holder = "";

  listen(progress: LockProgress): void {
    if (progress.event !== "waiting" || !progress.holder) return;
    const more = progress.holderCount - 1;
    const others = more > 0 ? ` and ${more} ${more === 1 ? "other" : "others"}` : "";
    this.#holder = nameWithReason(progress.holder) + others;
  }

  /** Returns a busy or timeout error with the exit code of -E and the name of the holder. */
  inFull(
    error: unknown,
    { paths }: LockKind,
    { conflictExitCode: exitCode, wait = 0 }: LockValues,
  ): unknown {
    if (
      !(error instanceof LockError) ||
      (error.reason !== "busy" && error.reason !== "lock-timeout")
    )
      return error;
    const by = this.#holder === "" ? "" : `: still held by ${this.#holder}`;
    // The time given with -w: the message ignores that connecting took a part of it.
    const late = `gave up on ${paths.join(" and ")} after ${formatDuration(wait)}${by}`;
    const message = error.reason === "busy" ? error.message : late;
    const about = error.path === undefined ? {} : { path: error.path };
    return exitCode === undefined
      ? new LockError(error.reason, message, about)
      : new ChosenCodeError(error.reason, message, { ...about, exitCode });
  }
}
