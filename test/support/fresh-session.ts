import type { SessionOptions } from "../../src/session/options.ts";
import type { Session } from "../../src/session/session.ts";
import { openFor } from "./open-session.ts";
import { freshChroot } from "./shared-server.ts";

/** A session in an empty chroot of the shared server. */
export async function openFresh(options: Partial<SessionOptions> = {}): Promise<Session> {
  return openFor(await freshChroot(), options);
}
