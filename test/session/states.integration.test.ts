import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ConnectionError,
  DeadlineError,
  InterruptedError,
  PermissionError,
} from "../../src/errors.ts";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { SessionOptions } from "../../src/session/options.ts";
import type { Session, StateChange } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { eventually, sleep } from "../support/eventually.ts";
import {
  type FakeReply,
  type FakeServer,
  isHeartbeat,
  startFakeServer,
} from "../support/fake-server.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { freePort } from "../support/free-port.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { spawnTracked } from "../support/tracked-process.ts";
import { collectUncaught } from "../support/uncaught.ts";

const OP = {
  getData: 4,
  auth: 100,
  closeSession: -11,
  create: 1,
  delete: 2,
  sync: 9,
  ping: 11,
} as const;
const AUTH_FAILED = -115;
/** No data, and a stat of zeros. */
const EMPTY_ZNODE = Buffer.concat([Buffer.from("ffffffff", "hex"), Buffer.alloc(68)]);
/** The path that was created. */
const CREATED = Buffer.from("000000022f61", "hex");
/** Of a session with the six seconds that the server grants: the timeout less the margin. */
const LIFE_MS = 5_700;
/** Far below any limit of the session's own: nothing was waited for. */
const AT_ONCE_MS = 1_000;
/**
 * Between two looks at a clock a busy machine may let others run; the clocks are put forward by far
 * more.
 */
const LATE_MS = 150;

let fake: FakeServer;

beforeEach(async () => {
  fake = await startFakeServer({ timeoutMs: 6_000 });
});

afterEach(async () => {
  await fake.close();
});

function open(options: Partial<SessionOptions> = {}): { session: Session; changes: StateChange[] } {
  const session = openSession({ servers: [addressOf(fake.port)], ...options });
  onTestFinished(() => session.close());
  const changes: StateChange[] = [];
  session.onState((change) => changes.push(change));
  return { session, changes };
}

function addressOf(port: number): { host: string; port: number } {
  return { host: "127.0.0.1", port };
}

function dropAll(server: FakeServer): void {
  for (const connection of server.connections) connection.close();
}

async function tookMs(promise: Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await promise;
  return performance.now() - startedAt;
}

/**
 * From now on the clocks can be put forward. Timers do not follow: no heartbeat comes in between.
 */
