import { withServer } from "./bench.ts";
import type { GrowthTable } from "./growth.ts";
import { untilQuiet } from "./packets.ts";
import { Worker, withWorkers } from "./worker.ts";

const RELEASES = 100;

interface Memory {
  /** Bytes, after a garbage collection. */
  readonly rss: number;
  readonly heap: number;
}

/**
 * One lock with ever more who wait for it in one process, on one session and on sessions of their
 * own.
 */
export async function measureLockGrowth(
  sizes: readonly number[],
  ownSessionsUpTo: number,
): Promise<GrowthTable> {
  const rows: (string | number)[][] = [];
  for (const waiters of sizes) rows.push(await measure(waiters, 1));
  for (const waiters of sizes.filter((size) => size <= ownSessionsUpTo))
    rows.push(await measure(waiters, waiters));
  return {
    title: "A lock and those who wait for it, in one process",
    columns: [
      "waiters",
      "sessions",
      "all wait after, s",
      "heap for each, KB",
      "memory for each, KB",
      "hand-over, ms",
      "messages for a release",
    ],
    rows,
  };
}

function measure(waiters: number, sessions: number): Promise<(string | number)[]> {
  return withServer(async ({ address }) => {
    const worker = new Worker("zksh-locks.js", [address, "/lock"]);
    return withWorkers([worker], async () => {
      const releases = Math.min(RELEASES, waiters - 1);
      const before = await worker.ask<Memory & { seconds: number }>("queue", waiters, sessions);
      const said = await untilQuiet(address, waiters);
      const after = await worker.ask<Memory>("memory");
      const { seconds } = await worker.ask<{ seconds: number }>("drain", releases);
      const messages = (await said()) / releases;
      const each = (of: keyof Memory) => (after[of] - before[of]) / waiters / 1024;
      return [
        waiters,
        sessions,
        before.seconds,
        each("heap"),
        each("rss"),
        (seconds / releases) * 1000,
        messages,
      ];
    });
  });
}
