import {
  ConnectionError,
  PermissionError,
  type TlsProblem,
  type ZkshError,
} from "../../../errors.ts";
import { ErrorCode } from "../../../wire/protocol.ts";
import type { LostReason } from "../../session.ts";
import { errorName } from "../requests/error-codes.ts";

/** How a session ended. */
export interface Loss {
  readonly reason: LostReason;
  /** What requests made from then on fail with. */
  readonly error: ZkshError;
  /** The error number for requests that still wait for an answer. */
  readonly code: number;
}

export function closed(): Loss {
  const error = new ConnectionError("session-closed", "the session is closed", { sent: false });
  return { reason: "closed", error, code: ErrorCode.sessionExpired };
}

/** No server was ever found. */
export function unreachable(message: string, tlsProblem?: TlsProblem): Loss {
  const error = new ConnectionError("unreachable", message, {
    code: ErrorCode.connectionLoss,
    sent: false,
    tlsProblem,
  });
  return {
    reason: "unreachable",
    error,
    code: ErrorCode.sessionExpired,
  };
}

/** A credential that the session cannot go on without was refused with `code`. */
export function authFailed(code: number): Loss {
  const error = new PermissionError("auth-failed", `authentication failed (${errorName(code)})`, {
    code,
  });
  return {
    reason: "auth-failed",
    error,
    code: ErrorCode.authFailed,
  };
}

/** A server did not let the session log in by SASL, or requires that it does. */
export function loginFailed(cause: unknown): Loss {
  const error =
    cause instanceof PermissionError
      ? cause
      : new PermissionError("sasl-failed", `the SASL login failed: ${String(cause)}`, { cause });
  return { reason: "auth-failed", error, code: ErrorCode.authFailed };
}

export function expired(why: string): Loss {
  const code = ErrorCode.sessionExpired;
  const error = new ConnectionError(
    "session-expired",
    `the session has expired: ${why} (SessionExpired)`,
    { code },
  );
  return { reason: "expired", error, code };
}
