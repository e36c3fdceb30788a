import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import zookeeper from "node-zookeeper-client";
import { startServer } from "../test/support/zookeeper-server.ts";
import type { Row } from "./main.ts";

type Library = typeof import("../src/index.ts");
type Client = "zksh" | "peer";

interface Sample {
  readonly cpuMicros: number;
  readonly perSecond: number;
}

const READS = 20_000;
/** Not measured: with less, a good part of what is measured is node compiling the code. */
const WARM_UP = READS;
const ROUNDS = 7;
const PATH = "/bench";
const DATA = Buffer.alloc(100, "x");
const TIMEOUT_MS = 30_000;

/**
 * Pipelined reads through our session and through node-zookeeper-client, on the same server. Every round is a process of
 * its own, and the two take turns, so that neither gets the better half of a machine whose speed changes.
 */
export async function measureSessionReads(): Promise<Row[]> {
  const server = await startServer();
  const samples: Record<Client, Sample[]> = { zksh: [], peer: [] };
  try {
    const { openSession } = await loadLibrary();
    const session = openSession({ servers: [server] });
    await session.create(PATH, DATA);
    await session.close();
    for (let round = 0; round < ROUNDS; round++) {
      for (const client of ["zksh", "peer"] as const) samples[client].push(await runInProcess(client, server.port));
    }
  } finally {
    await server.stop();
  }
  const medians = (of: (sample: Sample) => number) => ({
    zksh: median(samples.zksh.map(of)),
    peer: median(samples.peer.map(of)),
  });
  const work = `${READS} pipelined reads of ${DATA.length} bytes`;
  return [
    { work: `${work}: CPU per read`, unit: "µs", ...medians(({ cpuMicros }) => cpuMicros), goal: { atMost: 0.5 } },
    { work: `${work}: reads per second`, unit: "/s", ...medians(({ perSecond }) => perSecond), goal: { atLeast: 1 } },
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** What users get: the bundle. */
function loadLibrary(): Promise<Library> {
  const root = join(import.meta.dirname, "..");
  const bundle = join(root, "dist/index.js");
  return import(pathToFileURL(existsSync(bundle) ? bundle : join(root, "src/index.ts")).href);
}

async function runInProcess(client: Client, port: number): Promise<Sample> {
  const child = fork(fileURLToPath(import.meta.url), [client, String(port)]);
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`${client} ended with ${code} and no result`);
  });
  const [sample] = await Promise.race([once(child, "message"), failed]);
  await once(child, "exit");
  return sample as Sample;
}

/** The process that {@link runInProcess} starts. */
async function measureHere(client: Client, port: number): Promise<Sample> {
  const { read, close } = client === "zksh" ? await openOurs(port) : await openPeer(port);
  const readMany = async (count: number) => {
    const lengths = await Promise.all(Array.from({ length: count }, read));
    if (lengths.some((length) => length !== DATA.length)) throw new Error("read something else");
  };
  await readMany(WARM_UP);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await readMany(READS);
  const seconds = (performance.now() - startedAt) / 1000;
  const cpu = process.cpuUsage(cpuBefore);
  await close();
  return { cpuMicros: (cpu.user + cpu.system) / READS, perSecond: READS / seconds };
}

interface Opened {
  read(): Promise<number | undefined>;
  close(): Promise<void>;
}

async function openOurs(port: number): Promise<Opened> {
  const { openSession } = await loadLibrary();
  const session = openSession({ servers: [{ host: "127.0.0.1", port }], timeoutMs: TIMEOUT_MS });
  await session.connected();
  return {
    read: () => session.getData(PATH).then(({ data }) => data?.length),
    close: () => session.close(),
  };
}

async function openPeer(port: number): Promise<Opened> {
  const peer = zookeeper.createClient(`127.0.0.1:${port}`, { sessionTimeout: TIMEOUT_MS });
  const connected = once(peer, "connected");
  peer.connect();
  await connected;
  return {
    read: () =>
      new Promise((resolve, reject) =>
        peer.getData(PATH, (error, data) => (error ? reject(error) : resolve((data as Buffer).length))),
      ),
    close: async () => {
      const closed = once(peer, "disconnected");
      peer.close();
      await closed;
    },
  };
}

const [client, port] = process.argv.slice(2);
if (process.send !== undefined && (client === "zksh" || client === "peer")) {
  process.send(await measureHere(client, Number(port)));
  process.disconnect();
}
