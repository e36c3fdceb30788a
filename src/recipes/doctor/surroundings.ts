import type { Servers } from "../../session/four-letter-word.ts";
import type { ServerAddress } from "../../session/options.ts";
import type { Session } from "../../session/session.ts";

/** What an examination can reach. */
export interface Surroundings {
  readonly servers: Servers;
  /** Opens a session at these servers, without a chroot. The caller closes it. */
  openSession(servers: readonly ServerAddress[]): Promise<Session>;
  readonly signal: AbortSignal;
}
