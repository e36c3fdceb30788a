import { join } from "node:path";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type CommandLine, run, zkcli, zksh } from "../processes.ts";
import { rowFrom } from "../row.ts";
import { takeTurns } from "../take-turns.ts";
import { PYTHON } from "../worker.ts";
import { makeZnodes, warmUp } from "../znodes.ts";

const PEERS = join(import.meta.dirname, "../peers");
/** The limit: what server, network and node cost. */
const BY_HAND = "by hand, over a socket";
const AS_TYPED = "zksh, by its name";

/** The goal beside {@link BY_HAND}: Node 20 itself starts faster. */
const MOST_TIMES_BY_HAND = process.version.startsWith("v20.") ? 1.8 : 1.6;

/** A whole process for one read. */
export const oneShot: Measurement = {
  name: "one-shot",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      await makeZnodes(address, ["/bench"]);
      await warmUp(address, "/bench");
      const asTyped = zksh("-s", address, "get", "/bench");
      const lines: Record<string, CommandLine> = {
        // Started as all programs for node are: by its name, `env` looks for node first.
        zksh: [process.execPath, ...asTyped],
        [AS_TYPED]: asTyped,
        "node -e 0": [process.execPath, "-e", "0"],
        [BY_HAND]: [process.execPath, join(PEERS, "hand-get.cjs"), address, "/bench"],
        "zkCli.sh": zkcli(address, "get", "/bench"),
        "kazoo script": [PYTHON, join(PEERS, "kazoo_get.py"), address, "/bench"],
        "node-zookeeper-client script": [
          process.execPath,
          join(PEERS, "naive-get.js"),
          address,
          "/bench",
        ],
      };
      // The first runs fill caches: the system's, and those that programs keep.
      for (const line of Object.values(lines)) await run(line);
      const contestants = Object.entries(lines).map(([name, line]) => ({
        name,
        run: () => run(line),
        ...(name === "zkCli.sh" && { rounds: isQuick ? 5 : 20 }),
      }));
      const samples = await takeTurns(isQuick ? 15 : 60, contestants);
      return [
        rowFrom(samples, {
          work: "one get, whole process",
          unit: "ms",
          peers: {
            "node -e 0": "no goal",
            [BY_HAND]: { atMost: MOST_TIMES_BY_HAND },
            "zkCli.sh": { atMost: 0.167 },
            "kazoo script": { atMost: 1 },
            "node-zookeeper-client script": "no goal",
          },
        }),
        rowFrom(samples, {
          zksh: AS_TYPED,
          work: "the same, started by its name",
          unit: "ms",
          peers: { "node -e 0": "no goal", "zkCli.sh": { atMost: 0.167 } },
        }),
      ];
    }),
};
