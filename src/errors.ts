/** Every failure a user can meet: a class per family, and a `reason` for each of its members. */

/** The facts of an error, beside its reason and its message. */
export interface ErrorDetails {
  /** ZooKeeper's error number, when a server (or the client library) gave one. */
  readonly code?: number;
  /** The znode the operation was about, as the user wrote it (chroot removed). */
  readonly path?: string;
  /** In a multi: the index of the operation that the server refused. */
  readonly opIndex?: number;
  /** One line that helps: what to do next. */
  readonly hint?: string;
  readonly cause?: unknown;
}

/**
 * The root of the family: a sentence for people, a `reason` for programs.
 *
 * @example
 * ```ts
 * try {
 *   await session.delete("/config", { version: 3 });
 * } catch (error) {
 *   if (!(error instanceof ZkshError)) throw error;
 *   console.error(error.reason, error.path, error.message);
 * }
 * ```
 */
export abstract class ZkshError extends Error {
  readonly reason: string;
  readonly code: number | undefined;
  readonly path: string | undefined;
  /** In a multi: the index of the operation that the server refused. Nothing was done. */
  readonly opIndex: number | undefined;
  readonly hint: string | undefined;

  constructor(reason: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.reason = reason;
    this.code = details.code;
    this.path = details.path;
    this.opIndex = details.opIndex;
    this.hint = details.hint;
  }
}

/**
 * The server refused, for a reason without a family of its own (invalid-acl, quota-exceeded,
 * unimplemented …).
 */
export class OperationError extends ZkshError {}

/** The line cannot be run as it stands: unknown command, bad argument, bad path. */
export class UsageError extends ZkshError {
  constructor(message: string, details: ErrorDetails & { reason?: string } = {}) {
    super(details.reason ?? "usage", message, details);
  }
}

/** There is no such znode; its `path` says which. */
export class NoNodeError extends ZkshError {}

/** `no-auth` or `auth-failed`. */
export class PermissionError extends ZkshError {}

/**
 * The znode is not as the caller expected: `node-exists`, `bad-version`, `not-empty` or
 * `no-children-for-ephemerals`.
 *
 * @example
 * ```ts
 * const { data, stat } = await session.getData("/counter");
 * try {
 *   await session.setData("/counter", next(data), { version: stat.version });
 * } catch (error) {
 *   if (error instanceof ConflictError) return retry();
 *   throw error;
 * }
 * ```
 */
export class ConflictError extends ZkshError {
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

/** What is wrong with the TLS of a server that was not reached, where the client can do something. */
export type TlsProblem =
  /** No authority that is trusted has signed the server's certificate. */
  | "untrusted-certificate"
  /** The server refused the handshake: it wants a client certificate, or another one. */
  | "client-certificate"
  /** The server was asked in plain text, and expects TLS. */
  | "tls-expected";

/**
 * There is no usable session: `unreachable`, `connection-loss`, `session-expired`,
 * `session-closed`, `session-moved`. After `connection-loss` the fate of the request is unknown;
 * `sent` is false when it certainly never left, and `isOversized` is true when it is larger than
 * servers usually accept: they hang up on such a request.
 *
 * @example
 * ```ts
 * try {
 *   await session.create("/queue/job-", data, { mode: "persistentSequential" });
 * } catch (error) {
 *   if (!(error instanceof ConnectionError)) throw error;
 *   console.error(error.sent ? "the znode may exist" : "the znode was not created");
 * }
 * ```
 */
export class ConnectionError extends ZkshError {
  readonly sent: boolean;
  readonly isOversized: boolean;
  /** With `unreachable`. */
  readonly tlsProblem: TlsProblem | undefined;

  constructor(
    reason: string,
    message: string,
    details: ErrorDetails & {
      sent?: boolean;
      isOversized?: boolean;
      tlsProblem?: TlsProblem | undefined;
    } = {},
  ) {
    super(reason, message, details);
    this.sent = details.sent ?? true;
    this.isOversized = details.isOversized ?? false;
    this.tlsProblem = details.tlsProblem;
  }
}

/**
 * A deadline passed. When the request had been sent, `outcome` settles with its result.
 *
 * @example
 * ```ts
 * session.create("/job", null, { timeoutMs: 500 }).catch(async (error) => {
 *   if (error instanceof DeadlineError) await error.outcome;
 *   else throw error;
 * });
 * ```
 */
export class DeadlineError extends ZkshError {
  readonly outcome: Promise<unknown> | undefined;

  constructor(message: string, details: ErrorDetails & { outcome?: Promise<unknown> } = {}) {
    super("deadline", message, details);
    this.outcome = details.outcome;
  }
}

/** Some of the work was done and some was not. */
export class PartialError extends ZkshError {}

/** zksh itself said no: `read-only`, `needs-confirmation`, `protected-path`. */
export class RefusedError extends ZkshError {}

/** The facts of a {@link LockError}. */
export interface LockErrorDetails {
  readonly lostReason?: "session-lost" | "node-deleted";
  readonly recordedLimit?: number;
}

/** Why a lock was not acquired or not kept. */
export type LockErrorReason =
  /** The lock is held, and the caller did not want to wait. */
  | "busy"
  | "lock-timeout"
  | "lock-lost"
  | "revoked"
  | "sequence-exhausted"
  | "limit-mismatch"
  | "nested-lock"
  /** There is nothing to run: the job succeeded in this period, or failed for the last time. */
  | "already-run"
  | "attempts-used-up"
  | "command-not-executable"
  | "command-not-found";

/**
 * A lock was not acquired or not kept, or the program under it could not be started.
 *
 * @example
 * ```ts
 * try {
 *   return await new Mutex(session, "/locks/deploy").acquire({ waitMs: 0 });
 * } catch (error) {
 *   if (error instanceof LockError && error.reason === "busy") return undefined;
 *   throw error;
 * }
 * ```
 */
export class LockError extends ZkshError {
  declare readonly reason: LockErrorReason;
  /** With `lock-lost`: how. */
  readonly lostReason: "session-lost" | "node-deleted" | undefined;
  /** With `limit-mismatch`: the limit that a semaphore's path records. */
  readonly recordedLimit: number | undefined;

  constructor(
    reason: LockErrorReason,
    message: string,
    details: ErrorDetails & LockErrorDetails = {},
  ) {
    super(reason, message, details);
    this.lostReason = details.lostReason;
    this.recordedLimit = details.recordedLimit;
  }
}

/** The facts of an {@link InterruptedError}. */
export interface InterruptedErrorDetails {
  /** @internal */
  readonly signal?: NodeJS.Signals;
  readonly outcome?: Promise<unknown>;
}

/**
 * The caller's AbortSignal fired. When the request had been sent, `outcome` settles with what
 * became of it.
 */
export class InterruptedError extends ZkshError {
  /** @internal The signal that ends the program, if one was the cause. */
  readonly signal: NodeJS.Signals | undefined;
  readonly outcome: Promise<unknown> | undefined;

  constructor(message = "interrupted", details: ErrorDetails & InterruptedErrorDetails = {}) {
    super("interrupted", message, details);
    const { cause } = details;
    this.signal = details.signal ?? (cause instanceof InterruptedError ? cause.signal : undefined);
    this.outcome = details.outcome;
  }
}
