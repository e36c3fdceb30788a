/** How it ended, as exit codes and for --status-file. */
import os from "node:os";
import { LockError, LockExitCode, lockExitCodeOf } from "../../errors.ts";
import type { ChildEnd } from "../../processes/child-requests.ts";
import type { StopReason } from "../../results/locks.ts";

export interface RunOutcome {
  readonly outcome: "child" | "held" | "lost" | "revoked";
  readonly exitCode: number;
  readonly end?: ChildEnd;
}

/** What a program that was stopped has said with its exit code does not count. */
export function endingOf(end: ChildEnd, stopped: StopReason | undefined): RunOutcome {
  if (stopped === "revoked") return { outcome: "revoked", exitCode: LockExitCode.revoked, end };
  if (stopped !== undefined && stopped !== "impatient")
    return { outcome: "lost", exitCode: LockExitCode.lost, end };
  return { outcome: "child", exitCode: exitCodeOfChild(end), end };
}

/** The lock turned out to be lost when it was given back. */
export function lostEnding(ending: RunOutcome | undefined): RunOutcome {
  return { outcome: "lost", exitCode: LockExitCode.lost, ...(ending?.end && { end: ending.end }) };
}

function exitCodeOfChild(end: ChildEnd): number {
  if ("code" in end) return end.code;
  const signals: Readonly<Record<string, number>> = os.constants.signals;
  return 128 + (signals[end.killedBy] ?? 0);
}

/** The word for what went wrong before there was anything to run. */
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
