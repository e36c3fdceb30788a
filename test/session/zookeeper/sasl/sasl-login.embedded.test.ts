import { afterEach, describe, expect, test } from "vitest";
import { startEmbeddedServer } from "../../../../src/embedded/server.ts";
import { PermissionError, ZkshError } from "../../../../src/errors.ts";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { SessionOptions } from "../../../../src/session/options.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { judgeResponse, writeChallenge } from "../../../../src/wire/digest-md5.ts";
import { eventually, sleep } from "../../../support/eventually.ts";
import {
  type FakeReply,
  type FakeRequest,
  type FakeServer,
  type FakeServerOptions,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { startFaultProxy } from "../../../support/fault-proxy.ts";
import { Random } from "../../../support/random.ts";

const OP = {
  create: 1,
  getData: 4,
  sync: 9,
  multi: 14,
  auth: 100,
  setWatches: 101,
  sasl: 102,
  closeSession: -11,
} as const;
const USERS = new Map([["bob", "bobsecret"]]);
const BOB = { mechanism: "DIGEST-MD5", username: "bob", password: "bobsecret" } as const;
const DATA = Buffer.from(`0000000178${"00".repeat(68)}`, "hex");
const NO_TOKEN = Buffer.from("ffffffff", "hex");
const NONCE = "Tm9uY2U=";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function open(address: string, options: Partial<SessionOptions> = {}): Session {
  const session = openSession({ ...parseConnectString(address), sasl: BOB, ...options });
  cleanups.push(() => session.close());
  return session;
}

/** Every write of a client, as the opcodes behind the handshake, and the direction of each chunk. */
async function tapped(address: string) {
  const proxy = await startFaultProxy(Number(address.split(":")[1]));
  cleanups.push(() => proxy.close());
  const writes: Buffer[] = [];
  const directions: string[] = [];
  proxy.onBytes = (direction, chunk) => {
    if (directions.at(-1) !== direction) directions.push(direction);
    if (direction === "to-server") writes.push(Buffer.from(chunk));
  };
  const opcodes = () => writes.map((bytes) => framesOf(bytes).map((frame) => frame.readInt32BE(4)));
  return { proxy, writes, directions, opcodes };
}

/** The frames of one write; a handshake's second number, in place of the opcode, is a zxid. */
function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 4 + bytes.readInt32BE(at))
    frames.push(bytes.subarray(at + 4, at + 4 + bytes.readInt32BE(at)));
  return frames;
}

async function embedded(requireSasl = false) {
  const server = await startEmbeddedServer({ saslUsers: USERS, requireSasl });
  cleanups.push(() => server.stop());
  return server;
}

