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

/**
 * Node 20 reads this bundle at every start, whatever it runs: many machines behind a proxy set it, and the one had it where
 * the goal beside `node -e 0` was set (88 ms). Without it no program that opens a socket meets that goal: see by hand.
 */
const CERTIFIED = { NODE_EXTRA_CA_CERTS: "/etc/ssl/certs/ca-certificates.crt" };
const BESIDE_NODE = ["zksh", "node -e 0", BY_HAND];

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
        "node-zookeeper-client script": [process.execPath, join(PEERS, "naive-get.js"), address, "/bench"],
      };
      // The first runs fill caches: the system's, and those that programs keep.
      for (const line of Object.values(lines)) await run(line);
      const contestants = Object.entries(lines).map(([name, line]) => ({
        name,
        run: () => run(line),
        ...(name === "zkCli.sh" && { rounds: isQuick ? 5 : 20 }),
      }));
      const certified = Object.entries(lines)
        .filter(([name]) => BESIDE_NODE.includes(name))
        .map(([name, line]) => ({ name: `${name}, certified`, run: () => run(line, { env: CERTIFIED }) }));
      const samples = await takeTurns(isQuick ? 15 : 60, [...contestants, ...certified]);
      const ofCertified = new Map(BESIDE_NODE.map((name) => [name, samples.get(`${name}, certified`) ?? []]));
      return [
        rowFrom(samples, {
          work: "one get, whole process",
          unit: "ms",
          peers: {
            "node -e 0": { atMost: 1.25, limit: BY_HAND },
            [BY_HAND]: "no goal",
            "zkCli.sh": { atMost: 0.2 },
            "kazoo script": "no goal",
            "node-zookeeper-client script": "no goal",
          },
        }),
        rowFrom(samples, {
          zksh: AS_TYPED,
          work: "the same, started by its name",
          unit: "ms",
          peers: { "node -e 0": "no goal", "zkCli.sh": { atMost: 0.2 } },
        }),
        rowFrom(ofCertified, {
          work: "the same, where node reads certificates at its start",
          unit: "ms",
          peers: { "node -e 0": { atMost: 1.25 }, [BY_HAND]: "no goal" },
        }),
      ];
    }),
};
