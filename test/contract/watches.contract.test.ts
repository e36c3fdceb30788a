/** Watches: which change tells whom what, how often, and in which order. */
import { describe, expect, test } from "vitest";
import { AddWatchMode, ErrorCode, WatcherType, Xid } from "../../src/wire/protocol.ts";
import { onBothServers } from "./on-both-servers.ts";
import { Flags, type RawClient } from "./raw-client.ts";

const { persistent, recursive } = AddWatchMode;

const CHANGES: Readonly<Record<string, (client: RawClient) => Promise<unknown>>> = {
  set: (client) => client.setData("/n", "x"),
  "set list": (client) => client.setAcl("/n", [{ perms: 31, scheme: "world", id: "anyone" }]),
  "create child": (client) => client.create("/n/new"),
  "create sequential child": (client) => client.create("/n/s-", { flags: Flags.sequential }),
  "set child": (client) => client.setData("/n/c", "x"),
  "delete child": (client) => client.delete("/n/c"),
  "create grandchild": (client) => client.create("/n/c/deep"),
  "create sibling": (client) => client.create("/nn"),
  create: (client) => client.create("/missing"),
  "create below": async (client) => {
    await client.create("/missing");
    await client.create("/missing/c");
  },
  "fail to set": (client) => client.setData("/n", "x", 77),
  "delete all": async (client) => {
    await client.delete("/n/c");
    await client.delete("/n");
  },
  "delete and create": async (client) => {
    await client.delete("/n/c");
    await client.delete("/n");
    await client.create("/n");
    await client.setData("/n", "");
  },
};

const WATCHES: Readonly<Record<string, (client: RawClient) => Promise<unknown>>> = {
  getData: (client) => client.getData("/n", true),
  exists: (client) => client.exists("/n", true),
  "exists, missing": (client) => client.exists("/missing", true),
  "getData, missing": (client) => client.getData("/missing", true),
  getChildren: (client) => client.getChildren("/n", true),
  getChildren2: (client) => client.getChildren2("/n", true),
  "getChildren, missing": (client) => client.getChildren("/missing", true),
  persistent: (client) => client.addWatch("/n", persistent),
  "persistent, missing": (client) => client.addWatch("/missing", persistent),
  recursive: (client) => client.addWatch("/n", recursive),
  "recursive, missing": (client) => client.addWatch("/missing", recursive),
};

/** What each kind of watch hears of each change; nothing where nothing stands. */
const HEARD: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  getData: {
    set: ["dataChanged /n"],
    "delete all": ["deleted /n"],
    "delete and create": ["deleted /n"],
  },
  exists: {
    set: ["dataChanged /n"],
    "delete all": ["deleted /n"],
    "delete and create": ["deleted /n"],
  },
  "exists, missing": { create: ["created /missing"], "create below": ["created /missing"] },
  getChildren: childWatch(),
  getChildren2: childWatch(),
  persistent: {
    set: ["dataChanged /n"],
    "create child": ["childrenChanged /n"],
    "create sequential child": ["childrenChanged /n"],
    "delete child": ["childrenChanged /n"],
    "delete all": ["childrenChanged /n", "deleted /n"],
    "delete and create": ["childrenChanged /n", "deleted /n", "created /n", "dataChanged /n"],
  },
  "persistent, missing": {
    create: ["created /missing"],
    "create below": ["created /missing", "childrenChanged /missing"],
  },
  recursive: {
    set: ["dataChanged /n"],
    "create child": ["created /n/new"],
    "create sequential child": ["created /n/s-0000000001"],
    "set child": ["dataChanged /n/c"],
    "delete child": ["deleted /n/c"],
    "create grandchild": ["created /n/c/deep"],
    "delete all": ["deleted /n/c", "deleted /n"],
    "delete and create": ["deleted /n/c", "deleted /n", "created /n", "dataChanged /n"],
  },
  "recursive, missing": {
    create: ["created /missing"],
    "create below": ["created /missing", "created /missing/c"],
  },
};

function childWatch(): Record<string, string[]> {
  const once = ["childrenChanged /n"];
  return {
    "create child": once,
    "create sequential child": once,
    "delete child": once,
    "delete all": once,
    "delete and create": once,
  };
}

