/** How sessions begin, move and end. */
import { expect, test } from "vitest";
import { ErrorCode, Opcode, Xid } from "../../src/wire/protocol.ts";
import { eventually } from "../support/eventually.ts";
import { onBothServers } from "./on-both-servers.ts";
import { connectFrame, Flags, frameOf, RawConnection, readAccepted } from "./raw-client.ts";

const REFUSED = {
  protocolVersion: 0,
  timeoutMs: 0,
  sessionId: 0n,
  password: Buffer.alloc(16),
  rest: Buffer.alloc(1),
};

onBothServers((server) => {
  async function answerTo(...frames: Buffer[]) {
    const connection = await RawConnection.to(server.address);
    connection.write(Buffer.concat(frames));
    return { connection, frame: await connection.frame() };
  }

  test("a new session has an id, a password and the timeout asked for", async () => {
    const { frame, connection } = await answerTo(connectFrame());
    const accepted = readAccepted(frame as Buffer);
    expect(accepted).toMatchObject({
      protocolVersion: 0,
      timeoutMs: 10_000,
      rest: Buffer.alloc(1),
    });
    expect(accepted.sessionId).not.toBe(0n);
    expect(accepted.password).toHaveLength(16);
    expect(accepted.password).not.toEqual(Buffer.alloc(16));
    connection.drop();
  });

  test("ids and passwords of their own", async () => {
    const [first, second] = [await server.open(), await server.open()];
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second.accepted.password).not.toEqual(first.accepted.password);
  });

  test.each([
    [1, 1_000],
    [0, 1_000],
    [-5, 1_000],
    [1_001, 1_001],
    [59_999, 59_999],
    [3_600_000, 60_000],
  ])("a timeout of %d becomes %d", async (timeoutMs, negotiated) => {
    expect((await server.open("", { timeoutMs })).accepted.timeoutMs).toBe(negotiated);
  });

  test("who asks without the read-only byte is answered without it", async () => {
    const { frame, connection } = await answerTo(connectFrame({ readOnly: "absent" }));
    expect(frame).toHaveLength(36);
    connection.drop();
  });

  test("who would be content with a read-only server gets this one", async () => {
    expect((await server.open("", { readOnly: true })).accepted.rest).toEqual(Buffer.from([0]));
  });

  test.each([null, Buffer.alloc(0), Buffer.alloc(3)])(
    "a new session with the password %j",
    async (password) => {
      const { frame, connection } = await answerTo(connectFrame({ password }));
      expect(readAccepted(frame as Buffer).sessionId).not.toBe(0n);
      connection.drop();
    },
  );

  test("requests in the same write as the handshake", async () => {
    const { connection, frame } = await answerTo(
      connectFrame(),
      frameOf((writer) => writer.int(-2) ?? writer.int(11)),
    );
    expect(readAccepted(frame as Buffer).timeoutMs).toBe(10_000);
    expect((await connection.frame())?.readInt32BE(0)).toBe(Xid.ping);
    connection.drop();
  });

  test("a future zxid is refused without a word", async () => {
    const { frame, connection } = await answerTo(
      connectFrame({ lastZxidSeen: 0x7fff_0000_0000_0000n }),
    );
    expect(frame).toBeUndefined();
    expect(connection.isClosed).toBe(true);
  });

  test("the last zxid seen is not from the future", async () => {
    const client = await server.fresh();
    const { zxid } = await client.create("/a");
    expect((await server.open("", { lastZxidSeen: zxid })).sessionId).not.toBe(0n);
  });

  test.each([
    { what: "an empty frame", bytes: Buffer.alloc(4) },
    { what: "a frame that is too short", bytes: Buffer.from([0, 0, 0, 2, 0, 0]) },
    { what: "a negative length", bytes: Buffer.from([255, 255, 255, 255, 0, 0]) },
    { what: "a length beyond every limit", bytes: Buffer.from([127, 0, 0, 0, 0, 0]) },
    { what: "an HTTP request", bytes: Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n") },
  ])("$what instead of a handshake ends the connection", async ({ bytes }) => {
    const { frame } = await answerTo(bytes);
    expect(frame).toBeUndefined();
  });

  test("a session goes on after its connection was lost", async () => {
    const first = await server.fresh();
    await first.create("/e", { flags: Flags.ephemeral });
    first.connection.drop();
    const second = await first.reattach(server.address);
    expect(second.accepted).toEqual({ ...first.accepted, timeoutMs: 10_000 });
    expect((await second.exists("/e")).stat?.ephemeralOwner).toBe(first.sessionId);
    expect(await second.closeSession()).toMatchObject({ err: 0 });
  });

  test("the timeout can be another one after it", async () => {
    const first = await server.open();
    first.connection.drop();
    expect((await first.reattach(server.address, { timeoutMs: 5_000 })).accepted.timeoutMs).toBe(
      5_000,
    );
  });

  test("a session that moves to another connection leaves the old one hung up on", async () => {
    const first = await server.fresh();
    const second = await first.reattach(server.address);
    expect(await first.connection.untilClosed()).toEqual([]);
    expect(await second.create("/a")).toMatchObject({ err: 0 });
    expect(await second.closeSession()).toMatchObject({ err: 0 });
  });

  test("watches do not move with the session", async () => {
    const first = await server.fresh();
    await first.create("/a");
    await first.getData("/a", true);
    const second = await first.reattach(server.address);
    await second.setData("/a", "1");
    expect(await second.heard()).toEqual([]);
    second.end();
  });

  test("a wrong password is refused, and costs the owner its connection", async () => {
    const owner = await server.fresh();
    await owner.create("/e", { flags: Flags.ephemeral });
    const { frame, connection } = await answerTo(
      connectFrame({ sessionId: owner.sessionId, password: Buffer.alloc(16, 7) }),
    );
    expect(readAccepted(frame as Buffer)).toEqual(REFUSED);
    expect(await connection.untilClosed()).toEqual([]);
    expect(await owner.connection.untilClosed()).toEqual([]);
    const again = await owner.reattach(server.address);
    expect(await again.exists("/e")).toMatchObject({ err: 0 });
    again.end();
  });

  test("an unknown session is refused", async () => {
    const { frame, connection } = await answerTo(
      connectFrame({ sessionId: 0x1234n, password: Buffer.alloc(16, 7) }),
    );
    expect(readAccepted(frame as Buffer)).toEqual(REFUSED);
    expect(await connection.untilClosed()).toEqual([]);
  });

  test("a closed session is refused", async () => {
    const client = await server.open();
    await client.closeSession();
    await expect(client.reattach(server.address)).rejects.toThrow("no such session");
  });

  test("closing: the reply, then the end; ephemerals go at one zxid", async () => {
    const [client, other] = await server.pair();
    for (const path of ["/a", "/b"]) await other.create(path);
    for (const path of ["/a/e", "/b/e", "/a/f"])
      await client.create(path, { flags: Flags.ephemeral });
    await other.exists("/a/e", true);
    await other.getChildren("/b", true);
    const { zxid, err, body } = await client.closeSession();
    expect({ err, body }).toEqual({ err: 0, body: Buffer.alloc(0) });
    expect(await client.connection.untilClosed()).toEqual([]);
    expect((await other.heard()).sort()).toEqual(["childrenChanged /b", "deleted /a/e"]);
    const [a, b] = [await other.exists("/a"), await other.exists("/b")];
    expect([a.stat?.pzxid, b.stat?.pzxid]).toEqual([zxid, zxid]);
    expect([a.stat?.numChildren, b.stat?.numChildren]).toEqual([0, 0]);
    expect([a.stat?.cversion, b.stat?.cversion]).toEqual([4, 2]);
  });

  test("closing answers what comes behind it with nothing, or with the session's end", async () => {
    const client = await server.open();
    const frames = [
      client.request(Opcode.closeSession),
      client.request(Opcode.exists, (writer) => writer.string("/")),
    ];
    client.connection.write(Buffer.concat(frames));
    expect((await client.reply()).err).toBe(0);
    // The real one closes the connection while it looks at the next request: now and then it is
    // quick enough to refuse it.
    const refusals = (await client.connection.untilClosed()).map((frame) => frame.readInt32BE(12));
    expect(refusals.filter((code) => code !== ErrorCode.sessionExpired)).toEqual([]);
  });

  test("a ping is answered under its number with the zxid of the last change", async () => {
    const client = await server.fresh();
    const { zxid } = await client.create("/a");
    const ping = await client.ping();
    expect(ping).toMatchObject({ xid: Xid.ping, err: 0, body: Buffer.alloc(0) });
    expect(ping.zxid).toBeGreaterThanOrEqual(zxid);
  });

  test("a silent session expires: hung up on, forgotten, its ephemerals gone", async () => {
    const other = await server.fresh();
    const client = await server.open(other.chroot, { timeoutMs: 2_000 });
    // Its last word comes after this, however long everything takes.
    const start = performance.now();
    await client.create("/e", { flags: Flags.ephemeral });
    await other.exists("/e", true);
    expect(await client.connection.untilClosed()).toEqual([]);
    const silent = performance.now() - start;
    expect(silent).toBeGreaterThan(1_990);
    expect(silent).toBeLessThan(10_000);
    await eventually(async () => expect(await other.heard()).toEqual(["deleted /e"]));
    expect(await other.exists("/e")).toMatchObject({ err: ErrorCode.noNode });
    await expect(client.reattach(server.address)).rejects.toThrow("no such session");
  });

  test("expiry does not need a connection", async () => {
    const other = await server.fresh();
    const client = await server.open(other.chroot, { timeoutMs: 1_000 });
    await client.create("/e", { flags: Flags.ephemeral });
    client.connection.drop();
    await eventually(async () =>
      expect(await other.exists("/e")).toMatchObject({ err: ErrorCode.noNode }),
    );
  });

  test("pings keep a session alive", async () => {
    const client = await server.fresh({ timeoutMs: 1_500 });
    await client.create("/e", { flags: Flags.ephemeral });
    const until = performance.now() + 3_500;
    await eventually(async () => (await client.ping()).err === 0 && performance.now() > until, {
      intervalMs: 200,
    });
    expect(await client.exists("/e")).toMatchObject({ err: 0 });
  });

  test("pings have one number, whatever number they are sent with", async () => {
    const client = await server.open();
    client.connection.write(
      Buffer.concat([client.request(Opcode.ping, undefined, 7), client.request(11, undefined, 7)]),
    );
    expect([(await client.reply()).xid, (await client.reply()).xid]).toEqual([Xid.ping, Xid.ping]);
  });

  test("replies come in the order of requests", async () => {
    const client = await server.fresh();
    const sent: number[] = [];
    for (let index = 0; index < 20; index++) {
      sent.push(
        index % 2 === 0
          ? client.send(Opcode.sync, (writer) => writer.string(client.full("/")))
          : client.send(
              Opcode.exists,
              (writer) => writer.string(client.full("/")) ?? writer.boolean(false),
            ),
      );
    }
    const received: number[] = [];
    for (const _ of sent) received.push((await client.reply()).xid);
    expect(received).toEqual(sent);
  });

  test("an unknown operation is answered by Unimplemented, and by hanging up; the session lives", async () => {
    const client = await server.open();
    client.send(999);
    expect(await client.reply()).toEqual({
      xid: 1,
      zxid: -1n,
      err: ErrorCode.unimplemented,
      body: Buffer.alloc(0),
    });
    expect(await client.connection.untilClosed()).toEqual([]);
    const again = await client.reattach(server.address);
    expect(await again.exists("/")).toMatchObject({ err: 0 });
    again.end();
  });

  test.each([
    "create",
    "create2",
    "createContainer",
    "createTtl",
    "delete",
    "exists",
    "getData",
    "setData",
    "getAcl",
    "setAcl",
    "getChildren",
    "getChildren2",
    "sync",
    "multi",
    "multiRead",
    "setWatches",
    "setWatches2",
    "addWatch",
    "removeWatches",
    "getEphemerals",
    "getAllChildrenNumber",
  ] as const)(
    "a body of %s that ends early is a marshalling error, and no more than that",
    async (operation) => {
      const client = await server.open();
      const reply = await client.call(Opcode[operation], (writer) => writer.int(500));
      expect(reply).toMatchObject({ err: ErrorCode.marshallingError, body: Buffer.alloc(0) });
      expect(await client.exists("/")).toMatchObject({ err: 0 });
    },
  );

  test("half a credential ends the connection", async () => {
    const client = await server.open();
    client.send(Opcode.auth, (writer) => writer.int(500), Xid.auth);
    expect(await client.connection.untilClosed()).toEqual([]);
  });
});
