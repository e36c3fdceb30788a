import { sleep } from "../../test/support/eventually.ts";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { countingRequests } from "../request-counter.ts";
import type { Row } from "../row.ts";
import { Worker, withWorkers } from "../worker.ts";

const PROCESSES = 5;
/** One of n terminals lists at intervals of at most 0.09 × n s. After this time all have. */
const SETTLE_MS_PER_TERMINAL = 100;
const WINDOW_MS = 20_000;
/** One of n terminals lists at intervals of at least 0.06 × n s; n together 1 / 0.06 = 16.7 /s. */
const MOST_LISTINGS = 17;

/**
 * How often terminals that wait for one lock list its queue to show their place. The queue does not
 * move meanwhile.
 */
export const waitingTerminals: Measurement = {
  name: "terminals",
  measure: ({ isQuick }: Effort): Promise<Row[]> =>
    withServer(({ port }) =>
      countingRequests(port, async (address, count) => {
        const terminals = isQuick ? 100 : 500;
        const workers = Array.from(
          { length: PROCESSES },
          () => new Worker("zksh-locks.js", [address, "/lock"]),
        );
        return withWorkers(workers, async () => {
          await workers[0]?.ask("acquire");
          for (const worker of workers) await worker.ask("follow", terminals / PROCESSES);
          await sleep(terminals * SETTLE_MS_PER_TERMINAL);
          const [listings, requests]: [number[], number[]] = [[], []];
          for (let window = 0; window < (isQuick ? 1 : 3); window++) {
            const [before, begun] = [count(), performance.now()];
            await sleep(WINDOW_MS);
            const [after, seconds] = [count(), (performance.now() - begun) / 1_000];
            listings.push((after.listings - before.listings) / seconds);
            requests.push((after.requests - before.requests) / seconds);
          }
          const work = `${terminals} terminals wait for one lock`;
          return [
            {
              work: `${work}: listings of the queue by all`,
              unit: "/s",
              zksh: listings,
              goal: { atMost: MOST_LISTINGS },
            },
            { work: `${work}: requests of all, heartbeats included`, unit: "/s", zksh: requests },
          ];
        });
      }),
    ),
};