onBothServers((server) => {
  describe.each(Object.entries(WATCHES))("a watch set by %s", (kind, set) => {
    test.each(Object.entries(CHANGES))("hears what it watches of %s", async (name, change) => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await writer.create("/n/c");
      await set(watcher);
      await change(writer);
      expect(await watcher.heard()).toEqual(HEARD[kind]?.[name] ?? []);
      expect(await writer.heard()).toEqual([]);
    });
  });

  describe("one-shot watches", () => {
    test("report one change, and another one when set again", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.getData("/n", true);
      await writer.setData("/n", "1");
      await writer.setData("/n", "2");
      expect(await watcher.heard()).toEqual(["dataChanged /n"]);
      await watcher.getData("/n", true);
      await writer.setData("/n", "3");
      expect(await watcher.heard()).toEqual(["dataChanged /n"]);
    });

    test("set several times on one znode report a change once", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.getData("/n", true);
      await watcher.getData("/n", true);
      await watcher.exists("/n", true);
      await writer.setData("/n", "1");
      expect(await watcher.heard()).toEqual(["dataChanged /n"]);
    });

    test("are not removed by a read without a watch", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.getData("/n", true);
      await watcher.getData("/n", false);
      await writer.setData("/n", "1");
      expect(await watcher.heard()).toEqual(["dataChanged /n"]);
    });

    test("of data and children report a deletion as one event", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.getData("/n", true);
      await watcher.getChildren("/n", true);
      await writer.delete("/n");
      await writer.create("/n");
      await writer.create("/n/c");
      expect(await watcher.heard()).toEqual(["deleted /n"]);
    });

    test("of children report the deletion of the znode", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.getChildren("/n", true);
      await writer.delete("/n");
      expect(await watcher.heard()).toEqual(["deleted /n"]);
    });

    test("on a znode and its parent report the znode first", async () => {
      const [watcher, writer] = await server.pair();
      await watcher.getChildren("/", true);
      await watcher.exists("/n", true);
      await writer.create("/n");
      expect(await watcher.heard()).toEqual(["created /n", "childrenChanged /"]);
      await watcher.getChildren("/", true);
      await watcher.getData("/n", true);
      await writer.delete("/n");
      expect(await watcher.heard()).toEqual(["deleted /n", "childrenChanged /"]);
    });

    test("are not set by a read that is not permitted", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n", { acl: [{ perms: 30, scheme: "world", id: "anyone" }] });
      expect(await watcher.getData("/n", true)).toMatchObject({ err: ErrorCode.noAuth });
      expect(await watcher.getChildren("/n", true)).toMatchObject({ err: ErrorCode.noAuth });
      await writer.setData("/n", "1");
      await writer.create("/n/c");
      expect(await watcher.heard()).toEqual([]);
    });

    test("end with the connection", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.getData("/n", true);
      watcher.connection.drop();
      const again = await watcher.reattach(server.address);
      await writer.setData("/n", "1");
      expect(await again.heard()).toEqual([]);
      again.end();
    });

    test("of ten sessions on one znode each report a change once", async () => {
      const writer = await server.fresh();
      await writer.create("/n");
      const watchers = await Promise.all(
        Array.from({ length: 10 }, () => server.open(writer.chroot)),
      );
      for (const watcher of watchers) await watcher.getData("/n", true);
      await writer.setData("/n", "1");
      await writer.setData("/n", "2");
      for (const watcher of watchers) expect(await watcher.heard()).toEqual(["dataChanged /n"]);
    });
  });

  describe("the order of events:", () => {
    test("an event of the session's own write comes before the reply", async () => {
      const client = await server.fresh();
      await client.create("/n");
      await client.getData("/n", true);
      await client.getChildren("/", true);
      client.order.length = 0;
      const set = await client.setData("/n", "1");
      const gone = await client.delete("/n");
      expect(client.order).toEqual([
        "dataChanged /n",
        `reply ${set.xid}`,
        "childrenChanged /",
        `reply ${gone.xid}`,
      ]);
    });

    test("an event of another session's write comes before the new data can be read", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      for (let round = 0; round < 20; round++) {
        await watcher.getData("/n", true);
        watcher.order.length = 0;
        writer.send(5, (body) => {
          body.string(writer.full("/n"));
          body.buffer(Buffer.from(String(round)));
          body.int(-1);
        });
        let seen: string | null | undefined;
        while (seen !== String(round)) seen = (await watcher.getData("/n")).data;
        expect(watcher.events.splice(0)).toEqual(["dataChanged /n"]);
        await writer.reply();
      }
    });

    test("events come in the order of the changes", async () => {
      const [watcher, writer] = await server.pair();
      await watcher.addWatch("/", recursive);
      const expected: string[] = [];
      for (let index = 0; index < 10; index++) {
        await writer.create(`/${index}`);
        await writer.setData(`/${index}`, "x");
        expected.push(`created /${index}`, `dataChanged /${index}`);
      }
      for (let index = 9; index >= 0; index--) {
        await writer.delete(`/${index}`);
        expected.push(`deleted /${index}`);
      }
      expect(await watcher.heard()).toEqual(expected);
    });

    test("events of the session's own end come before the reply to closeSession", async () => {
      const client = await server.fresh();
      await client.create("/e", { flags: Flags.ephemeral });
      await client.exists("/e", true);
      client.order.length = 0;
      const { xid } = await client.closeSession();
      expect(client.order).toEqual(["deleted /e", `reply ${xid}`]);
    });
  });

  describe("persistent watches", () => {
    test("are answered by an error number of zero in the body", async () => {
      const client = await server.fresh();
      const { err, body } = await client.addWatch("/n", persistent);
      expect({ err, body }).toEqual({ err: 0, body: Buffer.alloc(4) });
    });

    test("report every change", async () => {
      const [watcher, writer] = await server.pair();
      await watcher.addWatch("/n", persistent);
      await writer.create("/n");
      await writer.setData("/n", "1");
      await writer.setData("/n", "2");
      await writer.create("/n/c");
      await writer.delete("/n/c");
      await writer.delete("/n");
      await writer.create("/n");
      const expected =
        "created dataChanged dataChanged childrenChanged childrenChanged deleted created";
      expect(await watcher.heard()).toEqual(expected.split(" ").map((type) => `${type} /n`));
    });

    // Servers before 3.9 keep one mode for a path (ZOOKEEPER-4466): the later one counts.
    const dataTwice = ["dataChanged /n", "dataChanged /n"];
    test.each([
      {
        first: "persistent",
        second: "getData",
        heard: ["childrenChanged /n", "dataChanged /n", "childrenChanged /n", "childrenChanged /n"],
      },
      { first: "persistent", second: "getChildren", heard: ["childrenChanged /n", ...dataTwice] },
      {
        first: "getData",
        second: "persistent",
        heard: [
          "childrenChanged /n",
          "dataChanged /n",
          "childrenChanged /n",
          "dataChanged /n",
          "childrenChanged /n",
        ],
      },
      {
        first: "getChildren",
        second: "persistent",
        heard: [
          "childrenChanged /n",
          "dataChanged /n",
          "childrenChanged /n",
          "dataChanged /n",
          "childrenChanged /n",
        ],
      },
      { first: "recursive", second: "getData", heard: ["dataChanged /n", "deleted /n/a"] },
      {
        first: "recursive",
        second: "getChildren",
        heard: [
          "created /n/a",
          "childrenChanged /n",
          "dataChanged /n/a",
          "dataChanged /n",
          "created /n/b",
          "dataChanged /n",
          "deleted /n/a",
        ],
      },
      {
        first: "getChildren",
        second: "recursive",
        heard: [
          "created /n/a",
          "dataChanged /n/a",
          "dataChanged /n",
          "created /n/b",
          "dataChanged /n",
          "deleted /n/a",
        ],
      },
      {
        first: "persistent",
        second: "recursive",
        heard: [
          "created /n/a",
          "dataChanged /n/a",
          "dataChanged /n",
          "created /n/b",
          "dataChanged /n",
          "deleted /n/a",
        ],
      },
      {
        first: "recursive",
        second: "persistent",
        heard: [
          "childrenChanged /n",
          "dataChanged /n",
          "childrenChanged /n",
          "dataChanged /n",
          "childrenChanged /n",
        ],
      },
    ])("on one path, first $first, then $second", async ({ first, second, heard }) => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await WATCHES[first]?.(watcher);
      await WATCHES[second]?.(watcher);
      await writer.create("/n/a");
      await writer.setData("/n/a", "1");
      await writer.setData("/n", "1");
      await writer.create("/n/b");
      await writer.setData("/n", "2");
      await writer.delete("/n/a");
      expect(await watcher.heard()).toEqual(heard);
    });

    test("that overlap report a change once", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.addWatch("/", recursive);
      await watcher.addWatch("/n", recursive);
      await writer.create("/n/c");
      expect(await watcher.heard()).toEqual(["created /n/c"]);
    });

    test("beside one-shot watches of children report both kinds of event", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.addWatch("/", recursive);
      await watcher.getChildren("/n", true);
      await watcher.exists("/n/c", true);
      await writer.create("/n/c");
      await writer.delete("/n/c");
      expect(await watcher.heard()).toEqual(["created /n/c", "childrenChanged /n", "deleted /n/c"]);
    });

    test("on / report changes in the whole tree", async () => {
      const [watcher, writer] = [await server.open(), await server.fresh()];
      await watcher.addWatch("/", recursive);
      await writer.create("/n");
      expect(await watcher.heard()).toContain(`created ${writer.full("/n")}`);
    });

    test.each([2, -1, 99])("of the unknown mode %d are refused", async (mode) => {
      const client = await server.fresh();
      expect(await client.addWatch("/n", mode)).toMatchObject({ err: ErrorCode.marshallingError });
    });
  });

  describe("a client without permission to read", () => {
    const UNREADABLE = [{ perms: 30, scheme: "world", id: "anyone" }];

    test.each([
      { kind: "exists", watch: (client: RawClient) => client.exists("/n", true), heard: [] },
      {
        kind: "persistent",
        watch: (client: RawClient) => client.addWatch("/n", persistent),
        heard: [],
      },
      {
        kind: "recursive",
        watch: (client: RawClient) => client.addWatch("/n", recursive),
        heard: ["created /n/c", "dataChanged /n/c", "deleted /n/c"],
      },
      {
        kind: "the parent's children",
        watch: (client: RawClient) => client.getChildren("/", true),
        heard: ["childrenChanged /", "childrenChanged /"],
      },
    ])("hears nothing of it: $kind", async ({ watch, heard }) => {
      const [watcher, writer] = await server.pair();
      expect((await watch(watcher)).err).not.toBe(ErrorCode.noAuth);
      await writer.create("/n", { acl: UNREADABLE });
      await writer.setData("/n", "1");
      await watch(watcher);
      await writer.setData("/n", "2");
      await watch(watcher);
      await writer.create("/n/c");
      await writer.setData("/n/c", "3");
      await writer.delete("/n/c");
      await watch(watcher);
      await writer.delete("/n");
      expect(await watcher.heard()).toEqual(heard);
    });

    test("loses its one-shot watch by a change that it does not hear of", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.getData("/n", true);
      await watcher.getChildren("/n", true);
      await writer.setAcl("/n", UNREADABLE);
      await writer.setData("/n", "1");
      await writer.create("/n/a");
      await writer.setAcl("/n", [{ perms: 31, scheme: "world", id: "anyone" }]);
      await writer.setData("/n", "2");
      await writer.create("/n/b");
      expect(await watcher.heard()).toEqual([]);
    });

    test("hears of changes all the same in the answer to setWatches", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n", { acl: UNREADABLE });
      const { zxid } = await writer.create("/before");
      await writer.setData("/n", "1");
      await writer.create("/n/c");
      await watcher.setWatches(zxid, [["/n"], ["/n"], ["/n"]]);
      expect(watcher.events).toEqual(["dataChanged /n", "created /n", "childrenChanged /n"]);
    });

    test("hears of changes once it has proved an identity that may read", async () => {
      const [watcher, writer] = await server.pair();
      await writer.auth("digest", "ann:pw");
      await writer.create("/n", { acl: [{ perms: 31, scheme: "auth", id: "" }] });
      await watcher.addWatch("/n", persistent);
      await writer.setData("/n", "1");
      await watcher.auth("digest", "ann:pw");
      await writer.setData("/n", "2");
      expect(await watcher.heard()).toEqual(["dataChanged /n"]);
    });
  });

  describe("removeWatches", () => {
    const KINDS: Readonly<Record<string, (client: RawClient) => Promise<unknown>>> = {
      none: async () => {},
      data: (client) => client.getData("/n", true),
      children: (client) => client.getChildren("/n", true),
      persistent: (client) => client.addWatch("/n", persistent),
      recursive: (client) => client.addWatch("/n", recursive),
    };
    const NO = ErrorCode.noWatcher;
    /** By kind: what checkWatches and removeWatches say to children, data and any. */
    const FOUND: Readonly<Record<string, readonly number[]>> = {
      none: [NO, NO, NO],
      data: [NO, 0, 0],
      children: [0, NO, 0],
      persistent: [0, 0, 0],
      recursive: [0, 0, 0],
    };
    const TYPES = [WatcherType.children, WatcherType.data, WatcherType.any];

    test.each(Object.entries(KINDS))(
      "removes a watch set by %s where the kind fits",
      async (kind, set) => {
        const client = await server.fresh();
        await client.create("/n");
        const found: number[] = [];
        const removed: number[] = [];
        for (const type of TYPES) {
          await set(client);
          found.push((await client.checkWatches("/n", type)).err);
          removed.push((await client.removeWatches("/n", type)).err);
          await client.removeWatches("/n", WatcherType.any);
        }
        expect({ found, removed }).toEqual({ found: FOUND[kind], removed: FOUND[kind] });
      },
    );

    test("has an empty answer, and no event comes after it", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      for (const set of Object.values(KINDS)) await set(watcher);
      expect(await watcher.removeWatches("/n", WatcherType.any)).toMatchObject({
        err: 0,
        body: Buffer.alloc(0),
      });
      expect(await watcher.removeWatches("/n", WatcherType.any)).toMatchObject({
        err: NO,
        body: Buffer.alloc(0),
      });
      await writer.setData("/n", "1");
      await writer.create("/n/c");
      expect(await watcher.heard()).toEqual([]);
    });

    test("of one kind leaves the other", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.getData("/n", true);
      await watcher.getChildren("/n", true);
      await watcher.removeWatches("/n", WatcherType.data);
      await writer.setData("/n", "1");
      await writer.create("/n/c");
      expect(await watcher.heard()).toEqual(["childrenChanged /n"]);
    });

    test("of children leaves the data half of a persistent watch", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      await watcher.addWatch("/n", persistent);
      await watcher.removeWatches("/n", WatcherType.children);
      await writer.setData("/n", "1");
      await writer.create("/n/c");
      await writer.setData("/n", "2");
      expect(await watcher.heard()).toEqual(["dataChanged /n", "dataChanged /n"]);
    });

    test("leaves watches of other sessions", async () => {
      const [watcher, other] = await server.pair();
      await watcher.create("/n");
      await watcher.getData("/n", true);
      // Whether anybody watches is all that a check looks at.
      expect(await other.checkWatches("/n", WatcherType.data)).toMatchObject({ err: 0 });
      expect(await other.checkWatches("/n", WatcherType.children)).toMatchObject({ err: NO });
      expect(await other.removeWatches("/n", WatcherType.any)).toMatchObject({ err: NO });
      await other.setData("/n", "1");
      expect(await watcher.heard()).toEqual(["dataChanged /n"]);
    });

    test("removes the watch of a missing znode", async () => {
      const client = await server.fresh();
      await client.exists("/no", true);
      expect(await client.checkWatches("/no", WatcherType.data)).toMatchObject({ err: 0 });
      expect(await client.removeWatches("/no", WatcherType.data)).toMatchObject({ err: 0 });
    });

    test("does not find a one-shot watch that has reported a change", async () => {
      const client = await server.fresh();
      await client.create("/n");
      await client.getData("/n", true);
      await client.setData("/n", "1");
      expect(await client.checkWatches("/n", WatcherType.data)).toMatchObject({ err: NO });
    });

    test.each([0, 4, 5, 6, 7, -1])("refuses the unknown kind %d", async (type) => {
      const client = await server.fresh();
      await client.exists("/no", true);
      await client.addWatch("/no", recursive);
      const removed = await client.removeWatches("/no", type);
      const checked = await client.checkWatches("/no", type);
      expect([removed.err, checked.err]).toEqual([
        ErrorCode.marshallingError,
        ErrorCode.marshallingError,
      ]);
    });
  });

  describe("setWatches", () => {
    test("is answered under its own xid, after the missed events", async () => {
      const [watcher, writer] = await server.pair();
      for (const path of ["/same", "/set", "/gone", "/parent", "/quiet", "/dead"])
        await writer.create(path);
      const { zxid } = await writer.create("/before");
      await writer.setData("/set", "1");
      await writer.delete("/gone");
      await writer.delete("/dead");
      await writer.create("/parent/c");
      await writer.create("/appeared");
      const reply = await watcher.setWatches(zxid, [
        ["/same", "/set", "/gone"],
        ["/appeared", "/absent", "/before"],
        ["/parent", "/quiet", "/dead"],
      ]);
      expect(reply).toMatchObject({ xid: Xid.setWatches, err: 0, body: Buffer.alloc(0) });
      expect(watcher.events.splice(0)).toEqual([
        "dataChanged /set",
        "deleted /gone",
        "created /appeared",
        "created /before",
        "childrenChanged /parent",
        "deleted /dead",
      ]);
      expect(await watcher.heard()).toEqual([]);
      for (const path of [
        "/same",
        "/set",
        "/gone",
        "/appeared",
        "/parent",
        "/quiet",
        "/dead",
        "/absent",
      ]) {
        await writer.create(path);
        await writer.setData(path, "2");
        await writer.create(`${path}/more`);
      }
      expect(await watcher.heard()).toEqual([
        "dataChanged /same",
        "childrenChanged /quiet",
        "created /absent",
      ]);
    });

    test("reports a znode that was deleted and created again as changed", async () => {
      const [watcher, writer] = await server.pair();
      await writer.create("/n");
      const { zxid } = await writer.create("/before");
      await writer.delete("/n");
      await writer.create("/n");
      await watcher.setWatches(zxid, [["/n"], [], ["/n"]]);
      expect(await watcher.heard()).toEqual(["dataChanged /n", "childrenChanged /n"]);
    });

    test("reports no change of an ACL", async () => {
      const [watcher, writer] = await server.pair();
      const { zxid } = await writer.create("/n");
      await writer.setAcl("/n", [{ perms: 31, scheme: "world", id: "anyone" }]);
      await watcher.setWatches(zxid, [["/n"], [], ["/n"]]);
      expect(await watcher.heard()).toEqual([]);
    });

    test("reports no missed events to persistent watches, which then go on", async () => {
      const [watcher, writer] = await server.pair();
      for (const path of ["/p", "/r", "/d"]) await writer.create(path);
      const { zxid } = await writer.create("/before");
      for (const path of ["/p", "/r", "/d"]) await writer.setData(path, "1");
      const reply = await watcher.setWatches(zxid, [["/d"], [], [], ["/p"], ["/r"]]);
      expect(reply).toMatchObject({ xid: Xid.setWatches, err: 0, body: Buffer.alloc(0) });
      expect(await watcher.heard()).toEqual(["dataChanged /d"]);
      for (const path of ["/p", "/r", "/d"]) {
        await writer.setData(path, "2");
        await writer.create(`${path}/c`);
      }
      expect(await watcher.heard()).toEqual([
        "dataChanged /p",
        "childrenChanged /p",
        "dataChanged /r",
        "created /r/c",
      ]);
    });

    test("is answered under whatever xid it has", async () => {
      const client = await server.fresh();
      expect(await client.setWatches(0n, [[], [], []], 17)).toMatchObject({ xid: 17, err: 0 });
    });
  });

  test("every watcher hears of the ephemerals that a closed session had", async () => {
    const [watcher, owner] = await server.pair();
    await owner.create("/e", { flags: Flags.ephemeral });
    await watcher.exists("/e", true);
    await watcher.addWatch("/", recursive);
    await owner.closeSession();
    expect(await watcher.heard()).toEqual(["deleted /e"]);
  });

  test("a session reports events to its listeners and removes one of them", async () => {
    const chroot = await server.chroot();
    const [session, writer] = [server.session(chroot), await server.open(chroot)];
    const heard: string[] = [];
    const listen =
      (name: string) =>
      ({ type, path }: { type: string; path: string }) =>
        heard.push(`${name}: ${type} ${path}`);
    const removable = listen("removed");
    await writer.create("/dir");
    await session.addWatch("/", "recursive", listen("tree"));
    await session.exists("/dir/n", { watch: listen("exists") });
    await session.getChildren("/dir", { watch: listen("children") });
    await session.exists("/dir/n", { watch: removable });
    await session.removeWatch("/dir/n", removable);
    await writer.create("/dir/n");
    await session.sync("/");
    await expect
      .poll(() => heard.toSorted())
      .toEqual([
        "children: children-changed /dir",
        "exists: created /dir/n",
        "tree: created /dir/n",
      ]);
  });
});
