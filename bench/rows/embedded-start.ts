import { fourLetterWord } from "../../test/support/four-letter-word.ts";
import { startServer } from "../../test/support/zookeeper-server.ts";
import type { Effort, Measurement } from "../bench.ts";
import { run, zksh } from "../processes.ts";
import { rowFrom } from "../row.ts";
import { takeTurns } from "../take-turns.ts";
import { loadLibrary } from "../znodes.ts";

/** What a server may add to a bare start of node, half as long again. */
const ALLOWED_MS = 50;

/**
 * From nothing to the first answer: the embedded server against the bare program that it runs in,
 * and against Apache's.
 */
export const embeddedStart: Measurement = {
  name: "embedded",
  async measure({ isQuick }: Effort) {
    const { startEmbeddedServer } = await loadLibrary();
    const bare = `1.5 × node -e 0 and ${ALLOWED_MS} ms`;
    const apache = "ZooKeeper until it answers";
    const samples = await takeTurns(isQuick ? 9 : 30, [
      {
        name: bare,
        run: async () => (await run([process.execPath, "-e", "0"])) * 1.5 + ALLOWED_MS,
      },
      { name: "embedded", run: () => run(zksh("--embedded", "get", "/zookeeper")) },
      { name: "in process", run: () => answers(startEmbeddedServer) },
      { name: apache, run: () => answers(startServer), rounds: isQuick ? 2 : 5 },
    ]);
    return [
      rowFrom(samples, {
        work: "zksh --embedded get, whole process",
        unit: "ms",
        zksh: "embedded",
        // Not a tenth of it: that is what node alone takes.
        peers: { [bare]: { atMost: 1 }, [apache]: "no goal" },
      }),
      rowFrom(samples, {
        work: "startEmbeddedServer() until it answers",
        unit: "ms",
        zksh: "in process",
        peers: { [apache]: { atMost: 0.1 } },
      }),
    ];
  },
};

/** Until a server has answered something. */
async function answers(
  start: () => Promise<{ address: string; stop(): Promise<void> }>,
): Promise<number> {
  const startedAt = performance.now();
  const server = await start();
  await fourLetterWord(server.address, "ruok");
  const took = performance.now() - startedAt;
  await server.stop();
  return took;
}
