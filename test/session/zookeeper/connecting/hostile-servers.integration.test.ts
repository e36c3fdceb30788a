import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import {
  ConflictError,
  ConnectionError,
  DeadlineError,
  NoNodeError,
  OperationError,
  PermissionError,
  RefusedError,
  ZkshError,
} from "../../../../src/errors.ts";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { SessionOptions } from "../../../../src/session/options.ts";
import type { Session, WatchEvent } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { deferred, eventually, sleep } from "../../../support/eventually.ts";
import {
  type FakeConnection,
  type FakeServer,
  type FakeServerOptions,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { sharedServer } from "../../../support/shared-server.ts";

const OP = {
  create: 1,
  exists: 3,
  getData: 4,
  getAcl: 6,
  getChildren: 8,
  ping: 11,
  multi: 14,
  auth: 100,
  closeSession: -11,
} as const;
const STAT = "00".repeat(68);
const DATA = `00000001 78 ${STAT}`;
const END = "ffffffff 01 ffffffff";
const SEQUENTIAL = { mode: "ephemeralSequential" } as const;
/** Says nothing of its own accord, neither to the handshake nor to what comes with it. */
const MUTE: FakeServerOptions = { handshake: "silent", onRequest: () => {} };

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: FakeServerOptions): Promise<FakeServer> {
  const server = await startFakeServer(options);
  cleanups.push(() => server.close());
  return server;
}

function open(address: string, options: Partial<SessionOptions> = {}): Session {
  const session = openSession({ ...parseConnectString(address), ...options });
  cleanups.push(() => session.close());
  return session;
}

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}

function int(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}

function frame(text: string): Buffer {
  const body = hex(text);
  return Buffer.concat([hex(int(body.length)), body]);
}

function failureOf(promise: Promise<unknown>): Promise<ZkshError> {
  return promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error) => error,
  );
}

describe("an error number", () => {
  const NUMBERS: [number, string, new (...args: never[]) => Error][] = [
    [-1, "system-error", OperationError],
    [-2, "not-attempted", OperationError],
    [-3, "data-inconsistency", OperationError],
    [-4, "connection-loss", ConnectionError],
    [-5, "marshalling-error", OperationError],
    [-6, "unimplemented", OperationError],
    [-7, "deadline", DeadlineError],
    [-8, "bad-arguments", OperationError],
    [-12, "unknown-session", ConnectionError],
    [-13, "new-config-no-quorum", OperationError],
    [-14, "reconfig-in-progress", OperationError],
    [-100, "api-error", OperationError],
    [-101, "no-node", NoNodeError],
    [-102, "no-auth", PermissionError],
    [-103, "bad-version", ConflictError],
    [-108, "no-children-for-ephemerals", ConflictError],
    [-110, "node-exists", ConflictError],
    [-111, "not-empty", ConflictError],
    [-113, "invalid-callback", OperationError],
    [-114, "invalid-acl", OperationError],
    [-115, "auth-failed", PermissionError],
    [-119, "read-only-server", RefusedError],
    [-120, "ephemeral-on-local-session", OperationError],
    [-121, "no-watcher", OperationError],
    [-122, "deadline", DeadlineError],
    [-123, "reconfig-disabled", OperationError],
    [-125, "quota-exceeded", OperationError],
    [-127, "throttled", OperationError],
    // Not in ZooKeeper's table.
    [-116, "unknown-error", OperationError],
    [-126, "unknown-error", OperationError],
    [-999, "unknown-error", OperationError],
    [7, "unknown-error", OperationError],
    [-2_147_483_648, "unknown-error", OperationError],
  ];

  test.each(NUMBERS)(
    "%i becomes the error %s, and the connection goes on",
    async (code, reason, kind) => {
      const server = await start({
        onRequest: ({ opcode }, reply) => {
          if (opcode === OP.getData || opcode === OP.create) return reply.error(code);
          return opcode === OP.exists ? reply.ok(hex(STAT)) : false;
        },
      });
      const session = open(server.address);
      for (const failure of [
        failureOf(session.getData("/a")),
        failureOf(session.create("/a", null)),
      ]) {
        const error = await failure;
        expect(error).toBeInstanceOf(kind);
        expect(error).toMatchObject({ reason, code, path: "/a" });
        expect(error.message).toContain(": /a (");
      }
      expect(await session.exists("/a")).toMatchObject({ version: 0 });
      expect([session.state, server.connections.length]).toEqual(["connected", 1]);
    },
  );

  test("-118 moves the session to another connection, where the request is made again", async () => {
    const server = await start({
      onRequest: ({ opcode, connection }, reply) => {
        if (opcode !== OP.create) return false;
        return connection === server.connections[0]
          ? reply.error(-118)
          : reply.ok(hex("00000002 2f61"));
      },
    });
    const session = open(server.address);
    await session.connected();
    const { id } = session;
    expect(await session.create("/a", null)).toBe("/a");
    expect(server.connections.map((connection) => connection.handshake?.sessionId)).toEqual([
      0n,
      id,
    ]);
  });

  test("-112 is the server's word that the session is over", async () => {
    const server = await start({
      onRequest: ({ opcode }, reply) => (opcode === OP.getData ? reply.error(-112) : false),
    });
    const session = open(server.address);
    const error = await failureOf(session.getData("/a"));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      reason: "session-expired",
      code: -112,
      name: "ConnectionError",
      path: "/a",
    });
    expect(session.state).toBe("lost");
  });

  test("-118 that never ends becomes an error too", async () => {
    const server = await start({
      onRequest: ({ opcode }, reply) => (opcode === OP.getData ? reply.error(-118) : false),
    });
    const session = open(server.address);
    const error = await failureOf(session.getData("/a"));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ reason: "session-moved", code: -118, name: "ConnectionError" });
    expect(session.state).toBe("connected");
  });
});

