import { withServer } from "./bench.ts";
import type { GrowthTable } from "./growth.ts";
import { Worker, withWorkers } from "./worker.ts";

/** Longer than a session takes from one heartbeat to the next. */
const IDLE_SECONDS = 15;

interface Opened {
  readonly seconds: number;
  /** Bytes more than before. */
  readonly rss: number;
  readonly heap: number;
}

/** Ever more sessions in one process, opened at once, then left alone. */
export async function measureSessionGrowth(sizes: readonly number[]): Promise<GrowthTable> {
  const rows: (string | number)[][] = [];
  for (const size of sizes) rows.push(await measure(size));
  return {
    title: "Sessions in one process",
    columns: [
      "sessions",
      "open, s",
      "ms for each",
      "heap for each, KB",
      "memory for each, KB",
      "CPU when idle, %",
      "close, s",
    ],
    rows,
  };
}

function measure(size: number): Promise<number[]> {
  return withServer(async ({ address }) => {
    const worker = new Worker("zksh-sessions.js", [address]);
    return withWorkers([worker], async () => {
      const { seconds, rss, heap } = await worker.ask<Opened>("open", size);
      const { share, alive } = await worker.ask<{ share: number; alive: number }>(
        "idle",
        IDLE_SECONDS,
      );
      if (alive !== size) throw new Error(`${size - alive} of ${size} sessions were lost`);
      const { seconds: closing } = await worker.ask<{ seconds: number }>("close");
      const each = (bytes: number) => bytes / size / 1024;
      return [size, seconds, (seconds * 1000) / size, each(heap), each(rss), share * 100, closing];
    });
  });
}
