import { type Effort, type Measurement, withServer } from "../bench.ts";
import type { Row } from "../row.ts";
import { median } from "../statistics.ts";
import { takeTurns } from "../take-turns.ts";
import { Worker, withWorkers } from "../worker.ts";

const BLOCK = 200;

interface Cycles {
  /** Microseconds. */
  readonly acquires: readonly number[];
  readonly seconds: number;
}

/** Acquire and release without anybody in the way, in processes that are warm. */
export const lockSpeed: Measurement = {
  name: "lock",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      const workers = {
        zksh: new Worker("zksh-locks.js", [address, "/locks/zksh"]),
        Curator: new Worker("CuratorLocks.java", [address, "/locks/curator"]),
        kazoo: new Worker("kazoo_locks.py", [address, "/locks/kazoo"]),
      };
      return withWorkers(Object.values(workers), async () => {
        const contestants = Object.entries(workers).map(([name, worker]) => ({
          name,
          run: () => worker.ask<Cycles>("cycles", BLOCK),
        }));
        // Nobody's compiler is done before this.
        await takeTurns(isQuick ? 5 : 10, contestants);
        return rowsOf(await takeTurns(isQuick ? 5 : 20, contestants));
      });
    }),
};

function rowsOf(cycles: ReadonlyMap<string, readonly Cycles[]>): Row[] {
  const all = (name: string, of: (block: Cycles) => number) => (cycles.get(name) ?? []).map(of);
  const latency = ({ acquires }: Cycles) => median(acquires) / 1000;
  const rate = ({ acquires, seconds }: Cycles) => acquires.length / seconds;
  return [
    {
      work: "lock: acquire, nobody in the way",
      unit: "ms",
      zksh: all("zksh", latency),
      peers: [
        { name: "Curator", samples: all("Curator", latency), goal: { atMost: 0.65 } },
        { name: "kazoo", samples: all("kazoo", latency), goal: { atMost: 0.4 } },
      ],
    },
    {
      work: "lock: acquire and release",
      unit: "/s",
      zksh: all("zksh", rate),
      peers: [
        { name: "Curator", samples: all("Curator", rate), goal: { atLeast: 1.25 } },
        { name: "kazoo", samples: all("kazoo", rate), goal: { atLeast: 1.7 } },
      ],
    },
  ];
}
