import { afterEach, describe, expect, test } from "vitest";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { SessionOptions } from "../../../../src/session/options.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { eventually, sleep } from "../../../support/eventually.ts";
import {
  type FakeConnection,
  type FakeServer,
  type FakeServerOptions,
  startFakeServer,
} from "../../../support/fake-server.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/fault-proxy.ts";
import { freshChroot, sharedServer } from "../../../support/shared-server.ts";

const OP = {
  create: 1,
  exists: 3,
  getData: 4,
  getChildren: 8,
  auth: 100,
  closeSession: -11,
} as const;
const DATA = hex(`00000001 78 ${"00".repeat(68)}`);
const ACCEPTED = hex(`00000025 00000000 00002710 0100018f3a7c0000 00000010 ${"07".repeat(16)} 00`);

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(" ", ""), "hex");
}

async function start(options: FakeServerOptions = {}): Promise<FakeServer> {
  const server = await startFakeServer({
    onRequest: ({ opcode }, reply) => {
      if (opcode === OP.getData) return reply.ok(DATA);
      return opcode === OP.create ? reply.ok(hex("00000002 2f61")) : false;
    },
    ...options,
  });
  cleanups.push(() => server.close());
  return server;
}

function open(address: string, options: Partial<SessionOptions> = {}): Session {
  const session = openSession({ ...parseConnectString(address), ...options });
  cleanups.push(() => session.close());
  return session;
}

/** What reaches a server, write by write. */
async function tapped(
  target: string,
): Promise<{ proxy: FaultProxy; writes: Buffer[]; events: string[] }> {
  const proxy = await startFaultProxy(Number(target.split(":")[1]));
  cleanups.push(() => proxy.close());
  const writes: Buffer[] = [];
  const events: string[] = [];
  proxy.onBytes = (direction, chunk) => {
    events.push(direction);
    if (direction === "to-server") writes.push(chunk);
  };
  return { proxy, writes, events };
}

/** The connections of a session, without those that ask a server that hung up what it is. */
function sessionsOn(server: FakeServer): FakeConnection[] {
  return server.connections.filter(({ handshake }) => handshake !== undefined);
}

/** Closes the connections of a session before the one of this number, which is accepted. */
function closeUntil(number: number): NonNullable<FakeServerOptions["handshake"]> {
  let seen = 0;
  return (_request, connection) => {
    if (++seen >= number) return ACCEPTED.subarray(4);
    connection.close();
    return null;
  };
}

/** The opcodes of the frames behind the handshake's. */
function opcodesIn(bytes: Buffer): number[] {
  const found: number[] = [];
  for (let at = 4 + bytes.readInt32BE(0); at < bytes.length; at += 4 + bytes.readInt32BE(at)) {
    found.push(bytes.readInt32BE(at + 8));
  }
  return found;
}

describe("in the first flight", () => {
  test("a read and closeSession leave together with the handshake, in one write", async () => {
    const server = await start();
    const { proxy, writes, events } = await tapped(server.address);
    const session = open(proxy.address);
    const [read, closed] = [session.getData("/a"), session.close()];
    expect((await read).data?.toString()).toBe("x");
    await closed;
    expect(writes.map(opcodesIn)).toEqual([[OP.getData, OP.closeSession]]);
    expect(events[0]).toBe("to-server");
    expect(session.state).toBe("lost");
  });

  test("all reads of a turn leave in their order, without an answer to the handshake", async () => {
    const server = await start({ handshake: "silent", onRequest: () => {} });
    const session = open(server.address);
    const calls = Promise.allSettled([
      session.getChildren("/a"),
      session.getData("/a"),
      session.exists("/a"),
    ]);
    await eventually(() =>
      expect(server.connections[0]?.opcodes).toEqual([OP.getChildren, OP.getData, OP.exists]),
    );
    Object.assign(server.options, { handshake: "normal", onRequest: () => false });
    server.connections[0]?.close();
    await calls;
  });

  test("credentials go before reads", async () => {
    const server = await start();
    const { proxy, writes } = await tapped(server.address);
    const auth = ["a", "b"].map((id) => ({
      scheme: "digest",
      credential: Buffer.from(`${id}:secret`),
    }));
    const session = open(proxy.address, { auth });
    const [read, closed] = [session.getData("/a"), session.close()];
    await read;
    await closed;
    expect(writes.map(opcodesIn)).toEqual([[OP.auth, OP.auth, OP.getData, OP.closeSession]]);
  });

  test("credentials leave alone when only writes wait, and go before them", async () => {
    const server = await start();
    const { proxy, writes, events } = await tapped(server.address);
    const auth = [{ scheme: "digest", credential: Buffer.from("a:secret") }];
    const session = open(proxy.address, { auth });
    await session.create("/a", null);
    expect(opcodesIn(writes[0] as Buffer)).toEqual([OP.auth]);
    expect(events.slice(0, 2)).toEqual(["to-server", "to-client"]);
    expect(server.connections[0]?.opcodes).toEqual([OP.auth, OP.create]);
  });

  test("a write waits for the answer, and so does everything behind it", async () => {
    const server = await start({ handshake: "silent" });
    const { onRequest } = server.options;
    server.options.onRequest = () => {};
    const session = open(server.address);
    const calls = [
      session.getData("/a"),
      session.create("/a", null),
      session.getData("/a"),
      session.close(),
    ];
    await eventually(() => server.connections[0]?.requests.length);
    // The absence of more can only be seen by waiting.
    await sleep(50);
    const [connection] = server.connections;
    expect(connection?.opcodes).toEqual([OP.getData]);
    Object.assign(server.options, { handshake: "normal", onRequest });
    connection?.close();
    await Promise.all(calls);
    expect(sessionsOn(server)[1]?.opcodes).toEqual([
      OP.getData,
      OP.create,
      OP.getData,
      OP.closeSession,
    ]);
  });

  test("a write leaves as soon as the answer is there", async () => {
    const server = await start({ handshake: "silent" });
    const session = open(server.address);
    const created = session.create("/a", null);
    await eventually(() => server.connections[0]?.handshake);
    await sleep(50);
    expect(server.connections[0]?.opcodes).toEqual([]);
    server.connections[0]?.raw(ACCEPTED);
    expect(await created).toBe("/a");
    expect(server.connections).toHaveLength(1);
  });

  test("answers that come in one piece with the handshake's are read", async () => {
    const server = await start({ handshake: "silent", onRequest: () => {} });
    const session = open(server.address);
    const [read, closed] = [session.getData("/a"), session.close()];
    await eventually(() => server.connections[0]?.requests.length === 2);
    const answer = hex(`00000059 00000001 0000000100000001 00000000 ${DATA.toString("hex")}`);
    const goodbye = hex("00000010 00000002 0000000100000002 00000000");
    server.connections[0]?.raw(Buffer.concat([ACCEPTED, answer, goodbye]));
    expect((await read).data?.toString()).toBe("x");
    await closed;
    expect(session.id).toBe(0x0100_018f_3a7c_0000n);
  });
});

