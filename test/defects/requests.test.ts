import { createRequire } from "node:module";
import zookeeper, { type Exception } from "node-zookeeper-client";
import { describe, expect, test } from "vitest";
import {
  answerThreeAtOnce,
  dropFirstCreate,
  errorServer,
  fake,
  growth,
  loseAnswer,
  NEVER_MS,
  negativeLengthServer,
  Op,
  open,
  real,
  syncServer,
  UNKNOWN_CODES,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { freshChroot } from "../support/shared-server.ts";
import { connectedPlain, DISCONNECTED, outcomeOf, plainProcess, SYNC_CONNECTED } from "./plain.ts";

// How node-zookeeper-client 1.1.3 fails. The same experiments with our session:
// test/session/defects-requests.integration.test.ts.

const jute = createRequire(import.meta.url)("node-zookeeper-client/lib/jute");
const { CONNECTION_LOSS } = zookeeper.Exception;
const ignore = () => {};

describe("an unknown error code in a reply", () => {
  test("each of them is an uncaught exception, and no callback is called", async () => {
    const server = await errorServer();
    const plain = plainProcess(server.address);
    plain.run("connect");
    await plain.says("state SYNC_CONNECTED");
    for (const code of UNKNOWN_CODES) {
      plain.run(`exists /${code}`);
      await plain.says(`uncaught Error: Unknown code: ${code}`);
    }
    expect(plain.lines.filter((line) => line.startsWith("callback"))).toEqual([]);
  });
});

describe("a version of 0 in a multi", () => {
  test("a delete of version 0 removes a node of version 1", async () => {
    const connectString = await freshChroot();
    const session = open(connectString);
    await session.create("/a", null);
    await session.setData("/a", Buffer.from("1"));
    const client = await connectedPlain(connectString);
    const removed = outcomeOf((callback) => client.transaction().remove("/a", 0).commit(callback));
    expect((await removed.settled()).error).toBeFalsy();
    expect(await session.exists("/a")).toBeUndefined();
  });
});

describe("a reply to an operation that the package does not know", () => {
  test("an answer to an operation it does not know costs the connection, and nobody is told", async () => {
    const server = await syncServer();
    const client = await connectedPlain(server.address);
    const header = new jute.protocol.RequestHeader();
    header.type = Op.sync;
    const synced = outcomeOf((callback) =>
      client.connectionManager.queue(new jute.Request(header, null), callback),
    );
    await eventually(() => server.connections.length === 2 && client.getState() === SYNC_CONNECTED);
    await outcomeOf((callback) => client.exists("/a", callback)).settled();
    expect(synced.calls).toEqual([]);
  });
});

describe("the cost of a long pipeline", () => {
  test("a read in a pipeline of 64,000 costs much more than one in a pipeline of 8,000", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address, { sessionTimeout: 60_000 });
    const read = (resolve: (value: unknown) => void) => client.exists("/a", resolve);
    const pipeline = (reads: number) =>
      Promise.all(Array.from({ length: reads }, () => new Promise(read)));
    expect(await growth(64_000, pipeline)).toBeGreaterThan(1.5);
  }, 60_000);
});

describe("request numbers after 2^31-1", () => {
  test("after 2^31-1 every request throws", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    client.connectionManager.xid = 0x7fffffff;
    await outcomeOf((callback) => client.exists("/a", callback)).settled();
    for (let request = 0; request < 2; request++) {
      expect(() => client.exists("/a", ignore)).toThrow(
        expect.objectContaining({ code: "ERR_OUT_OF_RANGE" }),
      );
    }
  });
});

describe("a request that is repeated when it fails", () => {
  test("a callback that repeats its request at once never lets the event loop go on", async () => {
    const server = await dropFirstCreate();
    const client = await connectedPlain(server.address);
    const seen = { rounds: 0, states: new Set<string>(), turns: 0 };
    const done = new Promise<void>((resolve) => {
      const again = (error: Exception | null) => {
        if (seen.rounds === 0) setImmediate(() => seen.turns++);
        seen.rounds++;
        seen.states.add(`${error?.code} while ${client.getState().name}`);
        if (seen.rounds === 1_000) resolve();
        else client.create("/a", again);
      };
      client.create("/a", again);
    });
    await done;
    expect(seen).toEqual({
      rounds: 1_000,
      states: new Set([`${CONNECTION_LOSS} while SYNC_CONNECTED`]),
      turns: 0,
    });
  });
});

describe("a callback or listener that throws", () => {
  test("of three answers in one segment only the first one's callback is called", async () => {
    const server = await answerThreeAtOnce();
    const plain = plainProcess(server.address);
    plain.run("connect");
    await plain.says("state SYNC_CONNECTED");
    plain.run("existsThrowing /1", "exists /2", "exists /3");
    await plain.says("uncaught Error");
    await sleep(NEVER_MS);
    expect(plain.lines.filter((line) => line.startsWith("callback"))).toEqual(["callback /1"]);
  });

  test("no answer behind an event reaches its caller when the watcher throws", async () => {
    const server = await answerThreeAtOnce({ withEvent: true });
    const plain = plainProcess(server.address);
    plain.run("connect");
    await plain.says("state SYNC_CONNECTED");
    plain.run("watchThrowing /watched");
    await plain.says("watching");
    plain.run("exists /1", "exists /2", "exists /3");
    await plain.says("uncaught Error");
    await sleep(NEVER_MS);
    expect(plain.lines.filter((line) => line.startsWith("callback"))).toEqual([]);
  });
});

describe("a sequential create without an answer", () => {
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

describe("a request that its caller has given up", () => {
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

describe("a frame of negative length", () => {
  test("it is an uncaught exception", async () => {
    const server = await negativeLengthServer();
    const plain = plainProcess(server.address);
    plain.run("connect");
    await plain.says("state SYNC_CONNECTED");
    plain.run("exists /a");
    await plain.says("uncaught ");
  });
});

describe("setData() with null", () => {
  test("null is allowed by its own check and throws a TypeError behind it", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    expect(() => client.setData("/a", null, ignore)).toThrow(TypeError);
  });
});

describe("create2, createContainer, sync, removeWatches and addWatch", () => {
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
