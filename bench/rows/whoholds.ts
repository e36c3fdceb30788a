import { type FaultProxy, startFaultProxy } from "../../test/support/fault-proxy.ts";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type CommandLine, countLines, run, scratchFile, zkcli, zksh } from "../processes.ts";
import { rowFrom } from "../row.ts";
import { takeTurns } from "../take-turns.ts";
import { withQueue } from "../znodes.ts";

const CONTENDERS = 5_000;
const ONE_WAY_MS = 200;

/** Who holds a lock, and who waits: asked by a whole process. */
export const whoholds: Measurement = {
  name: "whoholds",
  measure: ({ isQuick }: Effort) =>
    withServer(async (server) => {
      const network = await startFaultProxy(server.port);
      return withQueue(server.address, "/lock", CONTENDERS, async () => {
        const asking = (address: string) => zksh("-s", address, "whoholds", "/lock");
        const listing = zkcli(server.address, "ls", "/lock");
        const samples = await takeTurns(isQuick ? 3 : 9, [
          { name: "zksh", run: () => answered(asking(server.address), CONTENDERS) },
          { name: "zkCli.sh ls, names only", run: () => run(listing), rounds: isQuick ? 2 : 9 },
        ]);
        const work = `whoholds, ${CONTENDERS.toLocaleString("en")} contenders`;
        return [
          {
            work: `${work}: round trips until it knows`,
            unit: "",
            zksh: [await roundTrips(network, asking(network.address))],
            goal: { atMost: 2 },
          },
          rowFrom(samples, { work, unit: "ms", peers: { "zkCli.sh ls, names only": "no goal" } }),
        ];
      }).finally(() => network.close());
    }),
};

async function answered(line: CommandLine, lines: number): Promise<number> {
  const output = scratchFile("whoholds");
  const ms = await run(line, { output });
  const written = countLines(output, (text) => text !== "");
  if (written < lines) throw new Error(`${line.join(" ")} wrote ${written} lines`);
  return ms;
}

/**
 * How often it sends something because of an answer, less the goodbye, for which nobody waits. The
 * network is slow, so that nothing is sent while answers still come in.
 */
async function roundTrips(network: FaultProxy, line: CommandLine): Promise<number> {
  let last = "";
  let flights = 0;
  network.onBytes = (direction) => {
    if (direction === "to-server" && last !== direction) flights += 1;
    last = direction;
  };
  network.delay(ONE_WAY_MS);
  await run(line);
  return flights - 1;
}
