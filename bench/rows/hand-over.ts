import { sleep } from "../../test/support/eventually.ts";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { rowFrom } from "../row.ts";
import { median } from "../statistics.ts";
import { takeTurns } from "../take-turns.ts";
import { Worker, withWorkers } from "../worker.ts";

const BLOCK = 20;
/** Long enough for the one who waits to have everything in place. */
const SETTLE_MS = 10;

interface Moment {
  /** Microseconds of the machine's monotonic clock, which all processes share. */
  readonly at: number;
}

/** From the call of release in one process until another one has the lock. */
export const handOver: Measurement = {
  name: "hand-over",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      const pairs = Object.entries({
        zksh: "zksh-locks.js",
        Curator: "CuratorLocks.java",
        kazoo: "kazoo_locks.py",
      }).map(([name, file]) => ({
        name,
        two: [0, 1].map(() => new Worker(file, [address, `/hand-over/${name}`])),
      }));
      const workers = pairs.flatMap(({ two }) => two);
      return withWorkers(workers, async () => {
        // Each on its own first, so that nobody waits with cold code.
        for (const worker of workers) await worker.ask("cycles", 400);
        for (const { two } of pairs) await two[0]?.ask("acquire");
        const contestants = pairs.map(({ name, two }) => ({ name, run: () => passOn(two) }));
        await takeTurns(isQuick ? 2 : 10, contestants);
        const samples = await takeTurns(isQuick ? 5 : 20, contestants);
        return [
          rowFrom(samples, {
            work: "lock: from one process's release to the next one's lock",
            unit: "ms",
            peers: { Curator: { atMost: 0.75 }, kazoo: "no goal" },
          }),
        ];
      });
    }),
};

/** The first of the two holds it, before and after. Gives milliseconds. */
async function passOn(two: readonly Worker[]): Promise<number> {
  const took: number[] = [];
  let [holder, waiter] = two;
  for (let turn = 0; turn < BLOCK && holder && waiter; turn++) {
    const got = waiter.ask<Moment>("acquire");
    await sleep(SETTLE_MS);
    const [released, acquired] = await Promise.all([holder.ask<Moment>("release"), got]);
    took.push((acquired.at - released.at) / 1000);
    [holder, waiter] = [waiter, holder];
  }
  return median(took);
}
