import { describe, expect, test } from "vitest";
import type { ConnectionError } from "../../src/errors.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { ServerVersions } from "../../src/session/zookeeper/connecting/server-version.ts";
import { ReadBatches } from "../../src/session/zookeeper/requests/read-batches.ts";
import { Request } from "../../src/session/zookeeper/requests/request.ts";
import { RequestQueue } from "../../src/session/zookeeper/requests/request-queue.ts";
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
  Op,
  open,
  pingsOf,
  real,
  SHORT_SESSION_MS,
  turnAwayFiveTimes,
} from "../support/defect-experiments.ts";
import { eventually } from "../support/eventually.ts";
import { isHeartbeat } from "../support/fake-server.ts";
import { collectUncaught } from "../support/uncaught.ts";

// What else was found wrong with node-zookeeper-client 1.1.3, by the numbers of the list in the
// reference. The same experiments with the plain package: test/defects.

const AUTH = [{ scheme: "digest", credential: Buffer.from("ann:secret") }];

describe("N1 requests queued while disconnected get no callback when the session expires", () => {
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

describe("N2 queued requests go before AUTH and SetWatches", () => {
  test("after a reconnect credentials and watches leave first, queued requests behind them", async () => {
    const server = await fake();
    const session = open(server.address, { auth: AUTH });
    await session.exists("/watched", { watch: () => {} });
    await server.close();
    await eventually(() => session.state === "suspended");
    const queued = Promise.allSettled([session.create("/a", null), session.delete("/b")]);
    await server.listen();
    await queued;
    expect(lastConnection(server).opcodes).toEqual([Op.auth, Op.setWatches, Op.create, Op.delete]);
  });

  test("a request queued while disconnected has the rights of the session", async () => {
    const { proxy, proxied } = await real();
    const session = open(proxied, { auth: AUTH });
    await session.create("/mine", Buffer.from("x"), {
      acl: [{ perms: 31, scheme: "auth", id: "" }],
    });
    await proxy.refuse();
    await eventually(() => session.state === "suspended");
    const read = session.getData("/mine");
    await proxy.listen();
    expect((await read).data?.toString()).toBe("x");
  });
});

describe("N3 addAuthInfo between TCP connect and handshake reply is not sent", () => {
  test("a credential given while the handshake is under way is proved on that connection", async () => {
    const { server, proxy, arrived } = await answerUnderWay();
    const session = open(proxy.address);
    await arrived;
    const proved = session.addAuth("digest", Buffer.from("ann:secret"));
    proxy.resume();
    await proved;
    expect(server.connections.map(({ opcodes }) => opcodes)).toEqual([[Op.auth]]);
  });
});

describe("N4 SetWatches over 1 MB is refused", () => {
  test("11,000 watches survive a dropped connection, after one reconnect", async () => {
    const { proxy, proxied, direct } = await real();
    const session = open(proxied);
    const heard: string[] = [];
    const watch = ({ path }: { path: string }) => heard.push(path);
    await Promise.all(MANY_PATHS.map((path) => session.exists(path, { watch })));
    const states: string[] = [];
    session.onState(({ state }) => states.push(state));
    proxy.drop();
    await eventually(() => states.includes("connected"));
    const [first = "", last = ""] = [MANY_PATHS[0], MANY_PATHS.at(-1)];
    const other = open(direct);
    await Promise.all([other.create(first, null), other.create(last, null)]);
    await eventually(() => expect(heard).toEqual([first, last]));
    expect(states).toEqual(["suspended", "connected"]);
  });
});

describe("N5 each failed handshake queues another AUTH and SetWatches", () => {
  test("after five refusals credentials and watches are sent once", async () => {
    const server = await fake();
    const session = open(server.address, { auth: AUTH });
    await session.exists("/watched", { watch: () => {} });
    await turnAwayFiveTimes(server);
    await session.exists("/a");
    expect(lastConnection(server).opcodes).toEqual([Op.auth, Op.setWatches, Op.exists]);
  });
});

describe("N6 pings depend on socket idleness", () => {
  test("beats go out on time while events keep coming in", async () => {
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

describe("N7 xid never wraps", () => {
  test("after 2^31-1 the numbers of requests begin again at 1", () => {
    const queue = new RequestQueue(new ReadBatches(new ServerVersions(undefined)), 0x7ffffffe);
    const requests = Array.from({ length: 3 }, () => new Request(Op.exists, () => {}));
    for (const request of requests) queue.push(request);
    queue.load(0);
    const flight = queue.writer.take();
    const xids = [0, 1, 2].map((index) => flight.readInt32BE(index * 12 + 4));
    expect(xids).toEqual([0x7fffffff, 1, 2]);
    expect(xids.map((xid) => queue.answered(xid))).toEqual(requests);
  });
});

describe("N8 close() races", () => {
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

describe("N9 callbacks of lost requests run before the state leaves CONNECTED", () => {
  test("a request that is repeated the moment it fails waits for the next connection", async () => {
    const server = await dropFirstCreate();
    const session = open(server.address);
    const seen: string[] = [];
    const insist = (): Promise<unknown> =>
      session.create("/a", null).catch((error: ConnectionError) => {
        seen.push(`${error.reason} while ${session.state}`);
        return error.reason === "connection-loss" && seen.length < 100 ? insist() : undefined;
      });
    await insist();
    expect(seen).toEqual(["connection-loss while suspended", "no-node while connected"]);
  });
});

describe("N10 a throwing callback or watcher aborts the parse loop", () => {
  // Before the next ping: what comes with its answer would hide that a reply had been left lying.
  const atOnce = { timeoutMs: 1_000 };

  test("three answers in one segment reach their callers though the first one's code throws", async () => {
    const server = await answerThreeAtOnce();
    const session = open(server.address);
    const clumsy = () => {
      throw new Error("clumsy");
    };
    const first = session.exists("/1").then(clumsy);
    const others = [session.exists("/2", atOnce), session.exists("/3", atOnce)];
    await expect(first).rejects.toThrow("clumsy");
    expect(await Promise.all(others)).toEqual([undefined, undefined]);
  });

  test("answers behind an event reach their callers though its listener throws, and the error is not hidden", async () => {
    const server = await answerThreeAtOnce({ withEvent: true });
    const session = open(server.address);
    const uncaught = collectUncaught();
    const watch = () => {
      throw new Error("clumsy");
    };
    await session.exists("/watched", { watch });
    await Promise.all(["/1", "/2", "/3"].map((path) => session.exists(path, atOnce)));
    await eventually(() => expect(uncaught).toEqual([new Error("clumsy")]));
    expect(server.connections).toHaveLength(1);
  });
});

describe("N11 after expiry the state ends as DISCONNECTED", () => {
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
