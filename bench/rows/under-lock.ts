import { join } from "node:path";
import { type Effort, type Measurement, withServer } from "../bench.ts";
import { type CommandLine, run, zksh } from "../processes.ts";
import { rowFrom } from "../row.ts";
import { takeTurns } from "../take-turns.ts";
import { PYTHON } from "../worker.ts";
import { warmUp } from "../znodes.ts";

const KAZOO = join(import.meta.dirname, "../peers/kazoo_run.py");

/** A whole process that takes a lock, runs `true` under it and gives the lock back. */
export const underLock: Measurement = {
  name: "under-lock",
  measure: ({ isQuick }: Effort) =>
    withServer(async ({ address }) => {
      await warmUp(address, "/");
      const lines: Record<string, CommandLine> = {
        zksh: [process.execPath, ...zksh("-s", address, "lock", "/bench-zksh", "--", "true")],
        "kazoo script": [PYTHON, KAZOO, address, "/bench-kazoo", "true"],
      };
      // The first runs fill caches, and make the paths.
      for (const line of Object.values(lines)) await run(line);
      const contestants = Object.entries(lines).map(([name, line]) => ({
        name,
        run: () => run(line),
      }));
      const samples = await takeTurns(isQuick ? 20 : 60, contestants);
      return [
        rowFrom(samples, {
          work: "lock P -- true, whole process, guarded",
          unit: "ms",
          peers: { "kazoo script": { atMost: 1.2 } },
        }),
      ];
    }),
};