describe("garbage behind a good handshake", () => {
  const GARBAGE: [string, (xid: number) => Buffer, RegExp][] = [
    ["a negative length", () => hex("fffffff0"), /sent garbage: a frame of -16 bytes/],
    ["a huge length", () => hex("7fffffff"), /sent garbage: a frame of 2147483647 bytes/],
    [
      "a frame too short for a header",
      () => frame("010203"),
      /sent garbage: 4 bytes wanted, 3 left/,
    ],
    ["an empty frame", () => frame(""), /sent garbage/],
    ["text", () => Buffer.from("HTTP/1.1 200 OK\r\n\r\n"), /sent garbage/],
    [
      "a reply to another request",
      (xid) => frame(`${int(xid + 1)} ${"00".repeat(12)} ${DATA}`),
      /which is not due/,
    ],
    [
      "an event without its path",
      () => frame(`ffffffff ${"00".repeat(12)} 00000003 00000003 00000009 2f`),
      /garbage/,
    ],
    [
      "half a reply, then the end",
      (xid) => frame(`${int(xid)} ${"00".repeat(12)} ${DATA}`).subarray(0, 40),
      /closed/,
    ],
  ];

  test.each(GARBAGE)(
    "%s: reads are repeated on a new connection, writes are reported",
    async (_, bytes, traced) => {
      const server = await start({
        onRequest: ({ opcode, xid, connection }, reply) => {
          if (opcode === OP.closeSession) return false;
          if (connection !== server.connections[0])
            return opcode === OP.getData ? reply.ok(hex(DATA)) : false;
          if (opcode !== OP.getData) return;
          const garbage = bytes(xid);
          reply.raw(garbage);
          if (garbage.length === 40) reply.close();
        },
      });
      const lines: string[] = [];
      const session = open(server.address, { trace: (line) => lines.push(line) });
      await session.connected();
      const { id } = session;
      const [read, write] = [session.getData("/a"), failureOf(session.create("/a", null))];
      expect((await read).data?.toString()).toBe("x");
      expect(await write).toMatchObject({
        reason: "connection-loss",
        code: -4,
        name: "ConnectionError",
        sent: true,
      });
      expect(lines.filter((line) => line.startsWith("left "))).toEqual([
        expect.stringMatching(traced),
      ]);
      expect([session.id, session.state, server.connections.length]).toEqual([id, "connected", 2]);
      await eventually(() => server.connections[0]?.isOpen === false);
    },
  );

  test("a reply without a request costs the connection, not the session", async () => {
    const server = await start({
      onRequest: ({ opcode }, reply) => (opcode === OP.getData ? reply.ok(hex(DATA)) : false),
    });
    const session = open(server.address);
    await session.connected();
    const { id } = session;
    server.connections[0]?.raw(frame(`0000004d ${"00".repeat(12)}`));
    await eventually(() => server.connections.length === 2);
    await session.getData("/a");
    expect(session.id).toBe(id);
  });

  test("answers to pings, credentials and watches that were not sent are harmless", async () => {
    const server = await start({
      onRequest: ({ opcode }, reply) => (opcode === OP.getData ? reply.ok(hex(DATA)) : false),
    });
    const session = open(server.address);
    await session.connected();
    for (const xid of [-2, -4, -8]) {
      for (const code of [0, -115])
        server.connections[0]?.raw(frame(`${int(xid)} ${"00".repeat(8)} ${int(code)}`));
    }
    await session.getData("/a");
    expect([session.state, server.connections.length]).toEqual(["connected", 1]);
  });

  test("a server that breaks every connection at the same request is not asked for ever", async () => {
    const server = await start({
      onRequest: ({ opcode }, reply) =>
        opcode === OP.getData ? reply.raw(hex("ffffffff")) : false,
    });
    const session = open(server.address);
    expect(await failureOf(session.getData("/a"))).toMatchObject({
      reason: "connection-loss",
      name: "ConnectionError",
    });
    expect(server.connections.length).toBeLessThanOrEqual(4);
  });

  test("a frame that never ends is given up with the silent connection", async () => {
    const server = await start({
      onRequest: ({ opcode, connection }, reply) => {
        if (opcode === OP.ping) return;
        if (opcode !== OP.getData) return false;
        if (connection !== server.connections[0]) return reply.ok(hex(DATA));
        server.options.answerPings = false;
        return reply.raw(hex("00001000 00000001"));
      },
    });
    const session = open(server.address, { timeoutMs: 3_000 });
    await session.connected();
    const startedAt = performance.now();
    const read = session.getData("/a");
    await eventually(() => server.options.answerPings === false);
    await eventually(() => server.connections.length === 2);
    server.options.answerPings = true;
    expect((await read).data?.toString()).toBe("x");
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});

describe("a reply that makes no sense", () => {
  const REPLIES: [string, string, (session: Session) => Promise<unknown>][] = [
    ["data longer than the frame", "00000100 78", (session) => session.getData("/a")],
    ["data of negative length", `fffffffb ${STAT}`, (session) => session.getData("/a")],
    ["half a stat", `00000001 78 ${STAT.slice(0, 60)}`, (session) => session.getData("/a")],
    ["nothing at all", "", (session) => session.getData("/a")],
    ["more children than bytes", "7fffffff 00000001 78", (session) => session.getChildren("/a")],
    [
      "fewer children than promised",
      "00000003 00000001 78",
      (session) => session.getChildren("/a"),
    ],
    ["a negative number of children", "fffffff9", (session) => session.getChildren("/a")],
    ["a child without a name", "00000001 ffffffff", (session) => session.getChildren("/a")],
    [
      "a name longer than the frame",
      "00000001 00000009 78",
      (session) => session.getChildren("/a"),
    ],
    ["an ACL without an id", "00000001 0000001f 00000001 61", (session) => session.getAcl("/a")],
    ["no path of a new znode", "", (session) => session.create("/a", null)],
    ["another path of a new znode", "00000002 2f62", (session) => session.create("/a", null)],
    [
      "a path below that of a new znode",
      "00000004 2f612f31",
      (session) => session.create("/a", null),
    ],
    [
      "another path of a new ticket",
      "00000002 2f62",
      (session) => session.create("/a-", null, SEQUENTIAL),
    ],
    ["another path in a transaction", `00000001 00 00000000 00000002 2f62 ${END}`, create],
    ["too few results of a transaction", END, multi],
    ["a result of another operation in a transaction", `00000002 00 00000000 ${END}`, multi],
    ["too few results of many reads", END, multiRead],
    ["children in place of data", `00000008 00 00000000 00000000 ${END}`, multiRead],
    ["an unknown result of a transaction", "00000063 00 00000000", multi],
    [
      "too many results of a transaction",
      `${"0000000d 00 00000000".repeat(2)} ffffffff 01 ffffffff`,
      multi,
    ],
    ["a transaction without an end", "0000000d 00 00000000", multi],
  ];

  function multi(session: Session): Promise<unknown> {
    return session.multi([{ op: "check", path: "/a" }]);
  }

  function create(session: Session): Promise<unknown> {
    return session.multi([
      { op: "create", path: "/a" },
      { op: "check", path: "/a" },
    ]);
  }

  function multiRead(session: Session): Promise<unknown> {
    return session.multiRead([{ op: "getData", path: "/a" }]);
  }

  test.each(REPLIES)("%s is reported, and the session goes on elsewhere", async (_, body, call) => {
    let isSane = false;
    const server = await start({
      srvr: "Zookeeper version: 3.8.0",
      onRequest: ({ opcode }, reply) => {
        return opcode === OP.closeSession ? false : reply.ok(hex(isSane ? DATA : body));
      },
    });
    const session = open(server.address);
    await session.connected();
    const { id } = session;
    const error = await failureOf(call(session));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ reason: "malformed-reply", name: "ConnectionError", sent: true });
    expect(error.message).toMatch(/^malformed reply from the server: /);
    isSane = true;
    expect((await session.getData("/a")).data?.toString()).toBe("x");
    // Without that of srvr, which many reads ask for first.
    expect([session.id, server.connections.filter(({ handshake }) => handshake).length]).toEqual([
      id,
      2,
    ]);
  });
});

