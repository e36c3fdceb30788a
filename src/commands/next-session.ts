import type { Session } from "../session/session.ts";
import type { Context } from "./command.ts";

/** Returns the session of this line at the first call, later the shell's present session. */
export function nextSession({ session, shell }: Context): () => Promise<Session> {
  let isFirst = true;
  return async () => {
    if (!isFirst) return shell.session();
    isFirst = false;
    return session();
  };
}
