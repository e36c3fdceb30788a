import type { Session } from "../session/session.ts";
import type { Context } from "./command.ts";

/** The line's own session first, because it is open already; later ones as they come. */
export function nextSession({ session, shell }: Context): () => Promise<Session> {
  let isFirst = true;
  return async () => {
    if (!isFirst) return shell.session();
    isFirst = false;
    return session();
  };
}