test("a credential that is left unanswered, while all else is answered, is shown on another connection", async () => {
  const server = await start({
    onRequest: ({ opcode, connection }, reply) => {
      // Done with, and not a word.
      return opcode === OP.auth && connection === server.connections[0]
        ? reply.raw(Buffer.alloc(0))
        : false;
    },
  });
  const session = open(server.address, { timeoutMs: 3_000 });
  await session.connected();
  await session.addAuth("digest", Buffer.from("ann:secret"), { timeoutMs: 30_000 });
  expect(server.connections.length).toBeGreaterThan(1);
});

test("a credential that no connection has an answer to becomes an error, and is shown no more", async () => {
  const server = await start({
    onRequest: ({ opcode }, reply) => (opcode === OP.auth ? reply.raw(Buffer.alloc(0)) : false),
  });
  const session = open(server.address, { timeoutMs: 3_000 });
  await session.connected();
  const error = await failureOf(session.addAuth("digest", Buffer.from("ann:secret")));
  expect(error).toMatchObject({ reason: "connection-loss", name: "ConnectionError" });
  expect(session.state).not.toBe("lost");
  await session.connected();
  const shown = server.connections
    .flatMap(({ opcodes }) => opcodes)
    .filter((opcode) => opcode === OP.auth);
  expect(shown).toHaveLength(3);
});

