import { join } from "node:path";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type CommandLine, run, zkcli, zksh } from "../processes.ts";
import { takeTurns } from "../take-turns.ts";
import { PYTHON } from "../worker.ts";
import { makeZnodes } from "../znodes.ts";

const PEERS = join(import.meta.dirname, "../peers");

/** A whole process for one read. */
export const oneShot: Measurement = {
  name: "one-shot",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      await makeZnodes(address, ["/bench"]);
      const lines: Record<string, CommandLine> = {
        zksh: zksh("-s", address, "get", "/bench"),
        "node -e 0": [process.execPath, "-e", "0"],
        "zkCli.sh": zkcli(address, "get", "/bench"),
        kazoo: [PYTHON, join(PEERS, "kazoo_get.py"), address, "/bench"],
        "node-zookeeper-client": [process.execPath, join(PEERS, "naive-get.js"), address, "/bench"],
      };
      // The first runs fill caches: the system's, and those that programs keep.
      for (const line of Object.values(lines)) await run(line);
      const contestants = Object.entries(lines).map(([name, line]) => ({
        name,
        run: () => run(line),
        ...(name === "zkCli.sh" && { rounds: isQuick ? 5 : 20 }),
      }));
      const samples = await takeTurns(isQuick ? 15 : 60, contestants);
      const of = (name: string) => samples.get(name) ?? [];
      return [
        {
          work: "one get, whole process",
          unit: "ms",
          zksh: of("zksh"),
          peers: [
            { name: "node -e 0", samples: of("node -e 0"), goal: { atMost: 1.25 } },
            { name: "zkCli.sh", samples: of("zkCli.sh"), goal: { atMost: 0.2 } },
            { name: "kazoo script", samples: of("kazoo") },
            { name: "node-zookeeper-client script", samples: of("node-zookeeper-client") },
          ],
        },
      ];
    }),
};
