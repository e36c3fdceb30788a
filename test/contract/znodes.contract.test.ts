/** Creating, deleting, reading and writing: results, stats and error numbers. */
import { describe, expect, test } from "vitest";
import { ErrorCode, Opcode } from "../../src/wire/protocol.ts";
import type { StatRecord } from "../../src/wire/records.ts";
import { onBothServers } from "./on-both-servers.ts";
import { Flags, type RawClient } from "./raw-client.ts";

const EMPTY = Buffer.alloc(0);

onBothServers((server) => {
  describe("create", () => {
    test("is answered by the path, create2 by path and stat", async () => {
      const client = await server.fresh();
      const plain = await client.create("/a", { data: "xyz" });
      const path = Buffer.from(client.full("/a"));
      expect(plain.body).toEqual(Buffer.concat([Buffer.from([0, 0, 0, path.length]), path]));
      const before = Date.now();
      const {
        path: made,
        stat,
        zxid,
      } = await client.create("/b", { data: "four", opcode: Opcode.create2 });
      expect(made).toBe("/b");
      expect(stat).toEqual({
        czxid: zxid,
        mzxid: zxid,
        pzxid: zxid,
        ctime: stat?.mtime,
        mtime: stat?.mtime,
        version: 0,
        cversion: 0,
        aversion: 0,
        ephemeralOwner: 0n,
        dataLength: 4,
        numChildren: 0,
      });
      expect(Math.abs((stat?.ctime ?? 0) - before)).toBeLessThan(5_000);
    });

    test.each([
      { mode: "persistent", flags: 0, name: "/n", owner: () => 0n },
      { mode: "ephemeral", flags: 1, name: "/n", owner: (client: RawClient) => client.sessionId },
      { mode: "sequential", flags: 2, name: "/n0000000000", owner: () => 0n },
      {
        mode: "ephemeral sequential",
        flags: 3,
        name: "/n0000000000",
        owner: (client: RawClient) => client.sessionId,
      },
      { mode: "container", flags: 4, name: "/n", owner: () => 0n },
      { mode: "TTL", flags: 5, ttlMs: 70_000, name: "/n", owner: () => 0n },
      { mode: "sequential TTL", flags: 6, ttlMs: 70_000, name: "/n0000000000", owner: () => 0n },
    ])(
      "in the mode $mode gives the right name and owner",
      async ({ flags, ttlMs, name, owner }) => {
        const client = await server.fresh();
        const made = await client.create("/n", ttlMs === undefined ? { flags } : { flags, ttlMs });
        expect(made).toMatchObject({ err: 0, path: name });
        const { stat } = await client.exists(name);
        expect(stat).toMatchObject({ ephemeralOwner: owner(client), czxid: made.zxid });
        if (flags >= Flags.container) expect(made.stat).toEqual(stat);
      },
    );

    test("and create2 have the same modes", async () => {
      const client = await server.fresh();
      for (const flags of [0, 1, 2, 3]) {
        const { path, stat, zxid } = await client.create(`/m${flags}-`, {
          flags,
          opcode: Opcode.create2,
        });
        expect(path).toBe(flags < 2 ? `/m${flags}-` : `/m${flags}-000000000${flags}`);
        expect(stat).toMatchObject({
          czxid: zxid,
          ephemeralOwner: flags % 2 === 1 ? client.sessionId : 0n,
        });
      }
    });

    test("of an existing znode is refused in every mode", async () => {
      const client = await server.fresh();
      await client.create("/a", { data: "old" });
      for (const flags of [0, 1, 4]) {
        expect(await client.create("/a", { flags, data: "new" })).toMatchObject({
          err: ErrorCode.nodeExists,
          body: EMPTY,
        });
      }
      expect(await client.create("/a", { flags: 5, ttlMs: 1000 })).toMatchObject({
        err: ErrorCode.nodeExists,
      });
      expect(await client.getData("/a")).toMatchObject({ data: "old" });
    });

    test("without a parent is refused", async () => {
      const client = await server.fresh();
      expect(await client.create("/no/child")).toMatchObject({ err: ErrorCode.noNode });
      expect(await client.create("/no/child-", { flags: Flags.sequential })).toMatchObject({
        err: ErrorCode.noNode,
      });
    });

    test("below an ephemeral is refused, below others accepted", async () => {
      const client = await server.fresh();
      await client.create("/e", { flags: Flags.ephemeral });
      for (const flags of [0, 1, 2, 4]) {
        expect(await client.create("/e/child", { flags })).toMatchObject({
          err: ErrorCode.noChildrenForEphemerals,
        });
      }
      await client.create("/c", { flags: Flags.container });
      await client.create("/t", { flags: Flags.ttl, ttlMs: 70_000 });
      expect(await client.create("/c/child")).toMatchObject({ err: 0 });
      expect(await client.create("/t/child", { flags: Flags.ephemeral })).toMatchObject({ err: 0 });
    });

    test.each([7, 99, -1])("in the unknown mode %d is refused", async (flags) => {
      const client = await server.fresh();
      expect(await client.create("/a", { flags })).toMatchObject({
        err: ErrorCode.badArguments,
        body: EMPTY,
      });
    });

    test.each([0, -1, 2 ** 41])("with a TTL of %d is refused", async (ttlMs) => {
      const client = await server.fresh();
      expect(await client.create("/a", { flags: Flags.ttl, ttlMs })).toMatchObject({
        err: ErrorCode.badArguments,
      });
    });

    test("with the longest TTL is accepted", async () => {
      const client = await server.fresh();
      const ttlMs = 2 ** 40 - 1;
      expect(await client.create("/a", { flags: Flags.ttl, ttlMs })).toMatchObject({ err: 0 });
    });

    test("in a TTL mode without a TTL is refused", async () => {
      const client = await server.fresh();
      for (const opcode of [Opcode.create, Opcode.create2]) {
        expect(await client.create("/a", { flags: Flags.ttl, opcode })).toMatchObject({
          err: ErrorCode.badArguments,
        });
      }
    });

    test("tells null from empty data", async () => {
      const client = await server.fresh();
      await client.create("/null", { data: null });
      await client.create("/empty", { data: "" });
      expect(await client.getData("/null")).toMatchObject({ data: null, stat: { dataLength: 0 } });
      expect(await client.getData("/empty")).toMatchObject({ data: "", stat: { dataLength: 0 } });
      await client.setData("/empty", null);
      await client.setData("/null", "");
      expect(await client.getData("/null")).toMatchObject({ data: "" });
      expect(await client.getData("/empty")).toMatchObject({ data: null });
    });

    test("accepts names and data beyond ASCII", async () => {
      const client = await server.fresh();
      const bytes = Buffer.from([0, 255, 128, 10]);
      expect(await client.create("/zwölf €", { data: bytes })).toMatchObject({ path: "/zwölf €" });
      expect((await client.getData("/zwölf €")).body.subarray(4, 8)).toEqual(bytes);
      expect((await client.getChildren("/")).children).toEqual(["zwölf €"]);
    });
  });

  describe("sequence numbers", () => {
    async function next(client: RawClient, parent = ""): Promise<number> {
      const { path = "", err } = await client.create(`${parent}/s-`, { flags: Flags.sequential });
      expect(err).toBe(0);
      return Number(path.slice(-10));
    }

    test("count all children ever created, of any mode and name", async () => {
      const client = await server.fresh();
      expect(await next(client)).toBe(0);
      await client.create("/plain");
      await client.create("/ephemeral", { flags: Flags.ephemeral });
      expect(await next(client)).toBe(3);
      expect(await client.create("/other", { flags: Flags.ephemeralSequential })).toMatchObject({
        path: "/other0000000004",
      });
      expect(await client.create("/", { flags: Flags.sequential })).toMatchObject({ err: 0 });
    });

    test("go on after deletes, failures, and writes that are no creates", async () => {
      const client = await server.fresh();
      await next(client);
      await next(client);
      await client.delete("/s-0000000000");
      await client.delete("/s-0000000001");
      expect(await next(client)).toBe(2);
      await client.create("/s-0000000002");
      await client.create("/s-0000000002", { flags: Flags.ephemeral });
      expect(await next(client)).toBe(3);
      await client.setData("/", "x");
      await client.create("/s-0000000003/grandchild");
      expect(await next(client)).toBe(4);
    });

    test("are counted by parent, not by name", async () => {
      const client = await server.fresh();
      await client.create("/p");
      await client.create("/p/a");
      expect(await next(client, "/p")).toBe(1);
      await client.delete("/p/a");
      await client.delete("/p/s-0000000001");
      await client.delete("/p");
      await client.create("/p");
      expect(await next(client, "/p")).toBe(0);
    });

    test("that lead to an existing name are an error, not skipped", async () => {
      const client = await server.fresh();
      await client.create("/s-0000000001");
      expect(await client.create("/s-", { flags: Flags.sequential })).toMatchObject({
        err: ErrorCode.nodeExists,
      });
      await client.create("/other");
      expect(await next(client)).toBe(2);
    });

    test("are the whole name when the path ends with a slash", async () => {
      const client = await server.fresh();
      await client.create("/p");
      expect(await client.create("/p/", { flags: Flags.sequential })).toMatchObject({
        path: "/p/0000000000",
      });
    });
  });

  describe("delete", () => {
    test("has an empty answer", async () => {
      const client = await server.fresh();
      await client.create("/a");
      expect(await client.delete("/a")).toMatchObject({ err: 0, body: EMPTY });
      expect(await client.exists("/a")).toMatchObject({ err: ErrorCode.noNode, body: EMPTY });
    });

    test("needs the right version, if one is given", async () => {
      const client = await server.fresh();
      await client.create("/a");
      await client.setData("/a", "1");
      expect(await client.delete("/a", 0)).toMatchObject({ err: ErrorCode.badVersion });
      expect(await client.delete("/a", 2)).toMatchObject({ err: ErrorCode.badVersion });
      expect(await client.delete("/a", 1)).toMatchObject({ err: 0 });
      expect(await client.delete("/a", 1)).toMatchObject({ err: ErrorCode.noNode });
    });

    test("refuses a znode with children, and a wrong version before that", async () => {
      const client = await server.fresh();
      await client.create("/a");
      await client.create("/a/b");
      expect(await client.delete("/a")).toMatchObject({ err: ErrorCode.notEmpty });
      expect(await client.delete("/a", 5)).toMatchObject({ err: ErrorCode.badVersion });
    });

    test("removes an ephemeral of another session", async () => {
      const [client, other] = await server.pair();
      await client.create("/e", { flags: Flags.ephemeral });
      expect(await other.delete("/e")).toMatchObject({ err: 0 });
      expect(await client.getEphemerals()).toMatchObject({ paths: [] });
    });
  });

  describe("setData", () => {
    test("needs the right version, if one is given, and is answered by the stat", async () => {
      const client = await server.fresh();
      const { zxid } = await client.create("/a", { data: "x" });
      const set = await client.setData("/a", "longer", 0);
      expect(set.stat).toMatchObject({
        czxid: zxid,
        mzxid: set.zxid,
        pzxid: zxid,
        version: 1,
        dataLength: 6,
      });
      expect(await client.setData("/a", "x", 0)).toMatchObject({
        err: ErrorCode.badVersion,
        body: EMPTY,
      });
      expect(await client.setData("/a", "x", 7)).toMatchObject({ err: ErrorCode.badVersion });
      expect((await client.setData("/a", "x", -1)).stat?.version).toBe(2);
      expect(await client.getData("/a")).toMatchObject({ data: "x" });
    });

    test.each([-2, -100])("refuses a version of %d", async (version) => {
      const client = await server.fresh();
      await client.create("/a");
      expect(await client.setData("/a", "x", version)).toMatchObject({ err: ErrorCode.badVersion });
    });

    test("of a missing znode is refused", async () => {
      const client = await server.fresh();
      expect(await client.setData("/a", "x", 3)).toMatchObject({ err: ErrorCode.noNode });
    });

    test("counts the same data as a change", async () => {
      const client = await server.fresh();
      await client.create("/a", { data: "x" });
      const { stat, zxid } = await client.setData("/a", "x");
      expect(stat).toMatchObject({ version: 1, mzxid: zxid });
    });
  });

  describe("a stat", () => {
    const pick = ({ version, cversion, aversion, numChildren, dataLength }: StatRecord) => ({
      version,
      cversion,
      aversion,
      numChildren,
      dataLength,
    });

    test("counts each kind of change on its own", async () => {
      const client = await server.fresh();
      const made = await client.create("/p", { data: "abc" });
      await client.create("/p/a");
      await client.create("/p/b");
      await client.create("/p/a/deep");
      await client.setData("/p/a", "not the parent's business");
      const gone = await client.delete("/p/b");
      await client.create("/p/a");
      await client.delete("/p/nothing");
      const set = await client.setData("/p", "12345");
      await client.setAcl("/p", [{ perms: 31, scheme: "world", id: "anyone" }]);
      const { stat, zxid } = await client.exists("/p");
      expect(pick(stat as StatRecord)).toEqual({
        version: 1,
        cversion: 3,
        aversion: 1,
        numChildren: 1,
        dataLength: 5,
      });
      expect(stat).toMatchObject({
        czxid: made.zxid,
        mzxid: set.zxid,
        pzxid: gone.zxid,
        ephemeralOwner: 0n,
      });
      expect(zxid).toBeGreaterThan(set.zxid);
      expect(stat?.mtime).toBeGreaterThanOrEqual(stat?.ctime ?? Number.NaN);
    });

    test("is the same in every reply", async () => {
      const client = await server.fresh();
      await client.create("/p", { data: "abc" });
      await client.create("/p/a");
      await client.setData("/p", "d");
      const { stat } = await client.exists("/p");
      expect((await client.getData("/p")).stat).toEqual(stat);
      expect((await client.getChildren2("/p")).stat).toEqual(stat);
      expect((await client.getAcl("/p")).stat).toEqual(stat);
    });

    test("of the parent has the zxid of the last create or delete of a child", async () => {
      const client = await server.fresh();
      await client.create("/p");
      for (let count = 1; count <= 3; count++) {
        const { zxid } = await client.create(`/p/${count}`);
        expect((await client.exists("/p")).stat).toMatchObject({
          pzxid: zxid,
          cversion: count,
          numChildren: count,
        });
      }
      const { zxid } = await client.delete("/p/2");
      expect((await client.exists("/p")).stat).toMatchObject({
        pzxid: zxid,
        cversion: 4,
        numChildren: 2,
      });
    });

    test("has times of one clock, and a setData moves only mtime", async () => {
      const client = await server.fresh();
      const { stat: before } = await client.create("/p", { opcode: Opcode.create2 });
      await new Promise((resolve) => setTimeout(resolve, 15));
      const { stat: after } = await client.setData("/p", "x");
      expect(after?.ctime).toBe(before?.ctime);
      expect(after?.mtime).toBeGreaterThan(before?.mtime ?? Number.NaN);
    });
  });

  describe("zxids", () => {
    test("rise with every write, also with one that fails", async () => {
      const client = await server.fresh();
      let last = 0n;
      const steps = [
        () => client.create("/a"),
        () => client.setData("/a", "1"),
        () => client.setAcl("/a", [{ perms: 31, scheme: "world", id: "anyone" }]),
        () => client.multi([{ op: "create", path: "/b" }]),
        () => client.create("/a"),
        () => client.delete("/a"),
      ];
      for (const step of steps) {
        const { zxid } = await step();
        expect(zxid).toBeGreaterThan(last);
        last = zxid;
      }
    });

    test("of reads are not below those of the writes before them", async () => {
      const client = await server.fresh();
      const { zxid } = await client.create("/a");
      for (const read of [
        () => client.exists("/a"),
        () => client.getData("/nothing"),
        () => client.sync("/"),
      ]) {
        expect((await read()).zxid).toBeGreaterThanOrEqual(zxid);
      }
    });
  });

  describe("children", () => {
    test("are listed as names in both forms", async () => {
      const client = await server.fresh();
      for (const path of ["/a", "/b", "/b/c"]) await client.create(path);
      expect(await client.getChildren("/")).toMatchObject({ children: ["a", "b"] });
      expect(await client.getChildren2("/")).toMatchObject({
        children: ["a", "b"],
        stat: { numChildren: 2 },
      });
      expect((await client.getChildren("/a")).body).toEqual(Buffer.alloc(4));
      expect(await client.getChildren("/no")).toMatchObject({ err: ErrorCode.noNode, body: EMPTY });
      expect(await client.getChildren2("/no")).toMatchObject({
        err: ErrorCode.noNode,
        body: EMPTY,
      });
    });

    test("getAllChildrenNumber counts all below", async () => {
      const client = await server.fresh();
      for (const path of ["/a", "/a/b", "/a/b/c", "/ab"]) await client.create(path);
      expect(await client.getAllChildrenNumber("/a")).toMatchObject({ count: 2 });
      expect(await client.getAllChildrenNumber("/")).toMatchObject({ count: 4 });
      expect(await client.getAllChildrenNumber("/a/b/c")).toMatchObject({ count: 0 });
      expect(await client.getAllChildrenNumber("/no")).toMatchObject({ err: ErrorCode.noNode });
    });

    test("getEphemerals gives one's own, by the beginning of the path", async () => {
      const [client, other] = await server.pair();
      await client.create("/a");
      for (const path of ["/a/1", "/a/2", "/ab"])
        await client.create(path, { flags: Flags.ephemeral });
      await other.create("/a/theirs", { flags: Flags.ephemeral });
      expect(await client.getEphemerals("/a")).toMatchObject({
        err: 0,
        paths: ["/a/1", "/a/2", "/ab"],
      });
      expect(await client.getEphemerals("/a/")).toMatchObject({ paths: ["/a/1", "/a/2"] });
      expect(await client.getEphemerals("/none")).toMatchObject({ err: 0, paths: [] });
      expect(await other.getEphemerals("/")).toMatchObject({ paths: ["/a/theirs"] });
      await client.delete("/a/1");
      expect(await client.getEphemerals("/a/")).toMatchObject({ paths: ["/a/2"] });
    });

    test("are listed completely when there are 300", async () => {
      const client = await server.fresh();
      const names = Array.from(
        { length: 300 },
        (_, index) => `child-${String(index).padStart(3, "0")}`,
      );
      const steps = names.map((name) => ({ op: "create" as const, path: `/${name}` }));
      expect((await client.multi(steps)).results).toHaveLength(300);
      expect((await client.getChildren("/")).children).toEqual(names);
    });
  });

  test("sync answers with the path, also of a znode that is not there", async () => {
    const client = await server.fresh();
    const path = Buffer.from(client.full("/nothing"));
    expect((await client.sync("/nothing")).body).toEqual(
      Buffer.concat([Buffer.from([0, 0, 0, path.length]), path]),
    );
  });

  describe("paths", () => {
    const { badArguments: BAD, noNode: NO } = ErrorCode;

    async function answers(client: RawClient, path: string): Promise<Record<string, number>> {
      const open = [{ perms: 31, scheme: "world", id: "anyone" }];
      const asked = {
        create: () => client.create(path),
        create2: () => client.create(path, { opcode: Opcode.create2 }),
        container: () => client.create(path, { flags: Flags.container }),
        exists: () => client.exists(path),
        getData: () => client.getData(path),
        setData: () => client.setData(path, ""),
        delete: () => client.delete(path),
        getChildren: () => client.getChildren(path),
        getChildren2: () => client.getChildren2(path),
        getAcl: () => client.getAcl(path),
        setAcl: () => client.setAcl(path, open),
        sync: () => client.sync(path),
        getAllChildrenNumber: () => client.getAllChildrenNumber(path),
        getEphemerals: () => client.getEphemerals(path),
        addWatch: () => client.addWatch(path),
        removeWatches: () => client.removeWatches(path, 3),
      };
      const found: Record<string, number> = {};
      for (const [name, ask] of Object.entries(asked)) found[name] = (await ask()).err;
      return found;
    }

    const READ_NOTHING = { exists: NO, getData: NO, getChildren: NO, getChildren2: NO, getAcl: NO };
    const MISSING = { ...READ_NOTHING, getAllChildrenNumber: NO };
    const WATCHED = { sync: 0, getEphemerals: 0, addWatch: 0, removeWatches: 0 };
    const CREATE_BAD = { create: BAD, create2: BAD, container: BAD };
    const WRITE_BAD = { setData: BAD, setAcl: BAD };
    const refusedByCreate = { ...MISSING, ...WATCHED, ...CREATE_BAD, ...WRITE_BAD, delete: NO };

    test.each(["//", "/.", "/..", "/a\u0001", "/a\u007f", "/\u009f", "/\ufff0", "/\ue000"])(
      "the server refuses to create %j",
      async (path) => {
        expect(await answers(await server.open(), path)).toEqual(refusedByCreate);
      },
    );

    test.each(["/no/", "/no//b", "/no/./b", "/no/.."])(
      "the parent of %j is missed before the path is refused",
      async (path) => {
        const expected = { ...refusedByCreate, create: NO, create2: NO, container: NO };
        expect(await answers(await server.fresh(), path)).toEqual(expected);
      },
    );

    test("a path with a NUL is refused by create, setData, setAcl, delete and exists", async () => {
      expect(await answers(await server.fresh(), "/a\0b")).toEqual({
        ...refusedByCreate,
        delete: BAD,
        exists: BAD,
      });
    });

    test("a path without its first slash is refused by every write", async () => {
      expect(await answers(await server.open(), "x")).toEqual({ ...refusedByCreate, delete: BAD });
    });

    test("an empty path reads the root", async () => {
      const reads = {
        exists: 0,
        getData: 0,
        getChildren: 0,
        getChildren2: 0,
        getAcl: 0,
        getAllChildrenNumber: 0,
      };
      expect(await answers(await server.open(), "")).toEqual({
        ...WATCHED,
        ...CREATE_BAD,
        ...WRITE_BAD,
        ...reads,
        delete: BAD,
      });
    });

    test.each(["/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"])(
      "%s can neither be created nor deleted",
      async (path) => {
        const client = await server.open();
        expect(await client.create(path)).toMatchObject({ err: ErrorCode.nodeExists });
        expect(await client.delete(path)).toMatchObject({ err: ErrorCode.badArguments });
        expect(await client.exists(path)).toMatchObject({
          err: 0,
          stat: { czxid: 0n, ctime: 0, version: 0 },
        });
      },
    );

    test("a name may have dots, if it is not . or ..", async () => {
      const client = await server.fresh();
      for (const path of ["/...", "/.hidden", "/a.b", "/a."])
        expect(await client.create(path)).toMatchObject({ path });
      expect(await client.create("/...-", { flags: Flags.sequential })).toMatchObject({
        path: "/...-0000000004",
      });
    });

    test(". is accepted where a sequence number is added to it", async () => {
      const client = await server.fresh();
      expect(await client.create("/.", { flags: Flags.sequential })).toMatchObject({
        path: "/.0000000000",
      });
    });
  });

  test("/zookeeper has config and quota, and other znodes can be created there", async () => {
    const client = await server.open();
    expect((await client.getChildren("/zookeeper")).children).toEqual(
      expect.arrayContaining(["config", "quota"]),
    );
    expect(await client.setData("/zookeeper/config", "x")).toMatchObject({ err: ErrorCode.noAuth });
    expect(await client.getAcl("/zookeeper/config")).toMatchObject({
      acl: [{ perms: 1, scheme: "world", id: "anyone" }],
    });
    const path = `/zookeeper/x${client.sessionId}`;
    expect(await client.create(path)).toMatchObject({ err: 0 });
    expect(await client.delete(path)).toMatchObject({ err: 0 });
  });

  test("a session creates, reads, changes and deletes a znode", async () => {
    const session = server.session(await server.chroot());
    const { path, stat } = await session.create2("/a", Buffer.from("x"), {
      mode: "persistentSequential",
    });
    expect(path).toBe("/a0000000000");
    expect(await session.exists(path)).toEqual(stat);
    expect(await session.exists("/nothing")).toBeUndefined();
    expect((await session.getData(path)).data?.toString()).toBe("x");
    expect((await session.setData(path, Buffer.from("y"), { version: 0 })).version).toBe(1);
    await expect(session.delete(path, { version: 0 })).rejects.toThrow();
    await session.delete(path, { version: 1 });
    expect(await session.getChildren("/")).toEqual([]);
  });
});
