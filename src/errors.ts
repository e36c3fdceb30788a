/**
 * Every failure a user can meet. One class per exit-code family; `reason` tells the members of a
 * family apart, so that callers branch on `reason` and only the front ends look at `exitCode`.
 */

/**
 * The numbers a process can end with. Commands that run a child under a lock have a table of their
 * own.
 */
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
 * program's own code.
 */
export const LockExitCode = {
  busy: 75,
  lost: 120,
  revoked: 121,
  /** ZooKeeper cannot be reached, or does not permit it. */
  unavailable: 123,
  timeout: 124,
  usage: 125,
  notExecutable: 126,
  notFound: 127,
} as const;

const LOCK_EXIT_CODES = {
  busy: LockExitCode.busy,
  "lock-timeout": LockExitCode.timeout,
  "lock-lost": LockExitCode.lost,
  revoked: LockExitCode.revoked,
  "sequence-exhausted": LockExitCode.usage,
  "limit-mismatch": LockExitCode.usage,
  "nested-lock": LockExitCode.usage,
  "command-not-executable": LockExitCode.notExecutable,
  "command-not-found": LockExitCode.notFound,
} as const;

export interface ErrorDetails {
  /** ZooKeeper's error number, when a server (or the client library) gave one. */
  readonly code?: number;
  /** The znode the operation was about, as the user wrote it (chroot removed). */
  readonly path?: string;
  /** One line that helps: what to do next. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The root of the family: a sentence for people, a `reason` for programs. */
export abstract class ZkshError extends Error {
  /** @internal */
  abstract readonly exitCode: number;
  readonly reason: string;
  readonly code: number | undefined;
  readonly path: string | undefined;
  readonly hint: string | undefined;

  constructor(reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.reason = reason;
    this.code = details.code;
    this.path = details.path;
    this.hint = details.hint;
  }
}

/**
 * The server refused, for a reason without a family of its own (invalid-acl, quota-exceeded,
 * unimplemented …).
 */
export class OperationError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.refusedByServer;
}

/** The line cannot be run as it stands: unknown command, bad argument, bad path. */
export class UsageError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.usage;

  constructor(message: string, details: ErrorDetails & { reason?: string } = {}) {
    super(details.reason ?? "usage", message, details);
  }
}

export class NoNodeError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.noNode;
}

/** `no-auth` or `auth-failed`. */
export class PermissionError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.notPermitted;
}

/** `node-exists`, `bad-version`, `not-empty` or `no-children-for-ephemerals`. */
export class ConflictError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.conflict;
  /** With `bad-version`: the version that the znode should have had, where it is known. */
  readonly expectedVersion: { readonly of: "data" | "acl"; readonly version: number } | undefined;

  constructor(
    reason: string,
    message: string,
    details: ErrorDetails & { expectedVersion?: ConflictError["expectedVersion"] } = {},
  ) {
    super(reason, message, details);
    this.expectedVersion = details.expectedVersion;
  }
}

/**
 * There is no usable session: `unreachable`, `connection-loss`, `session-expired`,
 * `session-closed`, `session-moved`. After `connection-loss` the fate of the request is unknown;
 * `sent` is false when it certainly never left, and
 * `isOversized` tells that it is larger than what servers usually take, who hang up on it.
 */
export class ConnectionError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.connection;
  readonly sent: boolean;
  readonly isOversized: boolean;

  constructor(
    reason: string,
    message: string,
    details: ErrorDetails & { sent?: boolean; isOversized?: boolean } = {},
  ) {
    super(reason, message, details);
    this.sent = details.sent ?? true;
    this.isOversized = details.isOversized ?? false;
  }
}

/** A deadline passed. When the request had been sent, `outcome` settles with what became of it. */
export class DeadlineError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.deadline;
  readonly outcome: Promise<unknown> | undefined;

  constructor(message: string, details: ErrorDetails & { outcome?: Promise<unknown> } = {}) {
    super("deadline", message, details);
    this.outcome = details.outcome;
  }
}