test("a credential that no caller awaits may stay unanswered: the connection is kept", async () => {
  const server = await start({
    onRequest: ({ opcode }, reply) => (opcode === OP.auth ? reply.raw(Buffer.alloc(0)) : false),
  });
  const session = open(server.address, {
    timeoutMs: 3_000,
    auth: [{ scheme: "digest", credential: Buffer.from("ann:secret") }],
  });
  await session.connected();
  const states: string[] = [];
  session.onState(({ state }) => states.push(state));
  // Twice as long as a server may be silent.
  await sleep(2_400);
  expect(states).toEqual([]);
  expect(server.connections).toHaveLength(1);
});

test("events of unknown types are passed over", async () => {
  const server = await start({
    onRequest: ({ opcode }, reply) => (opcode === OP.getData ? reply.ok(hex(DATA)) : false),
  });
  const session = open(server.address);
  const told: WatchEvent[] = [];
  await session.getData("/a", { watch: (event) => told.push(event) });
  for (const type of [5, 6, 7, 99, -1, 0, -2_147_483_648])
    server.connections[0]?.event(type, 3, "/a");
  server.connections[0]?.event(3, 99, "/a");
  await eventually(() => expect(told).toEqual([{ type: "data-changed", path: "/a" }]));
  await session.getData("/a");
  expect(server.connections).toHaveLength(1);
});

