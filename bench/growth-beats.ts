import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { startEnsemble } from "../test/support/ensemble.ts";
import { sleep } from "../test/support/eventually.ts";
import { fourLetterWord } from "../test/support/four-letter-word.ts";
import type { ZooKeeperServer } from "../test/support/zookeeper-server.ts";
import type { GrowthTable } from "./growth.ts";
import { Worker, withWorkers } from "./worker.ts";

/** Kernels count CPU time in these, whatever their own clock. */
const CPU_TICKS_PER_SECOND = 100;
/** Sessions, tickets and watches have been made by then; only heartbeats are left. */
const SETTLE_MS = 5_000;
/**
 * As a server in production runs: two seconds a tick, each transaction on disk before it is
 * answered, the full compiler.
 */
const PRODUCTION = {
  tickTime: 2_000,
  config: { forceSync: "yes" },
  jvmFlags: ["-Xmx1g", "-XX:TieredStopAtLevel=4"],
};

interface Count {
  readonly atMs: number;
  readonly transactions: number;
  /** Requests that clients have sent to any server. */
  readonly requests: number;
  readonly leaderCpu: number;
  readonly allCpu: number;
  /** Bytes of the leader's transaction log; each server has one of the same size. */
  readonly log: number;
}

interface Held {
  readonly held: number;
  readonly cpuSeconds: number;
}

/** What the heartbeats of sessions that hold locks cost an ensemble of three servers. */
export async function measureBeatGrowth(
  sizes: readonly number[],
  seconds: number,
): Promise<GrowthTable> {
  const rows: number[][] = [];
  for (const timeoutMs of [30_000, 10_000]) {
    for (const size of sizes) rows.push(await measure(size, timeoutMs, seconds));
  }
  return {
    title: "Heartbeats of sessions that hold a lock, on three servers",
    columns: [
      "sessions",
      "timeout, s",
      "requests/s",
      "transactions/s",
      "CPU of the leader, %",
      "CPU of all servers, %",
      "log of each server, KB/min",
      "CPU of the client, %",
    ],
    rows,
  };
}

async function measure(size: number, timeoutMs: number, seconds: number): Promise<number[]> {
  const ensemble = await startEnsemble(3, PRODUCTION);
  try {
    const leader = await ensemble.leader();
    const worker = new Worker("zksh-holders.js", [ensemble.connectString]);
    return await withWorkers([worker], async () => {
      await worker.ask("hold", size, timeoutMs);
      await sleep(SETTLE_MS);
      const clientBefore = await worker.ask<Held>("held");
      const before = await count(leader, ensemble.servers);
      await sleep(seconds * 1_000);
      const after = await count(leader, ensemble.servers);
      const client = await worker.ask<Held>("held");
      if (client.held !== size) throw new Error(`${size - client.held} of ${size} locks were lost`);
      await worker.ask("close");
      const took = (after.atMs - before.atMs) / 1_000;
      const rate = (of: keyof Count) => (after[of] - before[of]) / took;
      return [
        size,
        timeoutMs / 1_000,
        rate("requests"),
        rate("transactions"),
        rate("leaderCpu") * 100,
        rate("allCpu") * 100,
        (rate("log") * 60) / 1_024,
        ((client.cpuSeconds - clientBefore.cpuSeconds) / took) * 100,
      ];
    });
  } finally {
    await ensemble.stop();
  }
}

async function count(leader: ZooKeeperServer, servers: readonly ZooKeeperServer[]): Promise<Count> {
  const answers = await Promise.all(servers.map(({ address }) => fourLetterWord(address, "mntr")));
  const received = answers.map((answer) =>
    Number(/^zk_packets_received\s+(\d+)$/m.exec(answer)?.[1]),
  );
  const zxid = /Zxid: 0x([0-9a-f]+)/.exec(await fourLetterWord(leader.address, "srvr"))?.[1] ?? "";
  return {
    atMs: performance.now(),
    // The lower half counts within the time of one leader.
    transactions: Number(BigInt(`0x${zxid}`) & 0xffffffffn),
    requests: received.reduce((sum, value) => sum + value, 0),
    leaderCpu: cpuSeconds(leader.pid),
    allCpu: servers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    log: logBytes(leader),
  };
}

/** User and system time of a process. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Behind the name, which may have blanks in it: the fields from the third on.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CPU_TICKS_PER_SECOND;
}

/** What is written, not the length of the file: the server reserves 64 MB at a time. */
function logBytes({ dataDir }: ZooKeeperServer): number {
  const folder = join(dataDir, "version-2");
  const logs = readdirSync(folder).filter((name) => name.startsWith("log."));
  return logs.reduce((sum, name) => sum + statSync(join(folder, name)).blocks * 512, 0);
}