describe("when the first server drops the connection before its answer", () => {
  test("the read is made again on the next, and closeSession behind it", async () => {
    const server = await start({ handshake: closeUntil(3) });
    const auth = [{ scheme: "digest", credential: Buffer.from("a:secret") }];
    const session = open(server.address, { auth });
    const [read, closed] = [session.getData("/a"), session.close()];
    expect((await read).data?.toString()).toBe("x");
    await closed;
    const flights = sessionsOn(server).map((connection) => connection.opcodes);
    expect(flights).toEqual([1, 2, 3].map(() => [OP.auth, OP.getData, OP.closeSession]));
  });

  test("the write is still made once", async () => {
    const server = await start({ handshake: closeUntil(2) });
    const session = open(server.address);
    expect(await session.create("/a", null)).toBe("/a");
    expect(sessionsOn(server).map((connection) => connection.opcodes)).toEqual([[], [OP.create]]);
  });

  test("the read fails with the connection when no server takes it", async () => {
    const server = await start({ handshake: "close" });
    const session = open(server.address, { connectTimeoutMs: 300 });
    const [read, closed] = [session.getData("/a"), session.close()];
    await expect(read).rejects.toMatchObject({
      reason: "unreachable",
      name: "ConnectionError",
      path: "/a",
    });
    await closed;
  });

  test("a session that is expired on arrival fails the read", async () => {
    const server = await start({ handshake: "expired", onRequest: () => {} });
    const session = open(server.address);
    await expect(session.getData("/a")).rejects.toMatchObject({
      reason: "session-expired",
      name: "ConnectionError",
    });
  });
});

describe("on a real server", () => {
  test("a read and closeSession in one write give the right data", async () => {
    const chroot = await freshChroot();
    const writer = open(chroot);
    await writer.create("/a", Buffer.from("content"));
    await writer.close();

    const { proxy, writes } = await tapped(sharedServer());
    const session = open(`${proxy.address}${chroot.slice(chroot.indexOf("/"))}`);
    const [data, children, missing, closed] = [
      session.getData("/a"),
      session.getChildren("/"),
      session.exists("/b"),
      session.close(),
    ];
    expect((await data).data?.toString()).toBe("content");
    expect(await children).toEqual(["a"]);
    expect(await missing).toBeUndefined();
    await closed;
    expect(writes.map(opcodesIn)).toEqual([
      [OP.getData, OP.getChildren, OP.exists, OP.closeSession],
    ]);
  });

  test("credentials in the first flight count for the read behind them", async () => {
    const chroot = await freshChroot();
    const auth = [{ scheme: "digest", credential: Buffer.from("ann:secret") }];
    const owner = open(chroot, { auth });
    await owner.create("/mine", Buffer.from("hidden"), {
      acl: [{ perms: 31, scheme: "auth", id: "" }],
    });
    await owner.close();

    const stranger = open(chroot);
    await expect(stranger.getData("/mine")).rejects.toMatchObject({ reason: "no-auth" });
    const session = open(chroot, { auth });
    const [read, closed] = [session.getData("/mine"), session.close()];
    expect((await read).data?.toString()).toBe("hidden");
    await closed;
  });
});

test("a read whose answer is lost again and again names the lost connection, not the closing", async () => {
  const server = await start({
    onRequest: ({ opcode }, reply) => opcode === OP.getData && reply.close(),
  });
  const session = open(server.address);
  const read = session.getData("/a");
  await Promise.all([
    expect(read).rejects.toMatchObject({
      reason: "connection-loss",
      name: "ConnectionError",
      message: expect.stringMatching(/^the connection was lost.* before the reply came: \/a/),
    }),
    session.close(),
  ]);
});
