/** The numbers that a process ends with, after an error or a result. The library has none. */
import { constants } from "node:os";
import {
  ConflictError,
  ConnectionError,
  DeadlineError,
  InterruptedError,
  LockError,
  type LockErrorReason,
  NoNodeError,
  OperationError,
  PartialError,
  PermissionError,
  RefusedError,
  UsageError,
  ZkshError,
} from "./errors.ts";
import type { Result, ResultOf } from "./results/result.ts";

export const ExitCode = {
  ok: 0,
  /** A false answer (`exists` no), or a server refusal without a row of its own. */
  refusedByServer: 1,
  usage: 2,
  noNode: 3,
  notPermitted: 4,
  conflict: 5,
  connection: 6,
  deadline: 7,
  partial: 8,
  refused: 9,
  bug: 70,
  hungUp: 129,
  interrupted: 130,
  /** The reader of a script's output has gone, and lines were left. */
  brokenPipe: 141,
  terminated: 143,
} as const;

/**
 * The second table: what commands that run a program under a lock end with, when it is not the
 * program's own code. It leaves the low numbers to the program.
 */
export const LockExitCode = {
  busy: 75,
  lost: 120,
  revoked: 121,
  /** Held for the whole --max-hold. */
  maxHold: 122,
  /** ZooKeeper cannot be reached, or does not permit it. */
  unavailable: 123,
  timeout: 124,
  usage: 125,
  notExecutable: 126,
  notFound: 127,
} as const;

const LOCK_CODES: Readonly<Record<LockErrorReason, number>> = {
  busy: LockExitCode.busy,
  "lock-timeout": LockExitCode.timeout,
  "lock-lost": LockExitCode.lost,
  revoked: LockExitCode.revoked,
  "already-run": ExitCode.ok,
  "attempts-used-up": ExitCode.refusedByServer,
  "sequence-exhausted": LockExitCode.usage,
  "limit-mismatch": LockExitCode.usage,
  "nested-lock": LockExitCode.usage,
  "command-not-executable": LockExitCode.notExecutable,
  "command-not-found": LockExitCode.notFound,
};

/** A lock that was not got, with the exit code that the user chose for this with -E. */
export class ChosenCodeError extends LockError {
  readonly exitCode: number;

  constructor(
    reason: LockErrorReason,
    message: string,
    details: ConstructorParameters<typeof LockError>[2] & { readonly exitCode: number },
  ) {
    super(reason, message, details);
    this.exitCode = details.exitCode;
  }
}

/** A shell reports a program that was killed by signal N with 128 + N. */
export function codeOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

/** The number a process ends with after `error`; anything that is not ours is a bug. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ChosenCodeError) return error.exitCode;
  if (error instanceof LockError) return LOCK_CODES[error.reason];
  if (error instanceof InterruptedError) return codeOfSignal(error.signal ?? "SIGINT");
  if (error instanceof OperationError) return ExitCode.refusedByServer;
  if (error instanceof UsageError) return ExitCode.usage;
  if (error instanceof NoNodeError) return ExitCode.noNode;
  if (error instanceof PermissionError) return ExitCode.notPermitted;
  if (error instanceof ConflictError) return ExitCode.conflict;
  if (error instanceof ConnectionError) return ExitCode.connection;
  if (error instanceof DeadlineError) return ExitCode.deadline;
  if (error instanceof PartialError) return ExitCode.partial;
  return error instanceof RefusedError ? ExitCode.refused : ExitCode.bug;
}

/**
 * As {@link exitCodeOf}, for commands that run a program under a lock: only what they say
 * themselves, and never a low number.
 */
export function lockExitCodeOf(error: unknown): number {
  if (error instanceof LockError || error instanceof InterruptedError) return exitCodeOf(error);
  if (error instanceof UsageError || error instanceof RefusedError) return LockExitCode.usage;
  return error instanceof ZkshError ? LockExitCode.unavailable : ExitCode.bug;
}

/** The number a process ends with after its last result: answers can be no, programs can fail. */
export function exitCodeOfResult(result: Result): number {
  if (result.kind === "existence") return result.exists ? ExitCode.ok : ExitCode.refusedByServer;
  if (result.kind === "no-match" || result.kind === "differs") return ExitCode.refusedByServer;
  if (result.kind === "finding") return ExitCode.refusedByServer;
  if (result.kind === "examined") return codeOfExamination(result);
  if (result.kind === "leader") return result.leader ? ExitCode.ok : ExitCode.refusedByServer;
  if (result.kind === "sequencer") return result.isCurrent ? ExitCode.ok : ExitCode.refusedByServer;
  if (result.kind === "permission") {
    if (result.isPermitted === undefined) return ExitCode.notPermitted;
    return result.isPermitted ? ExitCode.ok : ExitCode.refusedByServer;
  }
  if (result.kind === "locks") {
    return result.reports.some(({ holders }) => holders.length > 0)
      ? ExitCode.ok
      : ExitCode.refusedByServer;
  }
  return result.kind === "lock-ended" ? result.exitCode : ExitCode.ok;
}

/** Findings count more than what could not be read, and less than that there was nothing to examine. */
function codeOfExamination({ servers, findings, unreadable }: ResultOf<"examined">): number {
  if (!servers.some(({ isReached }) => isReached)) return ExitCode.connection;
  return findings === 0 && unreadable > 0 ? ExitCode.partial : ExitCode.ok;
}
