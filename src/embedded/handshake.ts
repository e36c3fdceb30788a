import type { ConnectRequest } from "../wire/records.ts";
import type { ServerState } from "./server-state.ts";
import type { Session } from "./sessions.ts";

/**
 * Opens a session, or gives an old one back to a client that knows its password. `expired`: there is
 * no such session (any more).
 * `hang-up`: the client has seen more than this server knows, and must look for another one.
 */
export function attach(
  keeper: ServerState,
  request: ConnectRequest,
): Session | "expired" | "hang-up" {
  if (request.lastZxidSeen > keeper.lastZxid) return "hang-up";
  const timeoutMs = keeper.negotiate(request.timeoutMs);
  if (request.sessionId === 0n) return keeper.openSession(timeoutMs);
  const session = keeper.sessions.find(request.sessionId);
  if (session === undefined) return "expired";
  // Before the password is looked at, as ZooKeeper does it: a session has one connection, the last
  // one.
  session.connection?.destroy();
  if (!session.password.equals(request.password)) return "expired";
  session.timeoutMs = timeoutMs;
  return keeper.sessions.touch(session) ? session : "expired";
}
