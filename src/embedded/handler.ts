import type { JuteReader, JuteWriter } from "../wire/jute.ts";
import type { AuthIdentity } from "./access.ts";
import type { ServerState } from "./server-state.ts";
import type { Session } from "./sessions.ts";
import type { Watcher } from "./watches.ts";

/** The sender of the request: the connection, with the session it is attached to. */
export interface RequestSource extends Watcher {
  readonly session: Session;
  readonly identities: readonly AuthIdentity[];
}

/** Writes what follows the header of a reply. */
export type Body = (writer: JuteWriter) => void;

/**
 * Serves one kind of request: reads it, does it, returns the body of the answer; or throws a
 * Refusal. The body is written only afterwards, because the events that the request causes go out
 * before its reply.
 */
export type Handler = (
  keeper: ServerState,
  caller: RequestSource,
  request: JuteReader,
) => Body | undefined;
