/** The outcome of a run, as an exit code and for --status-file. */
import os from "node:os";
import { LockError } from "../../errors.ts";
import { LockExitCode, lockExitCodeOf } from "../../exit-codes.ts";
import type { ChildEnd } from "../../processes/child-requests.ts";
import type { StopReason } from "../../results/locks.ts";

export interface RunOutcome {
  readonly outcome: "child" | "held" | "lost" | "revoked";
  readonly exitCode: number;
  readonly end?: ChildEnd;
}

/** Returns the outcome. The exit code of a program that the guard stopped does not count. */
export function endingOf(end: ChildEnd, stopped: StopReason | undefined): RunOutcome {
  if (stopped === "revoked") return { outcome: "revoked", exitCode: LockExitCode.revoked, end };
  if (stopped !== undefined && stopped !== "impatient")
    return { outcome: "lost", exitCode: LockExitCode.lost, end };
  return { outcome: "child", exitCode: exitCodeOfChild(end), end };
}

/** The outcome if the release found that the ticket was gone. */
export function lostEnding(ending: RunOutcome | undefined): RunOutcome {
  return { outcome: "lost", exitCode: LockExitCode.lost, ...(ending?.end && { end: ending.end }) };
}

function exitCodeOfChild(end: ChildEnd): number {
  if ("code" in end) return end.code;
  const signals: Readonly<Record<string, number>> = os.constants.signals;
  return 128 + (signals[end.killedBy] ?? 0);
}

/** Returns the word in the status file for an error before the program was started. */
export function outcomeOf(error: unknown): string {
  const known: Readonly<Record<string, string>> = {
    busy: "busy",
    "lock-timeout": "timeout",
    "lock-lost": "lost",
    revoked: "revoked",
    "command-not-found": "exec",
    "command-not-executable": "exec",
  };
  if (error instanceof LockError) return known[error.reason] ?? "usage";
  const code = lockExitCodeOf(error);
  if (code === LockExitCode.unavailable) return "unavailable";
  return code === LockExitCode.usage ? "usage" : "interrupted";
}
