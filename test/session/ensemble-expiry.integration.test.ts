import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { Ensemble, startEnsemble } from "../support/ensemble.ts";
import { deferred, eventually } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { ZooKeeperServer } from "../support/zookeeper-server.ts";

const TICK_MS = 1_000;

function open(address: string, timeoutMs: number, trace?: (line: string) => void): Session {
  const session = openSession({
    ...parseConnectString(address),
    timeoutMs,
    ...(trace && { trace }),
  });
  onTestFinished(() => session.close());
  return session;
}

/** When `session` stopped counting itself alive, looked at as often as the event loop allows. */
async function notAliveAt(session: Session): Promise<number> {
  await eventually(() => !session.isAlive(), { timeoutMs: 60_000, intervalMs: 5 });
  return performance.now();
}

/** Makes `holder` own an ephemeral; somebody at `address` notes when it goes. */
async function observe(holder: Session, address: string): Promise<{ vanishedAt: number }> {
  await holder.create("/lock", null, { mode: "ephemeral" });
  const seen = { vanishedAt: 0 };
  const watch = () => {
    seen.vanishedAt = performance.now();
  };
  await open(address, 40_000).getData("/lock", { watch });
  return seen;
}

/** The whole point: first the holder knows, then the others. */
async function expectOverBeforeVanish(
  holder: Session,
  seen: { readonly vanishedAt: number },
): Promise<void> {
  const over = await notAliveAt(holder);
  expect(seen.vanishedAt).toBe(0);
  await eventually(() => seen.vanishedAt > 0, { timeoutMs: 60_000 });
  expect(seen.vanishedAt).toBeGreaterThan(over);
}

describe("a session on a follower is over before the leader can end it", () => {
  test("when the follower dies before it has told the leader of the last requests", async () => {
    const ensemble = await startEnsemble(3, { tickTime: TICK_MS });
    onTestFinished(() => ensemble.stop());
    const leader = await ensemble.leader();
    const [follower] = await ensemble.followers();
    if (follower === undefined) throw new Error("no follower");
    let beats = 0;
    const answered = deferred();
    const session = open(follower.address, 6 * TICK_MS, (line) => {
      if (line.startsWith("sync / -> ok") && ++beats === 4) answered.resolve();
    });
    await session.connected();
    const seen = await observe(session, leader.address);
    await answered.promise;
    process.kill(follower.pid, "SIGKILL");
    await expectOverBeforeVanish(session, seen);
  });

  test("when the follower is cut off from the leader and goes on answering", async () => {
    const { servers, proxies, ensemble } = await startWithProxiedMember();
    const [member] = servers;
    if (member === undefined) throw new Error("no member");
    const leader = await ensemble.leader();
    expect(leader).not.toBe(member);
    const session = open(member.address, 4 * TICK_MS);
    await session.connected();
    const seen = await observe(session, leader.address);
    for (const proxy of proxies) proxy.blackhole();
    await expectOverBeforeVanish(session, seen);
  });
});

/**
 * Three servers; the first reaches the others' quorum ports through proxies, so that it can be cut
 * off from its leader alone.
 */
async function startWithProxiedMember() {
  const ports = new Set<number>();
  while (ports.size < 9) ports.add(await freePort());
  const all = [...ports];
  const [client, quorum, election] = [all.slice(0, 3), all.slice(3, 6), all.slice(6, 9)];
  const proxies = await Promise.all(quorum.slice(1).map((port) => startFaultProxy(port)));
  const servers = client.map((port, index) => {
    const config: Record<string, string> = { initLimit: "10", syncLimit: "5" };
    for (const [other, clientPort] of client.entries()) {
      const through = index === 0 ? proxies[other - 1]?.port : undefined;
      config[`server.${other + 1}`] =
        `127.0.0.1:${through ?? quorum[other]}:${election[other]};127.0.0.1:${clientPort}`;
    }
    const server = new ZooKeeperServer({ tickTime: TICK_MS, port, isMember: true, config });
    writeFileSync(join(server.dataDir, "myid"), String(index + 1));
    return server;
  });
  const ensemble = new Ensemble(servers);
  onTestFinished(async () => {
    await ensemble.stop();
    await Promise.all(proxies.map((proxy: FaultProxy) => proxy.close()));
  });
  // The others first: the one behind the proxies must not become the leader.
  await Promise.all(servers.slice(1).map((server) => server.start()));
  await servers[0]?.start();
  await ensemble.waitForQuorum();
  return { servers, proxies, ensemble };
}
