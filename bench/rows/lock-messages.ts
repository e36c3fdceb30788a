import { type Effort, type Measurement, withServer } from "../bench.ts";
import { untilQuiet } from "../packets.ts";
import type { Row } from "../row.ts";
import { Worker, withWorkers } from "../worker.ts";

const WAITERS = 1_000;
const RELEASES = 100;

/**
 * Requests, replies and events for each release of a lock that many wait for, as the server counts
 * them.
 */
export const lockMessages: Measurement = {
  name: "messages",
  measure: async ({ isQuick }: Effort): Promise<Row[]> => {
    const work = `messages for a release, ${WAITERS.toLocaleString("en")} waiters`;
    const together = {
      work: `${work} on one session`,
      unit: "",
      zksh: [await perRelease("zksh-locks.js", 1)],
      goal: { atMost: 4 },
      peers: [{ name: "Curator", samples: [await perRelease("CuratorLocks.java", 1)] }],
    };
    if (isQuick) return [together];
    const apart = {
      work: `${work}, each on a session of its own`,
      unit: "",
      zksh: [await perRelease("zksh-locks.js", WAITERS)],
    };
    return [together, apart];
  },
};

function perRelease(file: string, sessions: number): Promise<number> {
  return withServer(async ({ address }) => {
    const worker = new Worker(file, [address, "/lock"]);
    return withWorkers([worker], async () => {
      await worker.ask("queue", WAITERS, sessions);
      const said = await untilQuiet(address, WAITERS);
      await worker.ask("drain", RELEASES);
      return (await said()) / RELEASES;
    });
  });
}