/** Some of the work was done and some was not. */
export class PartialError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.partial;
}

/** zksh itself said no: `read-only`, `needs-confirmation`, `protected-path`. */
export class RefusedError extends ZkshError {
  /** @internal */
  readonly exitCode = ExitCode.refused;
}

export interface LockErrorDetails {
  readonly lostReason?: "session-lost" | "node-deleted";
  /** @internal Instead of the one that belongs to the reason. */
  readonly exitCode?: number;
}

/**
 * A lock was not got, or not kept: `busy` (asked not to wait), `lock-timeout`, `lock-lost`,
 * `revoked`, `sequence-exhausted`,
 * `limit-mismatch`, `nested-lock`, `command-not-found`, `command-not-executable`. Its exit codes leave a program under the lock room for its own.
 */
export class LockError extends ZkshError {
  /** @internal */
  readonly exitCode: number;
  /** With `lock-lost`: how. */
  readonly lostReason: "session-lost" | "node-deleted" | undefined;

  constructor(
    reason: keyof typeof LOCK_EXIT_CODES,
    message: string,
    details: ErrorDetails & LockErrorDetails = {},
  ) {
    super(reason, message, details);
    this.exitCode = details.exitCode ?? LOCK_EXIT_CODES[reason];
    this.lostReason = details.lostReason;
  }
}

export interface InterruptedErrorDetails {
  /** @internal */
  readonly exitCode?: number;
  readonly outcome?: Promise<unknown>;
}

/**
 * The caller's AbortSignal fired. When the request had been sent, `outcome` settles with what
 * became of it.
 */
export class InterruptedError extends ZkshError {
  /** @internal Of the signal that was the cause; that of SIGINT when left out. */
  readonly exitCode: number;
  readonly outcome: Promise<unknown> | undefined;

  constructor(message = "interrupted", details: ErrorDetails & InterruptedErrorDetails = {}) {
    super("interrupted", message, details);
    const { cause } = details;
    this.exitCode =
      details.exitCode ??
      (cause instanceof InterruptedError ? cause.exitCode : ExitCode.interrupted);
    this.outcome = details.outcome;
  }
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "permission denied",
  EISDIR: "it is a directory",
  ENOSPC: "no space left on the device",
};

/**
 * Why a file could not be read, as a sentence: `cannot read /nope: no such file`. `name` is how the
 * file is shown.
 */
export function cannotRead(name: string, cause: unknown): string {
  const why = cause instanceof Error ? cause.message : String(cause);
  return `cannot read ${name}: ${FILE_ERRORS[/^E[A-Z]+/.exec(why)?.[0] ?? ""] ?? why}`;
}

/** A file could not be written, as an error. */
export function cannotWrite(name: string, cause: unknown): UsageError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const reason = FILE_ERRORS[/^E[A-Z]+/.exec(why)?.[0] ?? ""] ?? why;
  return new UsageError(`cannot write ${name}: ${reason}`, { cause });
}

/**
 * A live view was left with Ctrl-C, which is its usual end: there is nothing to say to a person.
 */
export class ViewEndedError extends InterruptedError {
  constructor(cause: unknown) {
    super(undefined, { cause });
  }
}

/**
 * As {@link exitCodeOf}, for commands that run a program under a lock: only what they say
 * themselves, and never a low number.
 */
export function lockExitCodeOf(error: unknown): number {
  if (error instanceof LockError || error instanceof InterruptedError) return error.exitCode;
  if (error instanceof UsageError || error instanceof RefusedError) return LockExitCode.usage;
  return error instanceof ZkshError ? LockExitCode.unavailable : ExitCode.bug;
}

/** The number a process ends with after `error`; anything that is not ours is a bug. */
export function exitCodeOf(error: unknown): number {
  return error instanceof ZkshError ? error.exitCode : ExitCode.bug;
}
