import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type Row, rowFrom } from "../row.ts";
import { median } from "../statistics.ts";
import { figures, type Samples, takeTurns } from "../take-turns.ts";
import { Worker, withWorkers } from "../worker.ts";

const BLOCK = 200;
/** The limit: what server, network and node cost. */
const BY_HAND = "by hand, over a socket";
const GOING_ON = "zksh, going on";
const AMONG_OTHERS = "zksh, among others";

interface Cycles {
  /** Microseconds. */
  readonly acquires: readonly number[];
  readonly seconds: number;
}

/**
 * Acquire and release without anybody in the way, in processes that are warm. Several times with
 * new processes and a new server: what compilers make of the same code differs from one process to
 * the next.
 */
export const lockSpeed: Measurement = {
  name: "lock",
  async measure({ isQuick }: Effort) {
    const all = new Map<string, Cycles[]>();
    for (let time = 0; time < (isQuick ? 1 : 4); time++) {
      for (const [name, cycles] of await measureOnce(isQuick ? 6 : 10))
        all.set(name, [...(all.get(name) ?? []), ...cycles]);
    }
    return rowsOf(all);
  },
};

function measureOnce(rounds: number): Promise<Samples<Cycles>> {
  return withServer(async ({ address }) => {
    const workers = {
      zksh: new Worker("zksh-locks.js", [address, "/locks/zksh"]),
      Curator: new Worker("CuratorLocks.java", [address, "/locks/curator"]),
      kazoo: new Worker("kazoo_locks.py", [address, "/locks/kazoo"]),
      [BY_HAND]: new Worker("hand-locks.js", [address, "/locks/hand"]),
    };
    return withWorkers(Object.values(workers), async () => {
      const contestants = Object.entries(workers).map(([name, worker]) => ({
        name,
        run: () => worker.ask<Cycles>("cycles", BLOCK),
      }));
      contestants.push({
        name: GOING_ON,
        run: () => workers.zksh.ask<Cycles>("cyclesGoingOn", BLOCK),
      });
      contestants.push({
        name: AMONG_OTHERS,
        run: () => workers.zksh.ask<Cycles>("cyclesAmongOthers", BLOCK),
      });
      // Nobody's compiler is done before this.
      await takeTurns(rounds, contestants);
      return takeTurns(rounds, contestants);
    });
  });
}

function rowsOf(cycles: Samples<Cycles>): Row[] {
  const latency = figures(cycles, ({ acquires }) => median(acquires) / 1000);
  const rate = figures(cycles, ({ acquires, seconds }) => acquires.length / seconds);
  return [
    rowFrom(latency, {
      work: "lock: acquire, nobody in the way",
      unit: "ms",
      peers: { Curator: { atMost: 0.75 }, kazoo: { atMost: 0.45 }, [BY_HAND]: "no goal" },
    }),
    rowFrom(latency, {
      zksh: AMONG_OTHERS,
      work: "lock: acquire, where others write to the servers in between",
      unit: "ms",
      peers: { Curator: "no goal", kazoo: "no goal" },
    }),
    rowFrom(rate, {
      work: "lock: acquire and release",
      unit: "/s",
      peers: { Curator: { atLeast: 1.25 }, kazoo: { atLeast: 1.7 }, [BY_HAND]: "no goal" },
    }),
    rowFrom(rate, {
      zksh: GOING_ON,
      work: "lock: the same, going on without the server's word",
      unit: "/s",
      peers: { Curator: "no goal", kazoo: "no goal" },
    }),
  ];
}
