import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type Row, rowFrom } from "../row.ts";
import { figures, type Samples, takeTurns } from "../take-turns.ts";
import { Worker, withWorkers } from "../worker.ts";
import { makeZnodes } from "../znodes.ts";

/** With many more it loses its connection. */
const NAIVE_READS = 20_000;
const NAIVE = `node-zookeeper-client, ${NAIVE_READS.toLocaleString("en")}`;
/** Before this, a good part of what is measured is compilers at work. */
const WARM_UP = 20_000;

interface Reads {
  readonly reads: number;
  readonly seconds: number;
  readonly cpuMicros: number;
  readonly lost: number;
}

/** Reads of 100 bytes on one connection, all asked for at once. */
export const sessionReads: Measurement = {
  name: "reads",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      const count = isQuick ? 40_000 : 100_000;
      await makeZnodes(address, ["/bench"]);
      const args = [address, "/bench"];
      const ours = new Worker("zksh-reads.js", args);
      const java = new Worker("JavaReads.java", args);
      const naive = new Worker("naive-reads.js", args);
      return withWorkers([ours, java, naive], async () => {
        const reading = (worker: Worker, reads: number) => async (): Promise<Reads> => ({
          reads,
          ...(await worker.ask<Omit<Reads, "reads">>("read", reads)),
        });
        for (const worker of [ours, java, naive]) await reading(worker, WARM_UP)();
        const samples = await takeTurns(isQuick ? 3 : 7, [
          { name: "zksh", run: reading(ours, count) },
          { name: "Java client", run: reading(java, count) },
          { name: half(count), run: reading(ours, count / 2) },
          { name: NAIVE, run: reading(naive, NAIVE_READS) },
        ]);
        return rowsOf(count, samples);
      });
    }),
};

function half(count: number): string {
  return `zksh, ${(count / 2).toLocaleString("en")}`;
}

function rowsOf(count: number, samples: Samples<Reads>): Row[] {
  const lost = figures(samples, (sample) => sample.lost);
  const rate = figures(samples, ({ reads, seconds }) => reads / seconds);
  const micros = figures(samples, ({ reads, seconds }) => (seconds * 1e6) / reads);
  const cpu = figures(samples, ({ reads, cpuMicros }) => cpuMicros / reads);
  const work = `${count.toLocaleString("en")} pipelined reads`;
  return [
    rowFrom(lost, { work: `${work}: lost`, unit: "", goal: { atMost: 0 } }),
    rowFrom(rate, {
      work: `${work}: rate`,
      unit: "/s",
      peers: { "Java client": { atLeast: 3 }, [NAIVE]: "no goal" },
    }),
    rowFrom(micros, {
      work: `${work}: time for each (is it linear?)`,
      unit: "µs",
      peers: { [half(count)]: { atMost: 1.2 } },
    }),
    rowFrom(cpu, {
      work: `${work}: client CPU for each`,
      unit: "µs",
      peers: { [NAIVE]: { atMost: 0.5 }, "Java client": "no goal" },
    }),
  ];
}
