import zookeeper, { type Exception } from "node-zookeeper-client";
import { describe, expect, test } from "vitest";
import {
  answerThreeAtOnce,
  answerUnderWay,
  asked,
  dropFirstCreate,
  expire,
  fake,
  keepTalking,
  lastConnection,
  MANY_PATHS,
  NEVER_MS,
  Op,
  open,
  pingsOf,
  real,
  SHORT_SESSION_MS,
  turnAwayFiveTimes,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import {
  connectedPlain,
  connectPlain,
  DISCONNECTED,
  EXPIRED,
  outcomeOf,
  plainProcess,
  SYNC_CONNECTED,
} from "./plain.ts";

// node-zookeeper-client 1.1.3 as it is. The same experiments with our session:
// test/session/defects-new-n1-n11.integration.test.ts.

const { CONNECTION_LOSS, NO_AUTH } = zookeeper.Exception;
const SECRET = Buffer.from("ann:secret");
const ignore = () => {};

describe("N1 requests queued while disconnected get no callback when the session expires", () => {
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

describe("N2 queued requests go before AUTH and SetWatches", () => {
  test("after a reconnect queued requests leave first", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    client.addAuthInfo("digest", SECRET);
    await outcomeOf((callback) => client.exists("/watched", ignore, callback)).settled();
    await server.close();
    await eventually(() => client.getState() === DISCONNECTED);
    client.create("/a", ignore);
    client.remove("/b", ignore);
    await server.listen();
    await eventually(() => lastConnection(server).opcodes.length === 4);
    expect(lastConnection(server).opcodes).toEqual([Op.create, Op.delete, Op.auth, Op.setWatches]);
  });

  test("a request queued while disconnected has no rights; the same request a moment later has them", async () => {
    const { proxy, proxied, direct } = await real();
    const owner = open(direct, { auth: [{ scheme: "digest", credential: SECRET }] });
    await owner.create("/mine", null, { acl: [{ perms: 31, scheme: "auth", id: "" }] });
    const client = await connectedPlain(proxied);
    client.addAuthInfo("digest", SECRET);
    const read = () => outcomeOf((callback) => client.getData("/mine", callback));
    expect((await read().settled()).error).toBeNull();
    await proxy.refuse();
    await eventually(() => client.getState() === DISCONNECTED);
    const queued = read();
    await proxy.listen();
    expect((await queued.settled()).error?.code).toBe(NO_AUTH);
    expect((await read().settled()).error).toBeNull();
  });
});

describe("N3 addAuthInfo between TCP connect and handshake reply is not sent", () => {
  test("the server never sees the credential", async () => {
    const { server, proxy, arrived } = await answerUnderWay();
    const client = connectPlain(proxy.address);
    await arrived;
    client.addAuthInfo("digest", SECRET);
    proxy.resume();
    await outcomeOf((callback) => client.exists("/a", callback)).settled();
    expect(server.connections.map(({ opcodes }) => opcodes)).toEqual([[Op.exists]]);
  });
});

describe("N4 SetWatches over 1 MB is refused", () => {
  test("with 11,000 watches one dropped connection becomes endless flapping", async () => {
    const { proxy, proxied } = await real();
    const client = await connectedPlain(proxied);
    const watch = (path: string) =>
      outcomeOf((callback) => client.exists(path, ignore, callback)).settled();
    await Promise.all(MANY_PATHS.map(watch));
    const states: string[] = [];
    client.on("state", ({ name }) => states.push(name));
    proxy.drop();
    await sleep(2_000);
    expect(states.filter((name) => name === "SYNC_CONNECTED").length).toBeGreaterThan(5);
    const before = states.length;
    await eventually(() => states.length > before);
  });
});

describe("N5 each failed handshake queues another AUTH and SetWatches", () => {
  test("after five refusals both are sent six times", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address);
    client.addAuthInfo("digest", SECRET);
    await outcomeOf((callback) => client.exists("/watched", ignore, callback)).settled();
    await turnAwayFiveTimes(server);
    await outcomeOf((callback) => client.exists("/a", callback)).settled();
    const count = (opcode: number) =>
      lastConnection(server).opcodes.filter((each) => each === opcode).length;
    expect([count(Op.auth), count(Op.setWatches)]).toEqual([6, 6]);
  });
});

describe("N6 pings depend on socket idleness", () => {
  test("no ping goes out while events keep coming in", async () => {
    const server = await fake();
    await connectedPlain(server.address, { sessionTimeout: SHORT_SESSION_MS });
    await keepTalking(server);
    expect(pingsOf(server)).toBe(0);
  });
});

describe("N7 xid never wraps", () => {
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

describe("N8 close() races", () => {
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

describe("N9 callbacks of lost requests run before the state leaves CONNECTED", () => {
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

describe("N10 a throwing callback or watcher aborts the parse loop", () => {
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

describe("N11 after expiry the state ends as DISCONNECTED", () => {
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
