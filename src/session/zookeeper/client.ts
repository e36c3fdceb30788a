import type { SessionOptions } from "../options.ts";
import type { Session } from "../session.ts";

/** Opens a session. Returns at once; the first call (or `connected()`) waits for a server. */
export function openSession(_options: SessionOptions): Session {
  throw new Error("not built yet");
}
