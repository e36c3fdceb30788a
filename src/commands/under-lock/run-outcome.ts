/** The outcome of a run, as an exit code and for --status-file. */
import { LockError } from "../../errors.ts";
import { LockExitCode, lockExitCodeOf } from "../../exit-codes.ts";
import type { ChildEnd } from "../../processes/child-requests.ts";

export interface RunOutcome {
  readonly outcome: "child" | "held" | "lost" | "revoked" | "max-hold";
  readonly exitCode: number;
  readonly end?: ChildEnd;
}

/** The outcome if the release found that the ticket was gone. */
export function lostEnding(ending: RunOutcome | undefined): RunOutcome {
  return { outcome: "lost", exitCode: LockExitCode.lost, ...(ending?.end && { end: ending.end }) };
}

/** Returns the word in the status file for an error before the program was started. */
export function outcomeOf(error: unknown): string {
  const known: Readonly<Record<string, string>> = {
    busy: "busy",
    "lock-timeout": "timeout",
    "lock-lost": "lost",
    revoked: "revoked",
    "already-run": "done",
    "attempts-used-up": "failed",
    "command-not-found": "exec",
    "command-not-executable": "exec",
  };
  if (error instanceof LockError) return known[error.reason] ?? "usage";
  const code = lockExitCodeOf(error);
  if (code === LockExitCode.unavailable) return "unavailable";
  return code === LockExitCode.usage ? "usage" : "interrupted";
}
