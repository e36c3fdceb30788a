import { type Effort, type Measurement, withServer } from "../bench.ts";
import type { Row } from "../row.ts";
import { takeTurns } from "../take-turns.ts";
import { Worker, withWorkers } from "../worker.ts";
import { makeZnodes } from "../znodes.ts";

/** With many more it loses its connection. */
const NAIVE_READS = 20_000;
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
      const count = isQuick ? 50_000 : 100_000;
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
          { name: "whole", run: reading(ours, count) },
          { name: "java", run: reading(java, count) },
          { name: "half", run: reading(ours, count / 2) },
          { name: "naive", run: reading(naive, NAIVE_READS) },
        ]);
        return rowsOf(count, (name, of) => (samples.get(name) ?? []).map(of));
      });
    }),
};

function rowsOf(count: number, all: (name: string, of: (sample: Reads) => number) => number[]): Row[] {
  const rate = ({ reads, seconds }: Reads) => reads / seconds;
  const micros = ({ reads, seconds }: Reads) => (seconds * 1e6) / reads;
  const cpu = ({ reads, cpuMicros }: Reads) => cpuMicros / reads;
  const work = `${count.toLocaleString("en")} pipelined reads`;
  return [
    { work: `${work}: lost`, unit: "", zksh: all("whole", ({ lost }) => lost), goal: { atMost: 0 } },
    {
      work: `${work}: rate`,
      unit: "/s",
      zksh: all("whole", rate),
      peers: [
        { name: "Java client", samples: all("java", rate), goal: { atLeast: 1 } },
        { name: `node-zookeeper-client, ${NAIVE_READS.toLocaleString("en")}`, samples: all("naive", rate) },
      ],
    },
    {
      work: `${work}: time for each (is it linear?)`,
      unit: "µs",
      zksh: all("whole", micros),
      peers: [
        { name: `zksh, ${(count / 2).toLocaleString("en")}`, samples: all("half", micros), goal: { atMost: 1.2 } },
      ],
    },
    {
      work: `${work}: client CPU for each`,
      unit: "µs",
      zksh: all("whole", cpu),
      peers: [
        {
          name: `node-zookeeper-client, ${NAIVE_READS.toLocaleString("en")}`,
          samples: all("naive", cpu),
          goal: { atMost: 0.5 },
        },
        { name: "Java client", samples: all("java", cpu) },
      ],
    },
  ];
}
