import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import type { StateChange } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import {
  answerUnderWay,
  asked,
  expire,
  fake,
  keepTalking,
  lastConnection,
  Op,
  open,
  pingsOf,
  SHORT_SESSION_MS,
  silentServer,
} from "../support/defect-experiments.ts";
import { deferred, eventually } from "../support/eventually.ts";
import { isHeartbeat } from "../support/fake-server.ts";

// Our session in the situations in which node-zookeeper-client 1.1.3 fails. The same experiments with
// that package: test/defects/session-life.test.ts.

describe("a server that stops answering", () => {
  test("a silent connection is given up within the session timeout, and its request fails", async () => {
    const server = await silentServer();
    const session = open(server.address, { timeoutMs: SHORT_SESSION_MS });
    await session.connected();
    const startedAt = performance.now();
    await expect(session.create("/a", null)).rejects.toMatchObject({
      reason: "connection-loss",
      sent: true,
    });
    const elapsedMs = performance.now() - startedAt;
    expect(elapsedMs).toBeGreaterThan(SHORT_SESSION_MS / 4);
    expect(elapsedMs).toBeLessThan(SHORT_SESSION_MS);
    await eventually(() => server.connections.length > 1);
  });
});

describe("a session that reaches no server", () => {
  test("a session that reaches no server declares itself lost before a server may expire it", async () => {
    const server = await fake();
    const session = open(server.address, { timeoutMs: SHORT_SESSION_MS });
    const changes: StateChange[] = [];
    session.onState((change) => changes.push(change));
    const lost = deferred<number>();
    session.onState(({ state }) => state === "lost" && lost.resolve(performance.now()));
    const loopDelay = monitorEventLoopDelay({ resolution: 5 });
    loopDelay.enable();
    const startedAt = performance.now();
    await session.connected();
    await server.close();
    const elapsedMs = (await lost.promise) - startedAt;
    loopDelay.disable();
    // This process may have been late itself, on a busy machine; that is not what is judged.
    expect(elapsedMs).toBeLessThan(SHORT_SESSION_MS + loopDelay.max / 1e6);
    expect(changes).toMatchObject([
      { state: "connected" },
      { state: "suspended" },
      { state: "lost", reason: "expired" },
    ]);
    expect(session.isAlive()).toBe(false);
  });
});

describe("requests queued while disconnected when the session expires", () => {
  test("a request queued while disconnected fails when the session expires, and says that it never left", async () => {
    const server = await fake();
    const session = open(server.address);
    await session.connected();
    let created: Promise<unknown> | undefined;
    await expire(server, async () => {
      await eventually(() => session.state === "suspended");
      created = session.create("/a", null);
      created.catch(() => {});
    });
    await expect(created).rejects.toMatchObject({ reason: "session-expired", sent: false });
    expect(asked(server)).toEqual([]);
  });
});

describe("heartbeats on a busy connection", () => {
  test("heartbeats are sent on time while events keep coming in", async () => {
    const server = await fake();
    const session = open(server.address, { timeoutMs: SHORT_SESSION_MS });
    await session.connected();
    const beats = () =>
      server.connections.flatMap(({ requests }) => requests).filter(isHeartbeat).length;
    // Of the fourteen in two session timeouts: timers fire late on a busy machine.
    await keepTalking(server, () => beats() >= 12);
    expect(beats()).toBeGreaterThanOrEqual(12);
    // Not pings: a follower would answer those without its leader.
    expect(pingsOf(server)).toBe(0);
    expect(server.connections).toHaveLength(1);
  });
});

describe("close() during a connection attempt", () => {
  test("a session closed right after it was opened is closed", async () => {
    const server = await fake();
    const session = openSession({ servers: [{ host: "127.0.0.1", port: server.port }] });
    await session.close();
    expect(session.state).toBe("lost");
    // Whatever the first one still had in mind would have reached the server before this.
    await open(server.address).connected();
    expect(server.connections.filter(({ isOpen }) => isOpen)).toHaveLength(1);
  });

  test("a session closed during the handshake leaves no connection", async () => {
    const { server, proxy, arrived } = await answerUnderWay();
    const session = open(proxy.address);
    await arrived;
    await session.close();
    proxy.resume();
    expect(session.state).toBe("lost");
    await eventually(() => !lastConnection(server).isOpen);
    expect(proxy.connections).toBe(0);
  });

  test("a session closed during the handshake with work to do does it, then sends closeSession", async () => {
    const { server, proxy, arrived } = await answerUnderWay();
    const session = open(proxy.address);
    await arrived;
    const created = expect(session.create("/a", null)).rejects.toMatchObject({
      reason: "unimplemented",
    });
    const closed = session.close();
    proxy.resume();
    await closed;
    await created;
    expect(asked(server)).toEqual([Op.create, Op.closeSession]);
  });

  test("a session closed while disconnected sends closeSession to the next server that answers", async () => {
    const server = await fake();
    const session = open(server.address);
    await session.connected();
    await server.close();
    await eventually(() => session.state === "suspended");
    const closed = session.close();
    await server.listen();
    await closed;
    expect(session.state).toBe("lost");
    expect(asked(server)).toEqual([Op.closeSession]);
  });
});

describe("the state after expiry", () => {
  test("an expired session stays lost, and says so on every call", async () => {
    const server = await fake();
    const session = open(server.address);
    await session.connected();
    const changes: object[] = [];
    session.onState((change) => changes.push(change));
    await expire(server);
    await eventually(() => session.state === "lost");
    await expect(session.exists("/a")).rejects.toMatchObject({ reason: "session-expired" });
    expect(changes).toEqual([{ state: "suspended" }, { state: "lost", reason: "expired" }]);
    expect(server.connections).toHaveLength(2);
  });
});

describe("a reply with zxid 0", () => {
  test("a reply with zxid 0 does not make the session forget what it has seen", async () => {
    const server = await fake();
    const session = open(server.address);
    for (server.zxid of [1000n, 0n]) await session.exists("/a");
    lastConnection(server).close();
    await eventually(
      () => server.connections.length === 2 && lastConnection(server).handshake !== undefined,
    );
    expect(lastConnection(server).handshake?.lastZxid).toBe(1000n);
  });
});

describe("the session timeout requested after a reconnect", () => {
  test("every connection requests the configured session timeout", async () => {
    const server = await fake({ timeoutMs: 4_000 });
    const session = open(server.address, { timeoutMs: 20_000 });
    await session.connected();
    expect(session.timeoutMs).toBe(4_000);
    server.options.timeoutMs = 30_000;
    lastConnection(server).close();
    await eventually(() => server.connections.length === 2 && session.state === "connected");
    expect(server.connections.map(({ handshake }) => handshake?.timeoutMs)).toEqual([
      20_000, 20_000,
    ]);
    // What was granted first is what is counted on: a new leader goes by it.
    expect(session.timeoutMs).toBe(4_000);
  });
});
