import zookeeper from "node-zookeeper-client";
import { describe, expect, test } from "vitest";
import {
  answerUnderWay,
  asked,
  expire,
  fake,
  keepTalking,
  lastConnection,
  NEVER_MS,
  Op,
  pingsOf,
  SHORT_SESSION_MS,
  silentServer,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import {
  connectedPlain,
  DISCONNECTED,
  EXPIRED,
  outcomeOf,
  plainProcess,
  SYNC_CONNECTED,
} from "./plain.ts";

// How node-zookeeper-client 1.1.3 fails. The same experiments with our session:
// test/session/defects-session-life.integration.test.ts.

const { CONNECTION_LOSS } = zookeeper.Exception;
const ignore = () => {};

describe("a server that stops answering", () => {
  test("a silent server keeps a request waiting and the client connected, ping after ping", async () => {
    const server = await silentServer();
    const client = await connectedPlain(server.address, { sessionTimeout: SHORT_SESSION_MS });
    const created = outcomeOf<string>((callback) => client.create("/a", callback));
    await sleep(2 * SHORT_SESSION_MS);
    expect(client.getState()).toBe(SYNC_CONNECTED);
    expect(created.calls).toEqual([]);
    expect(pingsOf(server)).toBeGreaterThan(3);
  });
});

describe("a session that reaches no server", () => {
  test("a session that reaches no server is never declared lost", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address, { sessionTimeout: SHORT_SESSION_MS });
    const states: string[] = [];
    client.on("state", ({ name }) => states.push(name));
    await server.close();
    await sleep(2 * SHORT_SESSION_MS);
    expect(states).toEqual(["DISCONNECTED"]);
  });
});

describe("requests queued while disconnected when the session expires", () => {
  test("the callback is never called", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    const states: object[] = [];
    client.on("state", (state) => states.push(state));
    let created = outcomeOf<string>(ignore);
    await expire(server, async () => {
      await eventually(() => client.getState() === DISCONNECTED);
      created = outcomeOf((callback) => client.create("/a", callback));
    });
    await eventually(() => states.includes(EXPIRED));
    await sleep(NEVER_MS);
    expect(created.calls).toEqual([]);
  });
});

describe("heartbeats on a busy connection", () => {
  test("no ping goes out while events keep coming in", async () => {
    const server = await fake();
    await connectedPlain(server.address, { sessionTimeout: SHORT_SESSION_MS });
    await keepTalking(server);
    expect(pingsOf(server)).toBe(0);
  });
});

describe("close() during a connection attempt", () => {
  test.each([
    ["before", ["close"]],
    ["right after", ["connect", "close"]],
  ])("closed %s connect(), it throws a TypeError", async (_, commands) => {
    const server = await fake();
    const plain = plainProcess(server.address);
    plain.run(...commands);
    await plain.says("uncaught TypeError");
  });

  test("closed during the handshake, it takes the handshake reply for another and throws", async () => {
    const { server, proxy, arrived } = await answerUnderWay();
    const plain = plainProcess(proxy.address);
    plain.run("connect");
    await arrived;
    plain.run("close");
    await eventually(() => asked(server).includes(Op.closeSession));
    proxy.resume();
    await plain.says("uncaught Error: Unknown code");
  });
});

describe("the state after expiry", () => {
  test("an expired session looks disconnected for ever, and later calls speak of a lost connection", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    const states: object[] = [];
    client.on("state", (state) => states.push(state));
    await expire(server);
    await eventually(() => states.length >= 3);
    await sleep(NEVER_MS);
    expect(states).toEqual([DISCONNECTED, EXPIRED, DISCONNECTED]);
    const { error } = await outcomeOf((callback) => client.exists("/a", callback)).settled();
    expect(error?.code).toBe(CONNECTION_LOSS);
    expect(server.connections).toHaveLength(2);
    expect(client.getState()).not.toBe(SYNC_CONNECTED);
  });
});

describe("a reply with zxid 0", () => {
  test("a reply with zxid 0 makes the client forget what it has seen", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    for (server.zxid of [1000n, 0n])
      await outcomeOf((callback) => client.exists("/a", callback)).settled();
    lastConnection(server).close();
    await eventually(
      () => server.connections.length === 2 && lastConnection(server).handshake !== undefined,
    );
    expect(lastConnection(server).handshake?.lastZxid).toBe(0n);
  });
});

describe("the session timeout requested after a reconnect", () => {
  test("a lower limit once met sticks", async () => {
    const server = await fake({ timeoutMs: 4_000 });
    await connectedPlain(server.address, { sessionTimeout: 20_000 });
    server.options.timeoutMs = 30_000;
    lastConnection(server).close();
    await eventually(
      () => server.connections.length === 2 && lastConnection(server).handshake !== undefined,
    );
    expect(server.connections.map(({ handshake }) => handshake?.timeoutMs)).toEqual([
      20_000, 4_000,
    ]);
  });
});
