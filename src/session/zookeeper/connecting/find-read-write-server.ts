import { setTimeout as delay } from "node:timers/promises";
import { formatAddress } from "../../connect-string.ts";
import type { ServerAddress, TlsOptions } from "../../options.ts";
import { fourLetterWord } from "./four-letter-word.ts";

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 60_000;

/**
 * Asks the other servers, ever less often, until one says that it can write; undefined when there
 * is none to ask.
 */
export async function findReadWriteServer(
  servers: readonly ServerAddress[],
  tls: TlsOptions | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (servers.length === 0) return undefined;
  for (let wait = FIRST_WAIT_MS; !signal.aborted; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
    for (const server of servers) {
      const answer = await fourLetterWord(server, "isro", tls, signal).catch(() => undefined);
      if (answer === "rw") return formatAddress(server);
    }
    // An abort ends the waiting; the loop's condition sees it.
    await delay(wait, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
