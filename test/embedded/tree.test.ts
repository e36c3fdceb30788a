import { beforeEach, describe, expect, test } from "vitest";
import { OPEN_ACL } from "../../src/embedded/access.ts";
import { ZOOKEEPER } from "../../src/embedded/dialect.ts";
import { Tree } from "../../src/embedded/tree.ts";
import { Watches } from "../../src/embedded/watches.ts";
import { type Lifetime, PERSISTENT } from "../../src/embedded/znode.ts";

let tree: Tree;
let zxid: bigint;

beforeEach(() => {
  tree = new Tree(new Watches(), ZOOKEEPER);
  zxid = 100n;
});

function create(
  path: string,
  { data = "", lifetime = PERSISTENT }: { data?: string; lifetime?: Lifetime } = {},
) {
  const parent = tree.get(path.slice(0, path.lastIndexOf("/")));
  const parentCreates = parent.creates + 1;
  return tree.create(
    { path, data: Buffer.from(data), acl: OPEN_ACL, lifetime, parentCreates },
    { zxid: ++zxid, time: 5 },
  );
}

describe("Tree", () => {
  test("begins with four znodes, and counts the root twice", () => {
    expect([tree.size, tree.countBelow("/"), tree.countBelow("/zookeeper")]).toEqual([5, 3, 2]);
    expect(tree.find("")).toBe(tree.find("/"));
  });

  test("cversion counts creations and deletions, pzxid is the last of them", () => {
    create("/a");
    create("/a/b");
    create("/a/c");
    tree.delete("/a/b", ++zxid);
    expect(tree.get("/a").stat()).toMatchObject({
      cversion: 3,
      numChildren: 1,
      pzxid: zxid,
      mzxid: 101n,
    });
    expect(tree.get("/a").creates).toBe(2);
  });

  test("only what a session owns is shown as owned", () => {
    const stats = [
      { kind: "ephemeral", owner: 7n },
      { kind: "container", owner: 0n },
      { kind: "ttl", ttlMs: 5 },
    ] as const;
    const owners = stats.map(
      (lifetime, index) => create(`/${index}`, { lifetime }).stat().ephemeralOwner,
    );
    expect(owners).toEqual([7n, 0n, 0n]);
    expect([...tree.ephemerals]).toEqual([[7n, new Set(["/0"])]]);
    expect([...tree.reapable]).toEqual(["/1", "/2"]);
    for (const index of stats.keys()) tree.delete(`/${index}`, ++zxid);
    expect([tree.ephemerals.size, tree.reapable.size]).toEqual([0, 0]);
  });

  test("a counter that would run over stays where it is", () => {
    const a = create("/a");
    a.creates = 0x7fff_ffff;
    const before = a.pzxid;
    tree.create(
      {
        path: "/a/b",
        data: null,
        acl: OPEN_ACL,
        lifetime: PERSISTENT,
        parentCreates: -0x8000_0000,
      },
      { zxid: ++zxid, time: 5 },
    );
    expect([a.creates, a.pzxid]).toEqual([0x7fff_ffff, before]);
  });

  test("weighs paths and data", () => {
    const before = tree.approximateBytes;
    create("/a", { data: "12345" });
    tree.setData("/a", Buffer.from("1"), 1, { zxid: ++zxid, time: 6 });
    expect(tree.approximateBytes - before).toBe(3);
    tree.delete("/a", ++zxid);
    expect(tree.approximateBytes).toBe(before);
  });

  test("counts for quotas, without a trace in the stat of the znode it counts in", () => {
    const usage = () => tree.get("/zookeeper/quota/a/zookeeper_stats").data?.toString();
    create("/a", { data: "12" });
    create("/zookeeper/quota/a");
    create("/zookeeper/quota/a/zookeeper_limits", { data: "count=2,bytes=-1=;countHardLimit=3" });
    const stats = create("/zookeeper/quota/a/zookeeper_stats", { data: "count=0,bytes=0" });
    const { mzxid } = stats.stat();
    expect(usage()).toBe("count=1,bytes=2");
    create("/a/b", { data: "345" });
    tree.setData("/a/b", null, 1, { zxid: ++zxid, time: 6 });
    expect(usage()).toBe("count=2,bytes=2");
    expect(() => tree.quotas.enforce("/a/c", 1, 0)).not.toThrow();
    create("/a/c");
    expect(() => tree.quotas.enforce("/a/d", 1, 0)).toThrow();
    tree.delete("/a/c", ++zxid);
    tree.delete("/zookeeper/quota/a/zookeeper_limits", ++zxid);
    create("/a/c");
    expect(usage()).toBe("count=2,bytes=2");
    expect(stats.stat()).toMatchObject({ mzxid, version: 0 });
  });
});
