import zookeeper from "node-zookeeper-client";
import { describe, expect, test } from "vitest";
import {
  dropAfterHandshake,
  expire,
  fake,
  lastConnection,
  loseAnswer,
  NEVER_MS,
  negativeLengthServer,
  open,
  real,
  watchWarnings,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import {
  connectedPlain,
  connectPlain,
  DISCONNECTED,
  EXPIRED,
  outcomeOf,
  plainProcess,
} from "./plain.ts";

// node-zookeeper-client 1.1.3 as it is. The same experiments with our session:
// test/session/defects-new-n12-n22.integration.test.ts.

const ignore = () => {};

describe("N12 no watch fires on expiry", () => {
  test("the watcher hears nothing", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    const heard: object[] = [];
    await outcomeOf((callback) =>
      client.exists("/a", (event) => heard.push(event), callback),
    ).settled();
    const states: object[] = [];
    client.on("state", (state) => states.push(state));
    await expire(server);
    await eventually(() => states.includes(EXPIRED));
    await sleep(NEVER_MS);
    expect(heard).toEqual([]);
  });
});

describe("N13 zxid taken from any reply, even 0", () => {
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

describe("N14 retries re-send non-idempotent requests", () => {
  test("a sequential create whose answer is lost makes two nodes", async () => {
    const { proxy, proxied, direct } = await real();
    const other = open(direct);
    const client = await connectedPlain(proxied, { retries: 1 });
    let created = outcomeOf<string>(ignore);
    const send = () => {
      created = outcomeOf((callback) =>
        client.create("/n-", zookeeper.CreateMode.PERSISTENT_SEQUENTIAL ?? 2, callback),
      );
    };
    await loseAnswer(proxy, send, async () => (await other.getChildren("/")).length === 1);
    expect((await created.settled()).error).toBeNull();
    expect(await other.getChildren("/")).toHaveLength(2);
  });
});

describe("N15 the queue cannot be cancelled", () => {
  test("a request its caller has long given up is sent at the reconnect", async () => {
    const { proxy, proxied, direct } = await real();
    const other = open(direct);
    const client = await connectedPlain(proxied);
    await proxy.refuse();
    await eventually(() => client.getState() === DISCONNECTED);
    const created = outcomeOf<string>((callback) => client.create("/late", callback));
    await sleep(NEVER_MS);
    expect(created.calls).toEqual([]);
    await proxy.listen();
    await eventually(async () => (await other.exists("/late")) !== undefined);
  });
});

describe("N16 no back-off when the drop follows a good handshake", () => {
  test("a server that drops every connection after the handshake is hammered", async () => {
    const server = await dropAfterHandshake();
    connectPlain(server.address, { spinDelay: 1_000 });
    await sleep(1_000);
    expect(server.connections.length).toBeGreaterThan(50);
  });
});

describe("N17 a negative frame length throws out of the socket handler", () => {
  test("it is an uncaught exception", async () => {
    const server = await negativeLengthServer();
    const plain = plainProcess(server.address);
    plain.run("connect");
    await plain.says("state SYNC_CONNECTED");
    plain.run("exists /a");
    await plain.says("uncaught ");
  });
});

describe("N18 more than 10 watchers on one path warn, and each closure is kept", () => {
  test("the eleventh watcher is called a possible leak", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    const warnings = watchWarnings();
    for (let watcher = 0; watcher < 11; watcher++) {
      await outcomeOf((callback) => client.exists("/a", () => {}, callback)).settled();
    }
    await eventually(() => expect(warnings).toEqual(["MaxListenersExceededWarning"]));
  });
});

describe("N19 setData(path, null) throws", () => {
  test("null is allowed by its own check and throws a TypeError behind it", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    expect(() => client.setData("/a", null, ignore)).toThrow(TypeError);
  });
});

describe("N20 socket handlers are bound to the manager, not the socket", () => {
  test("after a second connect() one socket's answer is taken for the other's, and the session is dropped", async () => {
    const server = await fake();
    // Twice the same address: with one the second connect() throws even earlier, for want of a next
    // address.
    const client = connectPlain(`${server.address},${server.address}`);
    const states: string[] = [];
    client.on("state", ({ name }) => states.push(name));
    client.connect();
    await eventually(() => server.connections.length > 2);
    expect(states.slice(0, 2)).toEqual(["SYNC_CONNECTED", "DISCONNECTED"]);
    expect(server.connections[0]?.isOpen).toBe(true);
  });
});

describe("N21 no create2, createContainer, sync, removeWatches, addWatch", () => {
  test("the client has none of them, and no container mode", () => {
    const client = zookeeper.createClient("localhost");
    for (const operation of [
      "create2",
      "createContainer",
      "sync",
      "removeWatches",
      "removeWatch",
      "addWatch",
    ]) {
      expect(client).not.toHaveProperty(operation);
    }
    expect(Object.values(zookeeper.CreateMode).toSorted()).toEqual([0, 1, 2, 3]);
  });
});

describe("N22 after a reconnect it asks for the negotiated timeout", () => {
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
