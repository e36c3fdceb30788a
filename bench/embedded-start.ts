/** From nothing to the first answer: the embedded server against the bare program that it runs in, and against Apache's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { startEmbeddedServer } from "../src/embedded/server.ts";
import { fourLetterWord } from "../test/support/four-letter-word.ts";
import { startServer } from "../test/support/zookeeper-server.ts";
import type { Row } from "./main.ts";

const PROGRAM = join(import.meta.dirname, "../bin/zksh.js");
const ROUNDS = 15;
const SERVER_ROUNDS = 3;
/** What a server may add to a bare start of node, half as long again. */
const ALLOWED_MS = 50;

export async function measureEmbeddedStart(): Promise<Row[]> {
  const bare: number[] = [];
  const embedded: number[] = [];
  const inProcess: number[] = [];
  const apache: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await run(["-e", "0"]));
    embedded.push(await run([PROGRAM, "--embedded", "get", "/zookeeper"]));
    inProcess.push(await answers(startEmbeddedServer));
    if (round < SERVER_ROUNDS) apache.push(await answers(startServer));
  }
  const zksh = median(embedded);
  return [
    {
      work: "zksh --embedded get /zookeeper (peer: 1.5 x node -e 0, and 50 ms)",
      unit: "ms",
      zksh,
      peer: median(bare) * 1.5 + ALLOWED_MS,
      goal: { atMost: 1 },
    },
    {
      work: "the same (peer: ZooKeeper until it answers)",
      unit: "ms",
      zksh,
      peer: median(apache),
      goal: { atMost: 0.1 },
    },
    {
      work: "startEmbeddedServer() (peer: ZooKeeper until it answers)",
      unit: "ms",
      zksh: median(inProcess),
      peer: median(apache),
      goal: { atMost: 0.1 },
    },
  ];
}

async function run(args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const [code] = await once(spawn(process.execPath, args, { stdio: "ignore" }), "exit");
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}`);
  return performance.now() - startedAt;
}

/** Until a server has answered something. */
async function answers(start: () => Promise<{ address: string; stop(): Promise<void> }>): Promise<number> {
  const startedAt = performance.now();
  const server = await start();
  await fourLetterWord(server.address, "ruok");
  const took = performance.now() - startedAt;
  await server.stop();
  return took;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
