import {
  ConflictError,
  ConnectionError,
  DeadlineError,
  NoNodeError,
  OperationError,
  PermissionError,
  RefusedError,
  type ZkshError,
} from "../../../errors.ts";
import { ErrorCode } from "../../../wire/protocol.ts";

type Build = (
  reason: string,
  message: string,
  details: { code: number; path?: string; opIndex?: number; hint?: string },
) => ZkshError;

const operation: Build = (reason, message, details) => new OperationError(reason, message, details);
const connection: Build = (reason, message, details) =>
  new ConnectionError(reason, message, details);
const conflict: Build = (reason, message, details) => new ConflictError(reason, message, details);
const permission: Build = (reason, message, details) =>
  new PermissionError(reason, message, details);

interface Row {
  readonly name: string;
  readonly reason: string;
  readonly says: string;
  readonly build: Build;
}

/**
 * Every error number of ZooKeeper's table: its own name for it, our word for it, and the family it
 * belongs to.
 */
const ROWS: ReadonlyMap<number, Row> = new Map<number, Row>([
  row(ErrorCode.systemError, "SystemError", "system-error", "the server failed", operation),
  row(
    ErrorCode.runtimeInconsistency,
    "RuntimeInconsistency",
    "not-attempted",
    "not attempted: an earlier step failed",
    operation,
  ),
  row(
    ErrorCode.dataInconsistency,
    "DataInconsistency",
    "data-inconsistency",
    "the server found its data inconsistent",
    operation,
  ),
  row(
    ErrorCode.connectionLoss,
    "ConnectionLoss",
    "connection-loss",
    "the connection was lost",
    connection,
  ),
  row(
    ErrorCode.marshallingError,
    "MarshallingError",
    "marshalling-error",
    "the server could not read the request",
    operation,
  ),
  row(
    ErrorCode.unimplemented,
    "Unimplemented",
    "unimplemented",
    "the server does not offer this operation",
    operation,
  ),
  row(
    ErrorCode.operationTimeout,
    "OperationTimeout",
    "operation-timeout",
    "the server gave up on the operation",
    (_, message, d) => new DeadlineError(message, d),
  ),
  row(
    ErrorCode.badArguments,
    "BadArguments",
    "bad-arguments",
    "the server does not accept these arguments",
    operation,
  ),
  row(
    ErrorCode.unknownSession,
    "UnknownSession",
    "unknown-session",
    "the server does not know this session",
    connection,
  ),
  row(
    ErrorCode.newConfigNoQuorum,
    "NewConfigNoQuorum",
    "new-config-no-quorum",
    "no quorum of the new configuration is connected and up to date",
    operation,
  ),
  row(
    ErrorCode.reconfigInProgress,
    "ReconfigInProgress",
    "reconfig-in-progress",
    "another reconfiguration is in progress",
    operation,
  ),
  row(ErrorCode.apiError, "APIError", "api-error", "the server refused the request", operation),
  row(
    ErrorCode.noNode,
    "NoNode",
    "no-node",
    "no such znode",
    (reason, message, d) => new NoNodeError(reason, message, d),
  ),
  row(ErrorCode.noAuth, "NoAuth", "no-auth", "not permitted", permission),
  row(ErrorCode.badVersion, "BadVersion", "bad-version", "the version does not match", conflict),
  row(
    ErrorCode.noChildrenForEphemerals,
    "NoChildrenForEphemerals",
    "no-children-for-ephemerals",
    "an ephemeral znode cannot have children",
    conflict,
  ),
  row(ErrorCode.nodeExists, "NodeExists", "node-exists", "znode already exists", conflict),
  row(ErrorCode.notEmpty, "NotEmpty", "not-empty", "znode has children", conflict),
  row(
    ErrorCode.sessionExpired,
    "SessionExpired",
    "session-expired",
    "the session has expired",
    connection,
  ),
  row(
    ErrorCode.invalidCallback,
    "InvalidCallback",
    "invalid-callback",
    "the server refused the callback",
    operation,
  ),
  row(ErrorCode.invalidAcl, "InvalidACL", "invalid-acl", "the ACL is not valid", operation),
  row(ErrorCode.authFailed, "AuthFailed", "auth-failed", "authentication failed", permission),
  row(
    ErrorCode.sessionMoved,
    "SessionMoved",
    "session-moved",
    "the session has moved to another server",
    connection,
  ),
  row(
    ErrorCode.notReadOnly,
    "NotReadOnly",
    "read-only-server",
    "the server is read-only",
    (reason, message, d) => new RefusedError(reason, message, d),
  ),
  row(
    ErrorCode.ephemeralOnLocalSession,
    "EphemeralOnLocalSession",
    "ephemeral-on-local-session",
    "a local session cannot own an ephemeral znode",
    operation,
  ),
  row(ErrorCode.noWatcher, "NoWatcher", "no-watcher", "there is no such watch", operation),
  row(
    ErrorCode.requestTimeout,
    "RequestTimeout",
    "request-timeout",
    "the request was not answered in time",
    (_, message, d) => new DeadlineError(message, d),
  ),
  row(
    ErrorCode.reconfigDisabled,
    "ReconfigDisabled",
    "reconfig-disabled",
    "the server has reconfiguration switched off",
    operation,
  ),
  row(
    ErrorCode.sessionClosedRequireSaslAuth,
    "SessionClosedRequireSaslAuth",
    "sasl-required",
    "the server closed the session: it requires SASL authentication",
    permission,
  ),
  row(ErrorCode.quotaExceeded, "QuotaExceeded", "quota-exceeded", "quota exceeded", operation),
  row(
    ErrorCode.throttledOp,
    "ThrottledOp",
    "throttled",
    "the server is overloaded and refused the request",
    operation,
  ),
]);

function row(
  code: number,
  name: string,
  reason: string,
  says: string,
  build: Build,
): [number, Row] {
  return [code, { name, reason, says, build }];
}

/** ZooKeeper's name for an error number; an unknown number stays a number. */
export function errorName(code: number): string {
  return ROWS.get(code)?.name ?? `error ${code}`;
}

/**
 * The error for a number that a server sent, known or not: none may kill the process. `opIndex` is
 * the place of the refused operation in its multi.
 */
export function failureOf(code: number, path?: string, opIndex?: number): ZkshError {
  const about = path === undefined ? "" : `: ${path}`;
  const details = {
    code,
    ...(path !== undefined && { path }),
    ...(opIndex !== undefined && { opIndex }),
  };
  const known = ROWS.get(code);
  if (known === undefined) {
    return new OperationError(
      "unknown-error",
      `the server answered with an error unknown to zksh${about} (${code})`,
      details,
    );
  }
  return known.build(known.reason, `${known.says}${about} (${known.name})`, details);
}
