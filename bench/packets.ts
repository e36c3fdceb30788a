import { eventually, sleep } from "../test/support/eventually.ts";
import { fourLetterWord } from "../test/support/four-letter-word.ts";

const PAUSE_MS = 200;

/**
 * Requests, replies and events that a server has seen since its start (asking adds some), and the
 * watches it keeps.
 */
async function counters(
  address: string,
): Promise<{ readonly packets: number; readonly watches: number }> {
  const answer = await fourLetterWord(address, "mntr", 10_000);
  const value = (name: string) => Number(new RegExp(`^${name}\\s+(\\d+)$`, "m").exec(answer)?.[1]);
  return {
    packets: value("zk_packets_received") + value("zk_packets_sent"),
    watches: value("zk_watch_count"),
  };
}

/**
 * Waits until so many watches are set and nobody but us talks to the server. Gives the function
 * that counts what was said since, without the asking.
 */
export function untilQuiet(
  address: string,
  watches: number,
  timeoutMs = 240_000,
): Promise<() => Promise<number>> {
  return eventually(
    async () => {
      const one = await counters(address);
      await sleep(PAUSE_MS);
      const two = await counters(address);
      await sleep(PAUSE_MS);
      const three = await counters(address);
      const asking = two.packets - one.packets;
      const isQuiet =
        three.packets - two.packets === asking && asking < 5 && one.watches >= watches;
      return isQuiet && (async () => (await counters(address)).packets - three.packets - asking);
    },
    { timeoutMs, message: "the server has no quiet moment" },
  );
}
