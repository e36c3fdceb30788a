/** Transactions and many reads at once: atomic, in order, byte for byte. */
import { describe, expect, test } from "vitest";
import { ErrorCode, Opcode } from "../../src/wire/protocol.ts";
import { onBothServers } from "./on-both-servers.ts";
import { Flags, type RawClient, type Step, type StepResult } from "./raw-client.ts";

const {
  runtimeInconsistency,
  noNode,
  nodeExists,
  badVersion,
  notEmpty,
  badArguments,
  marshallingError,
} = ErrorCode;

const codes = ({ results }: { results: StepResult[] }) => results.map(({ code }) => code);
/** type, done, err */
const header = (type: number, done: boolean, err: number) => {
  const bytes = Buffer.alloc(9);
  bytes.writeInt32BE(type);
  bytes[4] = done ? 1 : 0;
  bytes.writeInt32BE(err, 5);
  return bytes;
};
const END = header(-1, true, -1);
const failed = (code: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(code);
  return Buffer.concat([header(-1, false, code), bytes]);
};
const text = (value: string) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(Buffer.byteLength(value));
  return Buffer.concat([bytes, Buffer.from(value)]);
};

onBothServers((server) => {
  describe("a transaction", () => {
    test("that succeeds has the reply of Apache ZooKeeper, byte for byte", async () => {
      const client = await server.fresh();
      await client.create("/a");
      await client.create("/gone");
      const reply = await client.multi([
        { op: "check", path: "/a", version: 0 },
        { op: "create", path: "/b" },
        { op: "setData", path: "/a", data: "xyz" },
        { op: "delete", path: "/gone" },
      ]);
      const { stat } = await client.exists("/a");
      expect(stat).toMatchObject({ version: 1, dataLength: 3, mzxid: reply.zxid });
      const statBytes = (await client.exists("/a")).body;
      expect(reply.err).toBe(0);
      expect(reply.body).toEqual(
        Buffer.concat([
          header(Opcode.check, false, 0),
          header(Opcode.create, false, 0),
          text(client.full("/b")),
          header(Opcode.setData, false, 0),
          statBytes,
          header(Opcode.delete, false, 0),
          END,
        ]),
      );
    });

    test("that fails has the reply of Apache ZooKeeper, byte for byte", async () => {
      const client = await server.fresh();
      const reply = await client.multi([
        { op: "create", path: "/a" },
        { op: "create", path: "/b" },
        { op: "check", path: "/missing", version: 3 },
        { op: "delete", path: "/a" },
      ]);
      expect(reply.err).toBe(0);
      expect(reply.body).toEqual(
        Buffer.concat([failed(0), failed(0), failed(noNode), failed(runtimeInconsistency), END]),
      );
    });

    test("without operations succeeds", async () => {
      const client = await server.fresh();
      const reply = await client.multi([]);
      expect(reply).toMatchObject({ err: 0, body: END });
    });

    test("has one zxid for all its changes", async () => {
      const client = await server.fresh();
      await client.create("/a");
      const { zxid, results } = await client.multi([
        { op: "create", path: "/b", flags: Flags.container },
        { op: "create", path: "/b/c" },
        { op: "setData", path: "/a" },
        { op: "create", path: "/d" },
      ]);
      expect(results[0]?.stat).toMatchObject({
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        numChildren: 0,
      });
      expect(results[2]?.stat?.mzxid).toBe(zxid);
      expect((await client.exists("/b")).stat).toMatchObject({
        czxid: zxid,
        pzxid: zxid,
        cversion: 1,
        numChildren: 1,
      });
      const made = [
        await client.exists("/b"),
        await client.exists("/b/c"),
        await client.exists("/d"),
      ];
      expect(made.map(({ stat }) => stat?.czxid)).toEqual([zxid, zxid, zxid]);
      expect(new Set(made.map(({ stat }) => stat?.ctime)).size).toBe(1);
    });

    test("creates in every mode", async () => {
      const client = await server.fresh();
      const { results } = await client.multi([
        { op: "create", path: "/p" },
        { op: "create", path: "/e", flags: Flags.ephemeral },
        { op: "create", path: "/s-", flags: Flags.sequential },
        { op: "create", path: "/es-", flags: Flags.ephemeralSequential },
        { op: "create", path: "/c", flags: Flags.container },
        { op: "create", path: "/t", flags: Flags.ttl, ttlMs: 70_000 },
        { op: "create", path: "/st-", flags: Flags.sequentialTtl, ttlMs: 70_000 },
        { op: "create2", path: "/two" },
      ]);
      const { create, create2 } = Opcode;
      // With create2 comes no stat, and without it one does.
      expect(results.map(({ type, path, stat }) => [type, path, stat !== undefined])).toEqual([
        [create, "/p", false],
        [create, "/e", false],
        [create, "/s-0000000002", false],
        [create, "/es-0000000003", false],
        [create2, "/c", true],
        [create2, "/t", true],
        [create2, "/st-0000000006", true],
        [create, "/two", false],
      ]);
      expect((await client.exists("/e")).stat?.ephemeralOwner).toBe(client.sessionId);
      expect((await client.getEphemerals("/")).paths).toEqual(["/e", "/es-0000000003"]);
    });

    test("each step sees those before it", async () => {
      const client = await server.fresh();
      const { results } = await client.multi([
        { op: "create", path: "/a" },
        { op: "check", path: "/a", version: 0 },
        { op: "create", path: "/a/b" },
        { op: "setData", path: "/a/b", data: "1", version: 0 },
        { op: "setData", path: "/a/b", data: "22", version: 1 },
        { op: "check", path: "/a/b", version: 2 },
        { op: "delete", path: "/a/b", version: 2 },
        { op: "delete", path: "/a", version: 0 },
        { op: "create", path: "/a", data: "again" },
      ]);
      expect(codes({ results })).toEqual(Array(9).fill(undefined));
      expect(results[3]?.stat).toMatchObject({ version: 1, dataLength: 1 });
      expect(results[4]?.stat).toMatchObject({ version: 2, dataLength: 2 });
      expect(await client.getData("/a")).toMatchObject({
        data: "again",
        stat: { version: 0, numChildren: 0 },
      });
      expect((await client.exists("/")).stat).toMatchObject({ cversion: 3, numChildren: 1 });
    });

    test("sequence numbers go on within it", async () => {
      const client = await server.fresh();
      const step = { op: "create", path: "/s-", flags: Flags.sequential } as const;
      const { results } = await client.multi([step, { op: "create", path: "/x" }, step, step]);
      expect(results.map(({ path }) => path)).toEqual([
        "/s-0000000000",
        "/x",
        "/s-0000000002",
        "/s-0000000003",
      ]);
    });

    test("that fails leaves nothing, not even a number", async () => {
      const client = await server.fresh();
      await client.create("/a", { data: "old" });
      const before = await client.exists("/");
      const { results } = await client.multi([
        { op: "create", path: "/s-", flags: Flags.sequential },
        { op: "setData", path: "/a", data: "new" },
        { op: "create", path: "/e", flags: Flags.ephemeral },
        { op: "delete", path: "/a", version: 5 },
      ]);
      expect(codes({ results })).toEqual([0, 0, 0, badVersion]);
      expect((await client.exists("/")).body).toEqual(before.body);
      expect(await client.getData("/a")).toMatchObject({ data: "old", stat: { version: 0 } });
      expect((await client.getEphemerals("/")).paths).toEqual([]);
      expect(await client.create("/s-", { flags: Flags.sequential })).toMatchObject({
        path: "/s-0000000001",
      });
    });

    const failures: { what: string; step: Step; code: number }[] = [
      { what: "create what is there", step: { op: "create", path: "/a" }, code: nodeExists },
      { what: "create without parent", step: { op: "create", path: "/no/x" }, code: noNode },
      {
        what: "create below an ephemeral",
        step: { op: "create", path: "/e/x" },
        code: ErrorCode.noChildrenForEphemerals,
      },
      { what: "create2 a bad path", step: { op: "create2", path: "/a/" }, code: badArguments },
      {
        what: "create in a bad mode",
        step: { op: "create", path: "/x", flags: 99 },
        code: badArguments,
      },
      {
        what: "create with no TTL",
        step: { op: "create", path: "/x", flags: Flags.ttl },
        code: badArguments,
      },
      {
        what: "create with an empty list",
        step: { op: "create", path: "/x", acl: [] },
        code: ErrorCode.invalidAcl,
      },
      { what: "delete nothing", step: { op: "delete", path: "/no" }, code: noNode },
      {
        what: "delete another version",
        step: { op: "delete", path: "/a/b", version: 4 },
        code: badVersion,
      },
      { what: "delete what has children", step: { op: "delete", path: "/a" }, code: notEmpty },
      { what: "delete a bad path", step: { op: "delete", path: "/a\0" }, code: badArguments },
      { what: "set nothing", step: { op: "setData", path: "/no" }, code: noNode },
      {
        what: "set another version",
        step: { op: "setData", path: "/a", version: 4 },
        code: badVersion,
      },
      { what: "set a bad path", step: { op: "setData", path: "/a/" }, code: badArguments },
      { what: "check nothing", step: { op: "check", path: "/no" }, code: noNode },
      {
        what: "check another version",
        step: { op: "check", path: "/a", version: 4 },
        code: badVersion,
      },
      { what: "check a bad path", step: { op: "check", path: "/a/" }, code: badArguments },
    ];
    test.each(failures)("fails when one operation is to $what", async ({ step, code }) => {
      const client = await server.fresh();
      await client.create("/a");
      await client.create("/a/b");
      await client.create("/e", { flags: Flags.ephemeral });
      const good = { op: "create", path: "/good" } as const;
      const last = { op: "check", path: "/a" } as const;
      expect(codes(await client.multi([good, step, last]))).toEqual([
        0,
        code,
        runtimeInconsistency,
      ]);
      expect(codes(await client.multi([step]))).toEqual([code]);
      expect(await client.exists("/good")).toMatchObject({ err: noNode });
    });

    test("checks any version with -1", async () => {
      const client = await server.fresh();
      await client.create("/a");
      await client.setData("/a", "");
      expect(codes(await client.multi([{ op: "check", path: "/a" }]))).toEqual([undefined]);
    });

    test("that fails takes a zxid too", async () => {
      const client = await server.fresh();
      const { zxid: first } = await client.multi([{ op: "delete", path: "/no" }]);
      const { zxid: second } = await client.multi([{ op: "delete", path: "/no" }]);
      expect(second).toBeGreaterThan(first);
    });

    test("tells watchers once it is done, in the order of its steps, before its reply", async () => {
      const [client, other] = await server.pair();
      await client.create("/a");
      await client.create("/b");
      for (const watcher of [client, other]) {
        await watcher.getData("/a", true);
        await watcher.exists("/new", true);
        await watcher.getChildren("/", true);
        await watcher.addWatch("/b");
        watcher.order.length = 0;
      }
      const reply = await client.multi([
        { op: "setData", path: "/b", data: "1" },
        { op: "create", path: "/new" },
        { op: "setData", path: "/a" },
        { op: "setData", path: "/a" },
        { op: "delete", path: "/new" },
        { op: "setData", path: "/b", data: "2" },
      ]);
      const events = [
        "dataChanged /b",
        "created /new",
        "childrenChanged /",
        "dataChanged /a",
        "dataChanged /b",
      ];
      expect(client.order).toEqual([...events, `reply ${reply.xid}`]);
      expect(await other.heard()).toEqual(events);
    });

    test("that fails triggers no watch", async () => {
      const [client, other] = await server.pair();
      await client.create("/a");
      await other.getData("/a", true);
      await other.addWatch("/", 1);
      await client.multi([
        { op: "setData", path: "/a" },
        { op: "create", path: "/x" },
        { op: "delete", path: "/no" },
      ]);
      expect(await other.heard()).toEqual([]);
      await client.setData("/a", "");
      expect(await other.heard()).toEqual(["dataChanged /a"]);
    });

    test("of reads is a marshalling error", async () => {
      const client = await server.fresh();
      const { err, body } = await client.multi([{ op: "getData", path: "/" }]);
      expect({ err, body }).toEqual({ err: marshallingError, body: Buffer.alloc(0) });
    });

    test("of reads and writes is a marshalling error and changes nothing", async () => {
      const client = await server.fresh();
      const { err, body } = await client.multi([
        { op: "create", path: "/x" },
        { op: "getData", path: "/" },
      ]);
      expect({ err, body }).toEqual({ err: marshallingError, body: Buffer.alloc(0) });
      expect(await client.exists("/x")).toMatchObject({ err: noNode });
    });

    test("with an unknown operation is a marshalling error", async () => {
      const client = await server.fresh();
      const { err, body } = await client.multi([{ op: "raw", type: 77, body: () => {} }]);
      expect({ err, body }).toEqual({ err: marshallingError, body: Buffer.alloc(0) });
    });
  });

  describe("a multiRead", () => {
    const read = (client: RawClient, steps: Step[]) => client.multi(steps, Opcode.multiRead);

    test("lets each read succeed or fail alone", async () => {
      const client = await server.fresh();
      await client.create("/a", { data: "x" });
      await client.create("/a/b");
      const reply = await read(client, [
        { op: "getData", path: "/a" },
        { op: "getChildren", path: "/a" },
        { op: "getData", path: "/no" },
        { op: "getChildren", path: "/no" },
        { op: "getData", path: "/a/b" },
      ]);
      expect(reply.err).toBe(0);
      expect(reply.results.map(({ type, err, code }) => ({ type, err, code }))).toEqual([
        { type: Opcode.getData, err: 0, code: undefined },
        { type: Opcode.getChildren, err: 0, code: undefined },
        { type: Opcode.error, err: noNode, code: noNode },
        { type: Opcode.error, err: noNode, code: noNode },
        { type: Opcode.getData, err: 0, code: undefined },
      ]);
      expect(reply.results[0]).toMatchObject({ data: "x", stat: (await client.exists("/a")).stat });
      expect(reply.results[1]).toMatchObject({ children: ["b"] });
    });

    test("has the reply of Apache ZooKeeper, byte for byte", async () => {
      const client = await server.fresh();
      await client.create("/a", { data: "x" });
      const { body } = await read(client, [
        { op: "getData", path: "/a" },
        { op: "getChildren", path: "/" },
        { op: "getData", path: "/no" },
      ]);
      expect(body).toEqual(
        Buffer.concat([
          header(Opcode.getData, false, 0),
          (await client.getData("/a")).body,
          header(Opcode.getChildren, false, 0),
          (await client.getChildren("/")).body,
          failed(noNode),
          END,
        ]),
      );
    });

    test("without reads succeeds", async () => {
      const client = await server.fresh();
      expect(await read(client, [])).toMatchObject({ err: 0, body: END });
    });

    test("with a write among its reads is a marshalling error and changes nothing", async () => {
      const client = await server.fresh();
      const { err, body } = await read(client, [{ op: "create", path: "/x" }]);
      expect({ err, body }).toEqual({ err: marshallingError, body: END });
      expect(await client.exists("/x")).toMatchObject({ err: noNode });
    });
  });

  test("a session makes transactions and multiReads", async () => {
    const session = server.session(await server.chroot());
    const { results, zxid } = await session.multi([
      { op: "create", path: "/a", data: Buffer.from("x") },
      { op: "create", path: "/a/s-", mode: "ephemeralSequential" },
      { op: "check", path: "/a", version: 0 },
    ]);
    expect(results.map((result) => ("path" in result ? result.path : result.op))).toEqual([
      "/a",
      "/a/s-0000000000",
      "check",
    ]);
    expect((await session.exists("/a"))?.czxid).toBe(zxid);
    await expect(
      session.multi([
        { op: "delete", path: "/a/s-0000000000" },
        { op: "check", path: "/a", version: 4 },
      ]),
    ).rejects.toThrow();
    const reads = await session.multiRead([
      { op: "getData", path: "/a" },
      { op: "getChildren", path: "/a" },
      { op: "getData", path: "/no" },
    ]);
    expect(reads.map(({ op }) => op)).toEqual(["getData", "getChildren", "error"]);
  });
});
