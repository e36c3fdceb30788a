import { ConnectionError, PermissionError, type ZkshError } from "../../../errors.ts";
import { ErrorCode } from "../../../wire/protocol.ts";
import type { LostReason } from "../../session.ts";
import { LibraryState } from "../node-zookeeper-client-adapter.ts";
import { errorName } from "../requests/error-codes.ts";

/** How a session ended. */
export interface Loss {
  readonly reason: LostReason;
  /** What everything asked of the session from then on gets. */
  readonly error: ZkshError;
  /** The package's state from then on. */
  readonly state: number;
  /** What everything that still waits for an answer is told. */
  readonly code: number;
}

export function closed(): Loss {
  const error = new ConnectionError("session-closed", "the session is closed", { sent: false });
  return { reason: "closed", error, state: LibraryState.CLOSED, code: ErrorCode.sessionExpired };
}

/** No server was ever found. */
export function unreachable(message: string): Loss {
  const error = new ConnectionError("unreachable", message, {
    code: ErrorCode.connectionLoss,
    sent: false,
  });
  return {
    reason: "unreachable",
    error,
    state: LibraryState.CLOSED,
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
    state: LibraryState.AUTHENTICATION_FAILED,
    code: ErrorCode.authFailed,
  };
}

export function expired(why: string): Loss {
  const code = ErrorCode.sessionExpired;
  const error = new ConnectionError(
    "session-expired",
    `the session has expired: ${why} (SessionExpired)`,
    { code },
  );
  return { reason: "expired", error, state: LibraryState.SESSION_EXPIRED, code };
}