function token(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

interface Script {
  /** Answers the last message of the login; `proof` is the right one. */
  finish?(reply: FakeReply, proof: Buffer, request: FakeRequest): void;
  onRequest?: FakeServerOptions["onRequest"];
  timeoutMs?: number;
}

/** A server that sends a challenge and then what the script says. */
async function scripted({ finish, onRequest, ...options }: Script): Promise<FakeServer> {
  const server = await startFakeServer({
    ...options,
    onRequest: (request, reply) => {
      const { opcode, body, connection } = request;
      if (opcode === OP.getData && !onRequest) return reply.ok(DATA);
      if (opcode !== OP.sasl) return onRequest ? onRequest(request, reply) : false;
      if (connection.opcodes.filter((code) => code === OP.sasl).length === 1)
        return reply.ok(token(writeChallenge(NONCE)));
      const judged = judgeResponse(body.subarray(4), NONCE, (name) => USERS.get(name));
      const proof = token(judged?.message ?? Buffer.alloc(0));
      return finish ? finish(reply, proof, request) : reply.ok(proof);
    },
  });
  cleanups.push(() => server.close());
  return server;
}

describe("the order on a connection", () => {
  test("a one-shot read costs two round trips: handshake with SASL, then the response with the read and closeSession", async () => {
    const server = await embedded(true);
    const { proxy, opcodes, directions } = await tapped(server.address);
    const session = open(proxy.address);
    const [read, closed] = [session.getData("/"), session.close()];
    await read;
    await closed;
    expect(opcodes()).toEqual([
      [0, OP.sasl],
      [OP.sasl, OP.getData, OP.closeSession],
    ]);
    expect(directions).toEqual(["to-server", "to-client", "to-server", "to-client"]);
  });

  test("without SASL the same read costs one round trip", async () => {
    const server = await startEmbeddedServer();
    cleanups.push(() => server.stop());
    const { proxy, opcodes, directions } = await tapped(server.address);
    const session = openSession(parseConnectString(proxy.address));
    const [read, closed] = [session.getData("/"), session.close()];
    await read;
    await closed;
    expect(opcodes()).toEqual([[0, OP.getData, OP.closeSession]]);
    expect(directions).toEqual(["to-server", "to-client"]);
  });

  test("the first message is empty, and the second is the response to the challenge", async () => {
    const server = await embedded();
    const { proxy, writes } = await tapped(server.address);
    await open(proxy.address).exists("/");
    const sent = writes.flatMap(framesOf).filter((frame) => frame.readInt32BE(4) === OP.sasl);
    expect(sent[0]?.subarray(8).toString("hex")).toBe("00000000");
    expect(sent[1]?.subarray(12).toString()).toMatch(
      /^charset=utf-8,username="bob",realm="zk-sasl-md5",nonce="[^"]+",nc=00000001,cnonce="[^"]+",digest-uri="zookeeper\/zk-sasl-md5",response=[0-9a-f]{32},qop=auth$/,
    );
  });

  test("writes leave with the response, behind the credentials", async () => {
    const server = await embedded();
    const { proxy, opcodes } = await tapped(server.address);
    const auth = [{ scheme: "digest", credential: Buffer.from("ann:secret") }];
    await open(proxy.address, { auth }).create("/a", null);
    expect(opcodes().slice(0, 2)).toEqual([
      [0, OP.sasl],
      [OP.sasl, OP.auth, expect.any(Number)],
    ]);
  });

  test("a reconnect logs in again, before credentials, watches and requests", async () => {
    const server = await embedded(true);
    const { proxy, opcodes, writes } = await tapped(server.address);
    const auth = [{ scheme: "digest", credential: Buffer.from("ann:secret") }];
    const session = open(proxy.address, { auth });
    await session.exists("/a", { watch: () => {} });
    const { id } = session;
    writes.length = 0;
    const suspended = new Promise<void>((resolve) =>
      session.onState(({ state }) => state === "suspended" && resolve()),
    );
    proxy.drop();
    await suspended;
    await session.exists("/b");
    expect(session.id).toBe(id);
    const [first, second] = opcodes();
    expect(first?.at(-1)).toBe(OP.sasl);
    expect(second).toEqual([OP.sasl, OP.auth, OP.setWatches, 3]);
  });

  test("under a lease the first heartbeat of a connection leaves behind the response", async () => {
    const server = await embedded(true);
    const { proxy, opcodes, writes } = await tapped(server.address);
    const session = open(proxy.address);
    await session.create("/ticket", null);
    session.keepLease(["/ticket"], () => {});
    writes.length = 0;
    proxy.drop();
    await eventually(() => expect(opcodes().flat()).toContain(OP.multi));
    expect(opcodes().flat().slice(1)).toEqual([OP.sasl, OP.sasl, OP.sync, OP.multi]);
  });
});

describe("the server's answer to the login", () => {
  const login = (session: Session) => session.getData("/a").catch((error: unknown) => error);

  test.each<[string, NonNullable<Script["finish"]>, string]>([
    ["a wrong proof", (reply) => reply.ok(token(Buffer.from("rspauth=00"))), "sasl-unproved"],
    ["an empty proof", (reply) => reply.ok(token(Buffer.alloc(0))), "sasl-unproved"],
    ["no message", (reply) => reply.ok(token(Buffer.from('a="'))), "sasl-unproved"],
    ["no token (allowSaslFailedClients)", (reply) => reply.ok(NO_TOKEN), "sasl-ignored"],
    ["AuthFailed", (reply) => reply.error(-115), "sasl-refused"],
    ["SessionClosedRequireSaslAuth", (reply) => reply.error(-124), "sasl-refused"],
  ])("%s ends the session before any later reply is delivered", async (_, finish, reason) => {
    const server = await scripted({ finish });
    const session = open(server.address);
    const states: unknown[] = [];
    session.onState((change) => states.push(change));
    const error = await login(session);
    expect(error).toBeInstanceOf(PermissionError);
    expect(error).toMatchObject({ reason });
    expect(states).toEqual([{ state: "lost", reason: "auth-failed" }]);
    // The read's reply was there, right behind that to the login.
    expect(server.connections[0]?.opcodes.slice(0, 3)).toEqual([OP.sasl, OP.sasl, OP.getData]);
    expect(server.connections).toHaveLength(1);
  });

  test("a server without SASL ends the session before a request is sent, and its session is closed", async () => {
    const server = await startFakeServer({
      onRequest: ({ opcode }, reply) => (opcode === OP.sasl ? reply.ok(NO_TOKEN) : false),
    });
    cleanups.push(() => server.close());
    expect(await login(open(server.address))).toMatchObject({
      reason: "sasl-not-offered",
      message: `${server.address} does not do SASL: bob cannot log in there`,
    });
    await eventually(() =>
      expect(server.connections[0]?.opcodes).toEqual([OP.sasl, OP.closeSession]),
    );
  });

  test("a challenge of another mechanism ends the session", async () => {
    const server = await startFakeServer({
      onRequest: ({ opcode }, reply) =>
        opcode === OP.sasl && reply.ok(token(Buffer.from('realm="x",nonce="n",algorithm=sha'))),
    });
    cleanups.push(() => server.close());
    expect(await login(open(server.address))).toMatchObject({
      reason: "sasl-failed",
      message: `the DIGEST-MD5 login of bob at ${server.address} failed: the algorithm sha instead of md5-sess`,
    });
  });

  test("any bytes for a challenge or for a proof end in an error of ours, and the process goes on", async () => {
    const random = new Random(20261119);
    const bytes = () =>
      Buffer.from(Array.from({ length: random.index(300) }, () => random.index(256)));
    for (let round = 0; round < 60; round++) {
      const isProof = round % 2 === 1;
      const garbage = round % 4 < 2 ? token(bytes()) : bytes();
      const server = await startFakeServer({
        onRequest: ({ opcode, connection }, reply) => {
          if (opcode !== OP.sasl) return false;
          const isFirst = connection.opcodes.filter((code) => code === OP.sasl).length === 1;
          if (isFirst && isProof) return reply.ok(token(writeChallenge(NONCE)));
          reply.ok(garbage);
          return connection.close();
        },
      });
      const session = openSession({
        ...parseConnectString(server.address),
        sasl: BOB,
        connectTimeoutMs: 100,
        timeoutMs: 500,
      });
      const error = await session.getData("/a").catch((failure: unknown) => failure);
      expect(error, `round ${round}: ${garbage.toString("hex")}`).toBeInstanceOf(ZkshError);
      await session.close();
      await server.close();
    }
  });

  test.each([
    ["in one piece", (bytes: Buffer) => [bytes]],
    ["byte by byte", (bytes: Buffer) => [...bytes].map((byte) => Buffer.of(byte))],
  ])("the challenge is read when it comes with the handshake's answer %s", async (_, cut) => {
    const accepted = Buffer.from(
      `0000002500000000000075300100018f3a7c000000000010${"07".repeat(16)}00`,
      "hex",
    );
    const server = await scripted({});
    server.options.handshake = (_request, connection) => {
      const challenge = token(writeChallenge(NONCE));
      const header = Buffer.alloc(16);
      const frame = token(Buffer.concat([header, challenge]));
      for (const piece of cut(Buffer.concat([accepted, frame]))) connection.raw(piece);
      return null;
    };
    const { onRequest } = server.options;
    server.options.onRequest = (request, reply) => {
      // The first message has been answered already.
      const isFirst = request.opcode === OP.sasl && request.body.length === 4;
      return isFirst ? undefined : onRequest?.(request, reply);
    };
    expect((await open(server.address).getData("/a")).data?.toString()).toBe("x");
  });

  test("replies in front of the answer to the login are not believed", async () => {
    const held: FakeReply[] = [];
    const server = await scripted({
      finish: (reply) => held.push(reply),
      onRequest: ({ opcode }, reply) => opcode === OP.getData && reply.ok(DATA),
    });
    const session = open(server.address, { timeoutMs: 4_000 });
    const read = session.getData("/a");
    await eventually(() => expect(server.connections.length).toBeGreaterThan(1));
    expect(await Promise.race([read, sleep(0)])).toBeUndefined();
    expect(session.state).toBe("suspended");
    read.catch(() => {});
  });

  test("the session is connected when the server has proved itself, not before", async () => {
    const held: (() => void)[] = [];
    const server = await scripted({
      finish: (reply, proof) => held.push(() => reply.ok(proof)),
    });
    const session = open(server.address);
    await eventually(() => expect(held).toHaveLength(1));
    expect(session.state).toBe("suspended");
    held[0]?.();
    await session.connected();
    expect(session.state).toBe("connected");
  });

  test("answers to a login say nothing about the session's life", async () => {
    const held: (() => void)[] = [];
    const server = await scripted({
      finish: (reply, proof) => held.push(() => reply.ok(proof)),
      timeoutMs: 4_000,
    });
    const began = performance.now();
    const session = open(server.address, { timeoutMs: 4_000 });
    await eventually(() => expect(held).toHaveLength(1));
    const before = [session.aliveForMs(), session.leaseForMs()];
    await sleep(200);
    held[0]?.();
    await session.connected();
    const elapsed = performance.now() - began;
    // 0.95 of the timeout, from the send time of the handshake; nothing since then has renewed it.
    expect(session.aliveForMs()).toBeLessThanOrEqual((before[0] ?? 0) - 195);
    expect(session.aliveForMs()).toBeGreaterThan(3_800 - elapsed - 1);
    expect(session.leaseForMs()).toBeLessThanOrEqual(Math.max(0, (before[1] ?? 0) - 195));
  });

  test("a login that is not answered costs the connection, not the session", async () => {
    let isSilent = true;
    const server = await scripted({
      finish: (reply, proof) => (isSilent ? undefined : reply.ok(proof)),
      timeoutMs: 2_000,
    });
    const session = open(server.address, { timeoutMs: 2_000 });
    const read = session.getData("/a");
    await eventually(() => server.connections[0]?.requests.length === 3);
    isSilent = false;
    server.connections[0]?.close();
    expect((await read).data?.toString()).toBe("x");
    expect(server.connections).toHaveLength(2);
  });

  test("a one-shot whose closeSession may have been carried out reads again in a new session", async () => {
    const server = await scripted({
      onRequest: ({ opcode, connection }, reply) => {
        if (opcode !== OP.getData) return false;
        return connection === server.connections[0] ? reply.close() : reply.ok(DATA);
      },
    });
    const session = open(server.address);
    const [read, closed] = [session.getData("/a"), session.close()];
    expect((await read).data?.toString()).toBe("x");
    await closed;
    expect(server.connections.map(({ handshake }) => handshake?.sessionId)).toEqual([0n, 0n]);
    expect(server.connections[1]?.opcodes).toEqual([OP.sasl, OP.sasl, OP.getData, OP.closeSession]);
  });

  test("a refused login on a reconnect ends the session", async () => {
    let isRefused = false;
    const server = await scripted({
      finish: (reply, proof) => (isRefused ? reply.error(-115) : reply.ok(proof)),
    });
    const session = open(server.address);
    await session.getData("/a");
    const lost = new Promise((resolve) =>
      session.onState((change) => change.state === "lost" && resolve(change)),
    );
    isRefused = true;
    server.connections[0]?.close();
    expect(await lost).toMatchObject({ reason: "auth-failed" });
    expect(await login(session)).toMatchObject({
      reason: "sasl-refused",
      message: `${server.address} refused the login of bob: the password is wrong or the user unknown (AuthFailed)`,
    });
    expect(session.leaseForMs()).toBe(0);
  });

  test("an expired session is found before the login goes on", async () => {
    const server = await scripted({});
    const session = open(server.address);
    await session.getData("/a");
    const lost = new Promise((resolve) =>
      session.onState((change) => change.state === "lost" && resolve(change)),
    );
    server.options.handshake = "expired";
    server.connections[0]?.close();
    expect(await lost).toMatchObject({ reason: "expired" });
  });
});

describe("a server that requires SASL", () => {
  test("ends a session that does not log in, with a reason", async () => {
    const server = await embedded(true);
    const session = openSession(parseConnectString(server.address));
    expect(await session.exists("/").catch((error: unknown) => error)).toMatchObject({
      reason: "sasl-required",
      code: -124,
      message: `${server.address} requires a SASL login (SessionClosedRequireSaslAuth)`,
    });
    expect(session.state).toBe("lost");
  });

  test("answers heartbeats of a session that has logged in", async () => {
    const server = await startEmbeddedServer({
      saslUsers: USERS,
      requireSasl: true,
      tickTimeMs: 500,
    });
    cleanups.push(() => server.stop());
    const session = open(server.address, { timeoutMs: 4_000 });
    await session.connected();
    const began = performance.now();
    await eventually(() => performance.now() > began + 5_000);
    expect(session.state).toBe("connected");
    expect(session.timeoutMs).toBe(4_000);
  });
});

test("neither the password nor what is computed from it is in the trace", async () => {
  const server = await embedded();
  const lines: string[] = [];
  const session = open(server.address, { trace: (line) => lines.push(line) });
  await session.exists("/");
  expect(lines).toContain("SASL DIGEST-MD5 as bob -> ok");
  expect(lines.join("\n")).not.toMatch(/bobsecret|response=|rspauth|nonce/);
});