describe("instead of a handshake", () => {
  const CONNECT_MS = 400;

  async function refusal(address: string, options: Partial<SessionOptions> = {}) {
    const session = open(address, { connectTimeoutMs: CONNECT_MS, ...options });
    const startedAt = performance.now();
    const [error, read] = await Promise.all([
      failureOf(session.connected()),
      failureOf(session.getData("/a")),
    ]);
    expect(error).toBeInstanceOf(ConnectionError);
    expect([error.reason, read.reason]).toEqual(["unreachable", "unreachable"]);
    expect(session.state).toBe("lost");
    return { message: error.message, tookMs: performance.now() - startedAt };
  }

  /** What is wrong for good is said at once. */
  async function expectRefusedAtOnce(
    address: string,
    says: string,
    options: Partial<SessionOptions> = {},
  ) {
    const { message, tookMs } = await refusal(address, { connectTimeoutMs: 5_000, ...options });
    expect(message).toBe(`cannot connect to ZooKeeper: ${address} (${says})`);
    expect(tookMs).toBeLessThan(2_500);
  }

  /** What may get better is tried until the time is over. */
  async function expectRefusedInTime(
    address: string,
    says: string | RegExp,
    options: Partial<SessionOptions> = {},
  ) {
    const { message, tookMs } = await refusal(address, options);
    // The last attempt may fail a moment before the time is over, or a moment after.
    expect(message.replace(" within 0.4 s", "")).toContain(
      `cannot connect to ZooKeeper: ${address} (`,
    );
    expect(message).toMatch(says);
    expect(tookMs).toBeGreaterThan(CONNECT_MS - 20);
    expect(tookMs).toBeLessThan(CONNECT_MS + 2_000);
  }

  async function expectNobodyLeft(server: FakeServer): Promise<void> {
    await eventually(() => server.connections.every((connection) => !connection.isOpen));
  }

  const STRANGERS: [string, Buffer, string][] = [
    [
      "an SSH banner",
      Buffer.from("SSH-2.0-OpenSSH_9.2p1\r\n"),
      "not a ZooKeeper server: it answers in SSH",
    ],
    [
      "an SMTP banner",
      Buffer.from("220 mail\r\n"),
      "not a ZooKeeper server: it answers in another protocol",
    ],
    [
      "a negative length",
      hex("ffffffff"),
      "not a ZooKeeper server: it answers in another protocol",
    ],
    ["a huge length", hex("7fffffff"), "not a ZooKeeper server: it answers in another protocol"],
    [
      "a length beyond any handshake",
      hex("00000101"),
      "not a ZooKeeper server: it answers in another protocol",
    ],
    ["an empty frame", frame(""), "not a ZooKeeper server: it answers in another protocol"],
    [
      "a frame too short",
      frame("00000000 00001770"),
      "not a ZooKeeper server: it answers in another protocol",
    ],
    [
      "a password longer than the frame",
      frame(`00000000 00001770 ${"00".repeat(8)} 00000010 01`),
      "not a ZooKeeper server: it answers in another protocol",
    ],
    ["a TLS alert", hex("15030300020246"), "the server expects TLS on this port"],
  ];

  test.each(STRANGERS)("%s is named at once", async (_, bytes, says) => {
    const server = await start({ ...MUTE, onConnection: (connection) => connection.raw(bytes) });
    await expectRefusedAtOnce(server.address, says);
    await expectNobodyLeft(server);
  });

  test("a banner is recognised also when it comes byte by byte", async () => {
    const server = await start({
      ...MUTE,
      onConnection: async (connection) => {
        for (const letter of "SSH-2.0") {
          connection.raw(Buffer.from(letter));
          await sleep(2);
        }
      },
    });
    await expectRefusedAtOnce(server.address, "not a ZooKeeper server: it answers in SSH");
  });

  test("a web server is named", async () => {
    const server = createServer((_, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expectRefusedAtOnce(address, "not a ZooKeeper server: it answers in HTTP");
    await expectRefusedAtOnce(address, "the server does not speak TLS on this port", {
      tls: { insecure: true },
    });
  });

  test("a TLS port that hangs up is suspected", async () => {
    const server = createTlsServer();
    server.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => new Promise((resolve) => server.close(resolve)));
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expectRefusedInTime(address, /it may have no quorum, or expect TLS\)$/);
  });

  test("a plain ZooKeeper behind --tls is suspected", async () => {
    await expectRefusedInTime(
      sharedServer(),
      /during the TLS handshake; is this its secure port\?/,
      {
        tls: { insecure: true },
      },
    );
  });

  const FAILURES: [string, FakeServerOptions, RegExp][] = [
    ["silence", MUTE, /\(no answer\)$/],
    [
      "a close at once",
      { onConnection: (connection) => connection.close() },
      /the server (closed|dropped) the conn/,
    ],
    [
      "a close after the question",
      { handshake: "close" },
      /\(the server closed the connection; it may have no quorum, or expect TLS\)$/,
    ],
    [
      "a refusal of a server that is read-only",
      { handshake: () => hex(`00000000 ${"00".repeat(8)} ffffff89`) },
      /\(the server is read-only and offers no sessions \(localSessionsEnabled is off\)\)$/,
    ],
    [
      "another refusal",
      { handshake: () => hex(`00000000 ${"00".repeat(8)} fffffff4`) },
      /\(the server refused the session \(UnknownSession\)\)$/,
    ],
    [
      "half an answer, then silence",
      { handshake: (_, connection) => half(connection) },
      /\(no answer\)$/,
    ],
    [
      "half an answer, then the end",
      {
        handshake: (_, connection) => {
          half(connection);
          setImmediate(() => connection.close());
          return null;
        },
      },
      /\(the server closed the connection; it may have no quorum, or expect TLS\)$/,
    ],
  ];

  function half(connection: FakeConnection): null {
    connection.raw(
      frame(`00000000 00001770 ${"01".repeat(8)} 00000010 ${"00".repeat(16)} 00`).subarray(0, 20),
    );
    return null;
  }

  test.each(FAILURES)("%s is told when the time is over", async (_, options, says) => {
    const server = await start(options);
    await expectRefusedInTime(server.address, says);
    await expectNobodyLeft(server);
  });

  test("a session that has given up leaves the server alone", async () => {
    const server = await start({ handshake: "close" });
    await refusal(server.address, { connectTimeoutMs: 100 });
    await expectNobodyLeft(server);
    const before = server.connections.length;
    // Longer than the pause that the search was in at most.
    await sleep(300);
    expect(server.connections).toHaveLength(before);
  });
});

