import type { JuteReader, JuteWriter } from "../wire/jute.ts";
import type { AuthIdentity } from "./access.ts";
import type { ServerState } from "./server-state.ts";
import type { Session } from "./sessions.ts";
import type { Watcher } from "./watches.ts";

/** The connection that sent the request, with its session. */
export interface RequestSource extends Watcher {
  readonly session: Session;
  readonly identities: readonly AuthIdentity[];
}

/** Writes what follows the header of a reply. */
export type Body = (writer: JuteWriter) => void;

/**
 * Serves one kind of request: reads it, applies it and returns the body of the reply, or throws a
 * Refusal. The body is written later, because the watch events of the request must be sent before
 * its reply.
 */
export type Handler = (
  keeper: ServerState,
  caller: RequestSource,
  request: JuteReader,
) => Body | undefined;