function pushClocks(): { pass(ms: number): void } {
  let skewMs = 0;
  const [mono, wall] = [performance.now.bind(performance), Date.now.bind(Date)];
  const nanoseconds = process.hrtime.bigint;
  const spies = [
    vi.spyOn(performance, "now").mockImplementation(() => mono() + skewMs),
    vi
      .spyOn(process.hrtime, "bigint")
      .mockImplementation(() => nanoseconds() + BigInt(skewMs) * 1_000_000n),
    vi.spyOn(Date, "now").mockImplementation(() => wall() + skewMs),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return {
    pass: (ms) => {
      skewMs += ms;
    },
  };
}

/** Up to when the session believes itself alive. */
function aliveUntil(session: Session): number {
  return performance.now() + session.aliveForMs();
}

function heartbeats(): number[] {
  const requests = fake.connections.flatMap((connection) => connection.requests);
  return requests.filter(isHeartbeat).map(({ opcode }) => opcode);
}

describe("connected", () => {
  test("is announced with the server, once a server has accepted the session", async () => {
    const { session, changes } = open({ timeoutMs: 20_000 });
    expect(session).toMatchObject({ state: "suspended", id: 0n, server: undefined });
    expect(session.isAlive()).toBe(false);
    await session.connected();
    expect(session).toMatchObject({
      state: "connected",
      id: 0x0100_018f_3a7c_0000n,
      timeoutMs: 6_000,
    });
    expect(session.server).toBe(fake.address);
    expect(session.isAlive()).toBe(true);
    expect(session.aliveForMs()).toBeGreaterThan(4_000);
    expect(changes).toEqual([{ state: "connected", server: fake.address }]);
  });

  test("proves life up to a send that the leader must have heard of, however late the answer", async () => {
    const held: FakeReply[] = [];
    fake.options.onRequest = ({ opcode }, reply) => {
      if (opcode === OP.create) return reply.ok(CREATED);
      return opcode === OP.delete ? held.push(reply) : false;
    };
    const clocks = pushClocks();
    const { session } = open();
    await session.connected();
    const handshakeUntil = aliveUntil(session);
    clocks.pass(300);
    const sentAt = performance.now();
    await session.create("/a", null);
    // A quarter of the timeout later any follower has told the leader of the session.
    clocks.pass(1_600);
    const deleted = session.delete("/a");
    await eventually(() => expect(held).toHaveLength(1));
    clocks.pass(250);
    expect(Math.abs(aliveUntil(session) - handshakeUntil)).toBeLessThan(LATE_MS);
    held[0]?.ok();
    await deleted;
    expect(heartbeats()).toEqual([]);
    expect(Math.abs(aliveUntil(session) - (sentAt + LIFE_MS))).toBeLessThan(LATE_MS);
  });

  test.each([
    { what: "an answered read", error: 0, ask: (session: Session) => session.getData("/a") },
    {
      what: "a read of a znode that is not there",
      error: -101,
      ask: (session: Session) => session.getData("/a"),
    },
    { what: "a refused write", error: -102, ask: (session: Session) => session.delete("/a") },
  ])("is not prolonged by $what", async ({ error, ask }) => {
    fake.options.onRequest = ({ opcode }, reply) => {
      if (opcode === OP.closeSession) return false;
      return error === 0 ? reply.ok(EMPTY_ZNODE) : reply.error(error);
    };
    const clocks = pushClocks();
    const { session } = open();
    await session.connected();
    const handshakeUntil = aliveUntil(session);
    for (let asked = 0; asked < 3; asked++) {
      clocks.pass(1_600);
      await ask(session).catch((failure) => expect(failure).toMatchObject({ code: error }));
    }
    expect(fake.connections[0]?.opcodes).toHaveLength(3);
    expect(heartbeats()).toEqual([]);
    expect(Math.abs(aliveUntil(session) - handshakeUntil)).toBeLessThan(LATE_MS);
  });

  test.each([
    { kind: "a full", isReadOnly: false, opcode: OP.sync },
    { kind: "a read-only", isReadOnly: true, opcode: OP.ping },
  ])("is kept up with $kind server by requests of type $opcode", async ({ isReadOnly, opcode }) => {
    const timeoutMs = 2_000;
    const answer = Buffer.alloc(37);
    answer.writeInt32BE(timeoutMs, 4);
    answer.writeBigInt64BE(0x0300_018f_3a7c_0000n, 8);
    answer.writeInt32BE(16, 16);
    answer.writeInt8(isReadOnly ? 1 : 0, 36);
    fake.options.handshake = () => answer;
    const { session, changes } = open({ timeoutMs, readOnly: true });
    await session.connected();
    const connectedAt = performance.now();
    // Fifteen in two session timeouts, or a little later where timers fire late.
    await eventually(
      () => {
        expect(performance.now() - connectedAt).toBeGreaterThan(2 * timeoutMs);
        expect(heartbeats().length).toBeGreaterThanOrEqual(12);
      },
      { timeoutMs: 4 * timeoutMs },
    );
    expect(changes).toHaveLength(1);
    expect(session.isReadOnly).toBe(isReadOnly);
    expect(session.isAlive()).toBe(true);
    expect(new Set(heartbeats())).toEqual(new Set([opcode]));
  });

  test("comes back with the same session after a drop, on the other side of suspended", async () => {
    const proxy = await startFaultProxy(Number(sharedServer().split(":")[1]));
    onTestFinished(() => proxy.close());
    const { session, changes } = open({ servers: [addressOf(proxy.port)], timeoutMs: 10_000 });
    await session.connected();
    const { id } = session;
    await proxy.refuse();
    await eventually(() => expect(session.state).toBe("suspended"));
    expect(session.server).toBeUndefined();
    // Nobody has said that the session is over.
    expect(session.isAlive()).toBe(true);
    await proxy.listen();
    await session.connected();
    expect(session.id).toBe(id);
    expect(await session.exists("/")).toBeDefined();
    const server = proxy.address;
    expect(changes).toEqual([
      { state: "connected", server },
      { state: "suspended" },
      { state: "connected", server },
    ]);
  });
});

describe("lost", () => {
  test("is for good when the server says that the session has expired", async () => {
    const { session, changes } = open();
    await session.connected();
    fake.options.handshake = "expired";
    const waiting = session.connected();
    dropAll(fake);
    await eventually(() => expect(session.state).toBe("lost"));
    await waiting;
    expect(changes.slice(1)).toEqual([
      { state: "suspended" },
      { state: "lost", reason: "expired" },
    ]);
    expect(session.isAlive()).toBe(false);
    expect(session.aliveForMs()).toBe(0);
    const expired = { reason: "session-expired", code: -112, name: "ConnectionError" };
    await expect(session.connected()).rejects.toMatchObject(expired);
    await expect(session.getData("/a")).rejects.toMatchObject({
      ...expired,
      sent: false,
      path: "/a",
    });
    await expect(session.addAuth("digest", Buffer.from("a:b"))).rejects.toMatchObject(expired);

    const attempts = fake.connections.length;
    fake.options.handshake = "normal";
    expect(await tookMs(session.close())).toBeLessThan(AT_ONCE_MS);
    expect(fake.connections).toHaveLength(attempts);
    expect(changes).toHaveLength(3);
  });

  test("survives a server that takes a connection and never answers, as one that is just starting may", async () => {
    const { session, changes } = open();
    await session.connected();
    fake.options.handshake = () => null;
    dropAll(fake);
    await eventually(() => expect(fake.connections.length).toBeGreaterThan(1));
    fake.options.handshake = "normal";
    await eventually(() => expect(changes.at(-1)).toMatchObject({ state: "connected" }));
    expect(changes.map(({ state }) => state)).toEqual(["connected", "suspended", "connected"]);
  });

  test("fails what was asked for while suspended, and says that it was never sent", async () => {
    const { session } = open();
    await session.connected();
    fake.options.handshake = "silent";
    dropAll(fake);
    await eventually(() => expect(session.state).toBe("suspended"));
    const queued = session.create("/a", null);
    fake.options.handshake = "expired";
    dropAll(fake);
    await expect(queued).rejects.toMatchObject({
      reason: "session-expired",
      sent: false,
      path: "/a",
    });
  });

  test("follows a credential that the server refuses", async () => {
    fake.options.onRequest = ({ opcode }, reply) => {
      if (opcode !== OP.auth) return false;
      reply.error(AUTH_FAILED);
      return reply.close();
    };
    const { session, changes } = open({
      auth: [{ scheme: "digest", credential: Buffer.from("a:b") }],
    });
    const asked = session.create("/a", null);
    await expect(asked).rejects.toThrow(PermissionError);
    await expect(asked).rejects.toMatchObject({
      reason: "auth-failed",
      name: "PermissionError",
    });
    expect(changes.at(-1)).toEqual({ state: "lost", reason: "auth-failed" });
  });

  test("follows a connect timeout without an answer, and names every address", async () => {
    fake.options.handshake = "silent";
    const nobody = addressOf(await freePort());
    const { session, changes } = open({
      servers: [addressOf(fake.port), nobody],
      connectTimeoutMs: 1_500,
    });
    const queued = session.create("/a", null);
    const failed = expect(queued).rejects.toMatchObject({
      reason: "unreachable",
      path: "/a",
      sent: false,
    });
    const failure = await session.connected().catch((error) => error);
    expect(failure).toBeInstanceOf(ConnectionError);
    expect(failure).toMatchObject({
      reason: "unreachable",
      name: "ConnectionError",
      sent: false,
    });
    expect(failure.message).toMatch(/^cannot connect to ZooKeeper within 1\.5 s: /);
    expect(failure.message).toContain(`127.0.0.1:${nobody.port} (connection refused)`);
    expect(failure.message).toContain(`${fake.address} (no answer)`);
    await failed;
    expect(changes).toEqual([{ state: "lost", reason: "unreachable" }]);
  });

  test("is announced when the session is closed, and that it was closed", async () => {
    const { session, changes } = open();
    await session.connected();
    await session.close();
    expect(changes.slice(1)).toEqual([{ state: "lost", reason: "closed" }]);
    expect(session.isAlive()).toBe(false);
    await expect(session.connected()).rejects.toMatchObject({ reason: "session-closed" });
    await expect(session.exists("/a")).rejects.toMatchObject({
      reason: "session-closed",
      sent: false,
    });
  });
});

test.each([2 ** 31, Infinity, Number.NaN, 0, -1, 1.5])(
  "a session timeout of %d is none",
  (timeoutMs) => {
    expect(() => open({ timeoutMs })).toThrow(
      expect.objectContaining({ name: "UsageError", message: `bad timeoutMs ${timeoutMs}` }),
    );
  },
);

test.each([2 ** 31, Infinity])("the first connection may take %d ms", async (connectTimeoutMs) => {
  const { session } = open({ connectTimeoutMs });
  await session.connected();
  expect(fake.connections).toHaveLength(1);
});

describe("connected()", () => {
  test("resolves at once when connected already", async () => {
    const { session } = open();
    await session.connected();
    await session.connected({ timeoutMs: 0, signal: new AbortController().signal });
  });

  test("rejects when its signal aborts, before or while it waits; the session goes on", async () => {
    fake.options.handshake = "silent";
    const { session } = open({ connectTimeoutMs: 5_000 });
    await expect(session.connected({ signal: AbortSignal.abort("early") })).rejects.toMatchObject({
      reason: "interrupted",
      cause: "early",
      name: "InterruptedError",
    });
    const controller = new AbortController();
    const waiting = session.connected({ signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toThrow(InterruptedError);

    expect(session.state).toBe("suspended");
    await eventually(() => expect(fake.connections).toHaveLength(1));
    fake.options.handshake = "normal";
    dropAll(fake);
    await session.connected();
  });

  test("rejects with exit code 7 when its own time is over; the session goes on", async () => {
    fake.options.handshake = "silent";
    const { session } = open({ connectTimeoutMs: 5_000 });
    const failure = await session.connected({ timeoutMs: 50 }).catch((error) => error);
    expect(failure).toBeInstanceOf(DeadlineError);
    expect(failure).toMatchObject({
      name: "DeadlineError",
      message: "no server has answered (50 ms)",
    });
    expect(session.state).toBe("suspended");
  });

  test("rejects for every caller when the session is closed", async () => {
    fake.options.handshake = "silent";
    const { session } = open();
    const waiting = [session.connected(), session.connected({ timeoutMs: 5_000 })];
    const failures = Promise.allSettled(waiting);
    await session.close();
    for (const failure of await failures) {
      expect(failure).toMatchObject({ status: "rejected", reason: { reason: "session-closed" } });
    }
  });
});

describe("onState", () => {
  test("stops telling a listener that has unsubscribed", async () => {
    const { session, changes } = open();
    const heard: string[] = [];
    const unsubscribe = session.onState(({ state }) => heard.push(state));
    await session.connected();
    unsubscribe();
    unsubscribe();
    await session.close();
    expect(heard).toEqual(["connected"]);
    expect(changes).toHaveLength(2);
  });

  test("tells the others when a listener throws, and the error surfaces as what it is", async () => {
    const uncaught = collectUncaught();
    const session = openSession({ servers: [addressOf(fake.port)] });
    const heard: string[] = [];
    session.onState(() => {
      throw new Error("the listener's own fault");
    });
    session.onState(({ state }) => heard.push(state));
    await session.connected();
    await session.close();
    expect(heard).toEqual(["connected", "lost"]);
    await eventually(() => expect(uncaught).toHaveLength(2));
    expect(uncaught[0]).toMatchObject({ message: "the listener's own fault" });
  });
});

describe("close()", () => {
  test("ends a session that has met no server yet at once", async () => {
    const { session, changes } = open({ servers: [addressOf(await freePort())] });
    expect(await tookMs(session.close())).toBeLessThan(AT_ONCE_MS);
    expect(changes).toEqual([{ state: "lost", reason: "closed" }]);
  });

  test("ends a session in the middle of its handshake at once, and leaves no connection behind", async () => {
    fake.options.handshake = "silent";
    const { session } = open();
    await eventually(() => expect(fake.connections[0]?.handshake).toBeDefined());
    expect(await tookMs(session.close())).toBeLessThan(AT_ONCE_MS);
    expect(session.state).toBe("lost");
    await eventually(() => expect(fake.connections[0]?.isOpen).toBe(false), {
      timeoutMs: AT_ONCE_MS,
    });
    expect(fake.connections).toHaveLength(1);
  });

  test("does not wait for a request that was interrupted before it was sent", async () => {
    fake.options.handshake = "silent";
    const { session } = open();
    const controller = new AbortController();
    const queued = session.create("/a", null, { signal: controller.signal });
    controller.abort();
    await expect(queued).rejects.toThrow(InterruptedError);
    expect(await tookMs(session.close())).toBeLessThan(AT_ONCE_MS);
  });

  test("finishes pending requests, sends closeSession behind them, and accepts no new ones", async () => {
    const held: FakeReply[] = [];
    fake.options.onRequest = (_, reply) => held.push(reply);
    const { session, changes } = open();
    await session.connected();
    const asked = session.getData("/a");
    let isClosed = false;
    const closed = session.close().then(() => {
      isClosed = true;
    });
    await expect(session.getData("/b")).rejects.toMatchObject({
      reason: "session-closed",
      sent: false,
    });
    await eventually(() => expect(held).toHaveLength(2));
    held[0]?.ok(EMPTY_ZNODE);
    expect(await asked).toMatchObject({ data: null });
    expect(isClosed).toBe(false);
    expect(session.state).toBe("connected");
    held[1]?.ok();
    await closed;
    expect(fake.connections[0]?.opcodes).toEqual([OP.getData, OP.closeSession]);
    expect(changes.at(-1)).toEqual({ state: "lost", reason: "closed" });
  });

  test("sends what waits for the first connection before closeSession", async () => {
    fake.options.onRequest = ({ opcode }, reply) =>
      opcode === OP.getData ? reply.ok(EMPTY_ZNODE) : false;
    const { session } = open();
    const asked = session.getData("/a");
    await session.close();
    await asked;
    expect(fake.connections.map(({ opcodes }) => opcodes)).toEqual([[OP.getData, OP.closeSession]]);
  });

  test("does not wait for ever for a server that has fallen silent", async () => {
    fake.options.answerPings = false;
    fake.options.timeoutMs = 4_000;
    fake.options.onRequest = () => {};
    const { session } = open();
    await session.connected();
    const asked = session.create("/a", null).catch((error) => error);
    await new Promise(setImmediate);
    expect(await tookMs(session.close())).toBeLessThan(4_000);
    expect(await asked).toMatchObject({ name: "ConnectionError", sent: true });
  });

  test("sends closeSession once, however often it is called, and every call waits for it", async () => {
    const held: FakeReply[] = [];
    fake.options.onRequest = (_, reply) => held.push(reply);
    const { session, changes } = open();
    await session.connected();
    const states: string[] = [];
    const calls = [session.close(), session.close()].map((closed) =>
      closed.then(() => states.push(session.state)),
    );
    await eventually(() => expect(held).toHaveLength(1));
    expect(states).toEqual([]);
    held[0]?.ok();
    await Promise.all(calls);
    await session.close();
    expect(states).toEqual(["lost", "lost"]);
    expect(fake.connections[0]?.opcodes).toEqual([OP.closeSession]);
    expect(changes).toHaveLength(2);
  });

  test("sends closeSession on the next connection when it is called while suspended", async () => {
    const { session } = open();
    await session.connected();
    fake.options.handshake = "close";
    dropAll(fake);
    await eventually(() => expect(session.state).toBe("suspended"));
    const closed = session.close();
    fake.options.handshake = "normal";
    await closed;
    expect(fake.connections.at(-1)?.opcodes).toEqual([OP.closeSession]);
  });

  test("leaves a session to expire when no server comes back within a second", async () => {
    const { session, changes } = open({ timeoutMs: 30_000 });
    fake.options.timeoutMs = 30_000;
    await session.connected();
    fake.options.handshake = "silent";
    dropAll(fake);
    await eventually(() => expect(session.state).toBe("suspended"));
    const tookLongMs = await tookMs(session.close());
    expect(tookLongMs).toBeGreaterThan(900);
    expect(tookLongMs).toBeLessThan(5_000);
    expect(changes.at(-1)).toEqual({ state: "lost", reason: "closed" });
  });

  test("takes the session's ephemeral znodes with it at once", async () => {
    const where = parseConnectString(await freshChroot());
    const { session } = open(where);
    const { session: observer } = open(where);
    await session.create("/mine", null, { mode: "ephemeral" });
    expect(await observer.exists("/mine")).toBeDefined();
    await session.close();
    expect(await observer.exists("/mine")).toBeUndefined();
  });
});

describe("a process", () => {
  test.each(["used", "closed-at-once", "never-connected"])(
    "ends by itself after its session is over (%s)",
    async (way) => {
      const where = way === "used" ? await freshChroot() : `127.0.0.1:${await freePort()}`;
      const program = join(import.meta.dirname, "fixtures/ending-process.ts");
      const child = spawnTracked(process.execPath, ["--import", "tsx", program, way, where], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => {
        child.kill("SIGKILL");
      });
      const closed = once(child, "close");
      const [said] = await once(child.stdout as NodeJS.ReadableStream, "data");
      expect(String(said)).toBe("lost");
      // Less than any timer of the session's that might have been left.
      const [code] = await Promise.race([closed, sleep(10_000).then(() => ["still running"])]);
      expect(code).toBe(0);
    },
  );
});