describe("random bytes", () => {
  const SEED = Number(process.env.ZKSH_TEST_SEED ?? Date.now() % 0x7fffffff);
  const STREAMS = 300;
  const AT_ONCE = 50;

  /** Random numbers that a seed repeats (mulberry32). */
  function generator(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) % below;
    };
  }

  type Random = ReturnType<typeof generator>;

  function bytes(random: Random, length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => random(256)));
  }

  function damaged(random: Random, good: Buffer): Buffer {
    const copy = Buffer.from(good);
    for (let i = random(4); i >= 0; i--) copy[random(copy.length)] = random(256);
    return copy.subarray(0, random(5) === 0 ? random(copy.length) : copy.length);
  }

  /**
   * Many sessions, some at a time, on one server; each is asked for everything, and must answer
   * everything.
   */
  async function expectAllSettled(
    server: FakeServer,
    options: Partial<SessionOptions>,
  ): Promise<void> {
    const run = async () => {
      const session = openSession({ ...parseConnectString(server.address), ...options });
      const calls = [
        session.connected(),
        session.getData("/a", { watch: () => {} }),
        session.getChildren2("/a"),
        session.getAcl("/a"),
        session.create("/a", Buffer.from("x")),
        session.multi([{ op: "check", path: "/a" }]),
        session.addAuth("digest", Buffer.from("a:b")),
      ];
      const results = await Promise.allSettled(calls);
      await session.close();
      return results;
    };
    for (let done = 0; done < STREAMS; done += AT_ONCE) {
      const late = deferred<never>();
      const timer = setTimeout(() => late.reject(new Error("a call has not settled")), 15_000);
      const results = await Promise.race([
        Promise.all(Array.from({ length: AT_ONCE }, run)),
        late.promise,
      ]);
      clearTimeout(timer);
      for (const result of results.flat()) {
        if (result.status === "rejected" && !(result.reason instanceof ZkshError))
          throw result.reason;
      }
    }
    await eventually(() => server.connections.every((connection) => !connection.isOpen));
  }

  test(`${STREAMS} random streams behind a good handshake let every call settle (seed ${SEED})`, async () => {
    const random = generator(SEED);
    const server = await start({
      onRequest: ({ xid }, reply) => {
        const good = frame(
          `${int(xid)} 0000000100000001 00000000 ${DATA} 00000001 0000001f 00000001 61 00000001 62`,
        );
        const choices = [
          () => bytes(random, 1 + random(200)),
          () => frame(bytes(random, random(120)).toString("hex")),
          () =>
            frame(
              `${int(xid)} 0000000100000001 00000000 ${bytes(random, random(120)).toString("hex")}`,
            ),
          () =>
            frame(
              `ffffffff ffffffffffffffff 00000000 ${bytes(random, random(40)).toString("hex")}`,
            ),
          () => damaged(random, good),
          () => damaged(random, good),
        ];
        reply.raw(choices[random(choices.length)]?.() ?? good);
        if (random(8) === 0) reply.close();
      },
    });
    await expectAllSettled(server, { timeoutMs: 400, connectTimeoutMs: 400 });
  });

  test(`${STREAMS} random streams before a handshake let every call settle (seed ${SEED})`, async () => {
    const random = generator(SEED + 1);
    const server = await start({
      ...MUTE,
      onConnection: (connection) => {
        // A timeout that a server grants is believed, so it is kept short here.
        const accepted = () =>
          frame(
            `00000000 ${int(random(400))} ${bytes(random, 8).toString("hex")} 00000010 ${"00".repeat(16)} 00`,
          );
        const choices = [
          () => bytes(random, 1 + random(200)),
          () => frame(bytes(random, random(60)).subarray(0, 7).toString("hex")),
          () => frame(bytes(random, 16).toString("hex")),
          () => accepted().subarray(0, random(41)),
          () => Buffer.concat([accepted(), bytes(random, random(100))]),
          () => Buffer.concat([accepted(), frame(bytes(random, random(100)).toString("hex"))]),
        ];
        connection.raw(choices[random(choices.length)]?.() ?? Buffer.alloc(0));
        if (random(3) === 0) setImmediate(() => connection.close());
      },
    });
    await expectAllSettled(server, { timeoutMs: 400, connectTimeoutMs: 400 });
  });
});
