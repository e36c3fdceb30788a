import { expect, onTestFinished, test } from "vitest";
import { Mutex } from "../../src/recipes/locks/mutex.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { fourLetterWord } from "../support/four-letter-word.ts";
import { openFor } from "../support/open-session.ts";
import { startServer } from "../support/zookeeper-server.ts";

const WAITERS = 500;
const RELEASES = 100;
/**
 * Heartbeats come every few minutes then: none is counted, however long a busy machine takes for
 * all of this.
 */
const TIMEOUT_MS = 3_600_000;

async function counters(address: string): Promise<{ watches: number; packets: number }> {
  const answer = await fourLetterWord(address, "mntr");
  const value = (name: string) => Number(new RegExp(`^${name}\\s+(\\d+)$`, "m").exec(answer)?.[1]);
  return {
    watches: value("zk_watch_count"),
    packets: value("zk_packets_received") + value("zk_packets_sent"),
  };
}

// One session with many waiters knows who is left. A waiter alone on its session, as every process
// is, has to look (a question and its answer), and the releaser, who watches its own ticket, is
// told of its end like everybody else.
test.each([
  { sessions: 1, atMost: 4, name: "on one session" },
  { sessions: WAITERS, atMost: 6, name: "each on a session of its own" },
])(`what a release among ${WAITERS} waiters costs, $name`, async ({ sessions, atMost }) => {
  const server = await startServer({ config: { maxSessionTimeout: String(TIMEOUT_MS) } });
  onTestFinished(() => server.stop());
  const all = Array.from({ length: sessions }, () =>
    openFor(server.address, { timeoutMs: TIMEOUT_MS }),
  );
  const locks = all.map((session) => new Mutex(session, "/lock"));
  const giveUp = new AbortController();
  let isCounting = false;
  let releases = 0;
  let lastCounted = () => {};

  const first = await locks[0]?.acquire();
  const waiting = Array.from({ length: WAITERS }, async (_, index) => {
    const held = await locks[index % locks.length]?.acquire({ signal: giveUp.signal });
    if (isCounting && ++releases === RELEASES) {
      // The last one of those that are counted keeps it.
      lastCounted();
      return;
    }
    await held?.release();
  });
  const outcomes = Promise.allSettled(waiting);

  // Everybody watches the one before, and itself; then all is quiet.
  await eventually(async () => (await counters(server.address)).watches >= WAITERS, {
    timeoutMs: 60_000,
  });
  const { asking, before } = await eventually(async () => {
    const { packets: one } = await counters(server.address);
    await sleep(300);
    const { packets: two } = await counters(server.address);
    await sleep(300);
    const { packets: three } = await counters(server.address);
    // Asking is counted too, and then nothing else is.
    return three - two === two - one && two - one < 5 && { asking: two - one, before: three };
  });

  isCounting = true;
  const done = new Promise<void>((resolve) => {
    lastCounted = resolve;
  });
  await first?.release();
  await done;
  const perRelease = ((await counters(server.address)).packets - before - asking) / RELEASES;
  giveUp.abort(new Error("enough"));
  await outcomes;
  expect(perRelease).toBeLessThanOrEqual(atMost);
  // A count that is too low would be a mistake in counting: a request, its reply and an event there
  // must be.
  expect(perRelease).toBeGreaterThan(2.9);
});
