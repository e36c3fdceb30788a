import { describe, expect, onTestFinished, test } from "vitest";
import type { WatchEvent } from "../../src/session/session.ts";
import { Link } from "../../src/session/zookeeper/connecting/link.ts";
import {
  dropAfterHandshake,
  expire,
  fake,
  lastConnection,
  loseAnswer,
  negativeLengthServer,
  open,
  real,
  watchWarnings,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { freshChroot } from "../support/shared-server.ts";

// The rest of the list begun in defects-new-n1-n11.integration.test.ts.

describe("N12 no watch fires on expiry", () => {
  test("every watch hears once that the session is lost", async () => {
    const server = await fake();
    const session = open(server.address);
    const heard: WatchEvent[] = [];
    const watch = (event: WatchEvent) => heard.push(event);
    await session.exists("/a", { watch });
    await expire(server);
    await eventually(() => session.state === "lost");
    expect(heard).toEqual([{ type: "lost", path: "/a" }]);
  });
});

describe("N13 zxid taken from any reply, even 0", () => {
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

describe("N14 retries re-send non-idempotent requests", () => {
  test("a sequential create whose answer is lost is reported, not repeated", async () => {
    const { proxy, proxied, direct } = await real();
    const [session, other] = [open(proxied), open(direct)];
    await session.connected();
    let created: Promise<unknown> | undefined;
    const send = () => {
      created = session.create("/n-", null, { mode: "persistentSequential" });
      created.catch(() => {});
    };
    await loseAnswer(proxy, send, async () => (await other.getChildren("/")).length === 1);
    await expect(created).rejects.toMatchObject({ reason: "connection-loss", sent: true });
    expect(await session.getChildren("/")).toEqual(["n-0000000000"]);
  });
});

describe("N15 the queue cannot be cancelled", () => {
  test("a request given up while disconnected is never sent", async () => {
    const { proxy, proxied } = await real();
    const session = open(proxied);
    await session.connected();
    await proxy.refuse();
    await eventually(() => session.state === "suspended");
    const aborter = new AbortController();
    const late = expect(session.create("/late", null, { timeoutMs: 50 })).rejects.toMatchObject({
      reason: "deadline",
      outcome: undefined,
    });
    const aborted = expect(
      session.create("/aborted", null, { signal: aborter.signal }),
    ).rejects.toMatchObject({
      reason: "interrupted",
      outcome: undefined,
    });
    aborter.abort();
    await Promise.all([late, aborted]);
    const wanted = session.create("/wanted", null);
    await proxy.listen();
    await wanted;
    expect(await session.getChildren("/")).toEqual(["wanted"]);
  });
});

describe("N16 no back-off when the drop follows a good handshake", () => {
  test("a server that drops every connection after the handshake is tried less and less often", async () => {
    const server = await dropAfterHandshake();
    const session = open(server.address);
    await session.connected();
    await sleep(1_000);
    expect(server.connections.length).toBeGreaterThan(2);
    expect(server.connections.length).toBeLessThan(15);
  });
});

describe("N17 a negative frame length throws out of the socket handler", () => {
  test("a frame of negative length costs the connection, and nothing else", async () => {
    const server = await negativeLengthServer();
    const session = open(server.address);
    expect(await session.exists("/a")).toBeUndefined();
    expect(server.connections).toHaveLength(2);
  });
});

describe("N18 more than 10 watchers on one path warn, and each closure is kept", () => {
  test("twenty listeners on one path are no leak, and those taken off hear nothing", async () => {
    const session = open(await freshChroot());
    const warnings = watchWarnings();
    const heard: number[] = [];
    const listeners = Array.from({ length: 20 }, (_, index) => () => heard.push(index));
    await Promise.all(listeners.map((watch) => session.exists("/a", { watch })));
    await Promise.all(listeners.slice(2).map((watch) => session.removeWatch("/a", watch)));
    await session.create("/a", null);
    await eventually(() => expect(heard).toEqual([0, 1]));
    await session.exists("/a");
    expect(heard).toEqual([0, 1]);
    expect(warnings).toEqual([]);
  });
});

describe("N19 setData(path, null) throws", () => {
  test("data can be set to null", async () => {
    const session = open(await freshChroot());
    await session.create("/a", Buffer.from("x"));
    await session.setData("/a", null);
    expect((await session.getData("/a")).data).toBeNull();
  });
});

describe("N20 socket handlers are bound to the manager, not the socket", () => {
  test("an event of a socket reaches its own connection, and none once the socket is given up", async () => {
    const server = await fake();
    const told: string[] = [];
    const events = (name: string) => ({
      open: () => told.push(`${name} open`),
      data: (chunk: Buffer) => told.push(`${name} ${chunk}`),
      drain: () => {},
      closed: () => told.push(`${name} closed`),
    });
    const endpoint = {
      address: server.address,
      host: "127.0.0.1",
      ip: "127.0.0.1",
      port: server.port,
    };
    const [old, next] = [
      new Link(endpoint, undefined, events("old")),
      new Link(endpoint, undefined, events("next")),
    ];
    onTestFinished(() => next.destroy());
    await eventually(() => told.length === 2 && server.connections.length === 2);
    told.length = 0;
    for (const connection of server.connections) connection.raw(Buffer.from("late"));
    // The bytes are under way: what would be read of them, and the end of the socket, come after
    // this.
    old.destroy();
    await eventually(() => expect(told).toEqual(["next late"]));
    next.listen(events("heir"));
    for (const connection of server.connections) connection.close();
    await eventually(() => expect(told).toEqual(["next late", "heir closed"]));
  });

  test("a session has no second connect() to call", async () => {
    const server = await fake();
    expect(open(server.address)).not.toHaveProperty("connect");
  });
});

describe("N21 no create2, createContainer, sync, removeWatches, addWatch", () => {
  test("all of them work", async () => {
    const trace: string[] = [];
    const session = open(await freshChroot(), { trace: (line) => trace.push(line) });
    const { path, stat } = await session.create2("/a", Buffer.from("x"));
    expect(path).toBe("/a");
    expect(stat).toEqual(await session.exists("/a"));
    await session.create("/box", null, { mode: "container" });
    // No answer tells a container from another znode; the operation that made it does.
    expect(trace.at(-1)).toMatch(/^createContainer \S+\/box -> ok/);
    await session.sync("/");
    const heard: WatchEvent[] = [];
    const listener = (event: WatchEvent) => heard.push(event);
    await session.addWatch("/", "recursive", listener);
    await session.create("/box/b", null);
    await eventually(() => expect(heard).toEqual([{ type: "created", path: "/box/b" }]));
    await session.removeWatch("/", listener);
    await session.delete("/box/b");
    await session.sync("/");
    expect(heard).toHaveLength(1);
  });
});

describe("N22 after a reconnect it asks for the negotiated timeout", () => {
  test("the timeout wished for is asked for on every connection", async () => {
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
