import type { ConnectRequest } from "../wire/records.ts";
import type { ServerState } from "./server-state.ts";
import type { Session } from "./sessions.ts";

/**
 * Opens a session, or resumes one for a client that knows its password. `expired`: the session does
 * not exist (any more). `hang-up`: the client has seen a higher zxid than this server, so it must
 * try another server. `not-active`: the server has no leader, and says so.
 */
export function attach(
  keeper: ServerState,
  request: ConnectRequest,
): Session | "expired" | "hang-up" | "not-active" {
  const { dialect } = keeper.options;
  if (!dialect.acceptsPassword(request)) return "hang-up";
  if (dialect.refusedWith !== undefined) return "not-active";
  if (!dialect.resumesSessions) return keeper.openSession(keeper.negotiate(request.timeoutMs));
  if (request.lastZxidSeen > keeper.lastZxid) return "hang-up";
  const timeoutMs = keeper.negotiate(request.timeoutMs);
  if (request.sessionId === 0n) return keeper.openSession(timeoutMs);
  const session = keeper.sessions.find(request.sessionId);
  if (session === undefined) return "expired";
  // As in ZooKeeper, the old connection is closed before the password is checked: a session has one
  // connection, the newest one.
  session.connection?.destroy();
  if (!session.password.equals(request.password)) return "expired";
  session.timeoutMs = timeoutMs;
  return keeper.sessions.touch(session) ? session : "expired";
}
