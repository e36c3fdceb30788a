import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { ConflictError, NoNodeError, OperationError, UsageError } from "../../src/errors.ts";
import { OPEN_ACL, Permission, type Session } from "../../src/session/session.ts";
import { openFresh } from "../support/fresh-session.ts";
import { openFor, rejection } from "../support/open-session.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";

const HOUR_MS = 3_600_000;
const READ_ONLY = [{ perms: Permission.read, scheme: "world", id: "anyone" }];

let session: Session;

beforeEach(async () => {
  session = await openFresh();
});

describe("create", () => {
  test.each([
    { mode: "persistent", name: /^\/n$/, ephemeral: false },
    { mode: "ephemeral", name: /^\/n$/, ephemeral: true },
    { mode: "persistentSequential", name: /^\/n\d{10}$/, ephemeral: false },
    { mode: "ephemeralSequential", name: /^\/n\d{10}$/, ephemeral: true },
    { mode: "container", name: /^\/n$/, ephemeral: false },
    { mode: "persistentWithTtl", name: /^\/n$/, ephemeral: false, ttlMs: HOUR_MS },
    { mode: "persistentSequentialWithTtl", name: /^\/n\d{10}$/, ephemeral: false, ttlMs: HOUR_MS },
  ] as const)(
    "makes a $mode znode with its data and access list",
    async ({ mode, name, ephemeral, ...ttl }) => {
      const path = await session.create("/n", Buffer.from("x"), { mode, acl: READ_ONLY, ...ttl });
      expect(path).toMatch(name);
      const { data, stat } = await session.getData(path);
      expect([data?.toString(), stat.ephemeralOwner]).toEqual(["x", ephemeral ? session.id : 0n]);
      expect((await session.getAcl(path)).acl).toEqual(READ_ONLY);
    },
  );

  test("is open and persistent by default", async () => {
    await session.create("/n", null);
    const { acl, stat } = await session.getAcl("/n");
    expect(acl).toEqual(OPEN_ACL);
    expect(stat.ephemeralOwner).toBe(0n);
  });

  test("counts sequential names up, and takes a path that ends with a slash", async () => {
    await session.create("/q", null);
    const options = { mode: "persistentSequential" } as const;
    const made = await Promise.all([1, 2, 3].map(() => session.create("/q/", null, options)));
    expect(made).toEqual(["/q/0000000000", "/q/0000000001", "/q/0000000002"]);
  });

  test("takes an ephemeral znode away with its session", async () => {
    const chroot = await freshChroot();
    const [owner, other] = [openFor(chroot), openFor(chroot)];
    await owner.create("/n", null, { mode: "ephemeral" });
    await owner.close();
    await other.sync("/");
    expect(await other.exists("/n")).toBeUndefined();
  });

  test.each([undefined, 0, -1, 0x100_0000_0000])(
    "leaves it to the server to refuse a TTL of %s",
    async (ttlMs) => {
      const options = {
        mode: "persistentWithTtl",
        ...(ttlMs === undefined ? {} : { ttlMs }),
      } as const;
      const refusal = { reason: "bad-arguments", path: "/n" };
      expect(await rejection(session.create("/n", null, options))).toMatchObject(refusal);
      expect(
        await rejection(session.multi([{ op: "create", path: "/n", ...options }])),
      ).toMatchObject(refusal);
    },
  );

  test.each([1.5, Number.NaN])("refuses a TTL of %d itself", async (ttlMs) => {
    const options = { mode: "persistentWithTtl", ttlMs } as const;
    expect(await rejection(session.create("/n", null, options))).toBeInstanceOf(UsageError);
    expect(
      await rejection(session.multi([{ op: "create", path: "/n", ...options }])),
    ).toBeInstanceOf(UsageError);
    expect(await session.getChildren("/")).toEqual([]);
  });

  test("create2 gives the new znode's stat, in every mode", async () => {
    const plain = await session.create2("/a", Buffer.from("four"), { mode: "ephemeral" });
    expect(plain).toEqual({ path: "/a", stat: await session.exists("/a") });
    expect(plain.stat).toMatchObject({ dataLength: 4, version: 0, ephemeralOwner: session.id });
    const container = await session.create2("/b", null, { mode: "container" });
    expect(container).toEqual({ path: "/b", stat: await session.exists("/b") });
    const numbered = await session.create2("/c", null, {
      mode: "persistentSequentialWithTtl",
      ttlMs: HOUR_MS,
    });
    expect(numbered).toEqual({ path: "/c0000000002", stat: await session.exists("/c0000000002") });
  });

  test("refuses a second one, one without a parent, and one below an ephemeral znode", async () => {
    await session.create("/n", null, { mode: "ephemeral" });
    const again = await rejection(session.create("/n", null));
    expect(again).toBeInstanceOf(ConflictError);
    expect(again).toMatchObject({
      reason: "node-exists",
      path: "/n",
      code: -110,
      name: "ConflictError",
    });
    const orphan = await rejection(session.create("/no/n", null));
    expect(orphan).toBeInstanceOf(NoNodeError);
    expect(orphan).toMatchObject({
      reason: "no-node",
      path: "/no/n",
      code: -101,
      name: "NoNodeError",
    });
    const below = await rejection(session.create("/n/n", null));
    expect(below).toMatchObject({
      reason: "no-children-for-ephemerals",
      path: "/n/n",
      name: "ConflictError",
    });
  });
});

describe("versions", () => {
  beforeEach(async () => {
    await session.create("/n", null);
  });

  test("setData goes by the version given, and 0 is 0", async () => {
    expect(await session.setData("/n", Buffer.from("1"), { version: 0 })).toMatchObject({
      version: 1,
      dataLength: 1,
    });
    const stale = await rejection(session.setData("/n", Buffer.from("no"), { version: 0 }));
    expect(stale).toBeInstanceOf(ConflictError);
    expect(stale).toMatchObject({
      reason: "bad-version",
      path: "/n",
      code: -103,
      name: "ConflictError",
    });
    expect(await session.setData("/n", Buffer.from("22"))).toMatchObject({
      version: 2,
      dataLength: 2,
    });
    expect((await session.getData("/n")).data?.toString()).toBe("22");
  });

  test("delete goes by the version given, and 0 is 0", async () => {
    await session.setData("/n", null);
    expect(await rejection(session.delete("/n", { version: 0 }))).toMatchObject({
      reason: "bad-version",
      path: "/n",
    });
    await session.delete("/n", { version: 1 });
    expect(await session.exists("/n")).toBeUndefined();
    await session.create("/n", null);
    await session.delete("/n", { version: 0 });
    await session.create("/n", null);
    await session.setData("/n", null);
    await session.delete("/n");
    expect(await session.exists("/n")).toBeUndefined();
  });

  test("setAcl goes by the version given, and 0 is 0", async () => {
    const wider = [...OPEN_ACL, { perms: Permission.read, scheme: "ip", id: "127.0.0.1" }];
    expect(await session.setAcl("/n", wider, { version: 0 })).toMatchObject({ aversion: 1 });
    expect(await rejection(session.setAcl("/n", OPEN_ACL, { version: 0 }))).toMatchObject({
      reason: "bad-version",
    });
    expect(await session.setAcl("/n", OPEN_ACL)).toMatchObject({ aversion: 2 });
    expect((await session.getAcl("/n")).acl).toEqual(OPEN_ACL);
  });

  test.each([2 ** 31, -(2 ** 31) - 1, 0.5, Number.NaN])(
    "refuses %d, which is no version",
    async (version) => {
      expect(await rejection(session.setData("/n", null, { version }))).toBeInstanceOf(UsageError);
      expect(await rejection(session.delete("/n", { version }))).toBeInstanceOf(UsageError);
      expect(await rejection(session.setAcl("/n", OPEN_ACL, { version }))).toBeInstanceOf(
        UsageError,
      );
      const ops = [{ op: "check", path: "/n", version }] as const;
      // What leaves in the same flight is not harmed.
      const [refused] = await Promise.all([
        rejection(session.multi(ops)),
        session.setData("/n", null),
      ]);
      expect(refused).toBeInstanceOf(UsageError);
      expect(await session.exists("/n")).toMatchObject({ version: 1, aversion: 0 });
    },
  );
});

describe("data", () => {
  test.each([
    { what: "no data", data: null },
    { what: "empty data", data: Buffer.alloc(0) },
    { what: "every byte", data: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)) },
    { what: "900 KB", data: randomBytes(900 * 1024) },
  ])("come back as they went: $what", async ({ data }) => {
    await session.create("/made", data);
    await session.create("/set", Buffer.from("other"));
    await session.setData("/set", data);
    for (const path of ["/made", "/set"]) {
      const read = await session.getData(path);
      // Not by toEqual: it is slow on buffers of this size.
      expect(
        read.data === null || data === null ? read.data === data : read.data.equals(data),
      ).toBe(true);
      expect(read.stat.dataLength).toBe(data?.length ?? 0);
    }
  });

  test("carry a stat whose zxids are bigints and whose times are the server's", async () => {
    const before = Date.now();
    await session.create("/n", null);
    await session.setData("/n", Buffer.from("abc"));
    await session.create("/n/child", null);
    const { stat } = await session.getData("/n");
    expect(stat).toEqual({
      czxid: expect.any(BigInt),
      mzxid: stat.czxid < stat.mzxid ? stat.mzxid : "later than czxid",
      pzxid:
        session.lastZxid >= stat.pzxid && stat.pzxid > stat.mzxid ? stat.pzxid : "later than mzxid",
      ctime: expect.any(Number),
      mtime: expect.any(Number),
      version: 1,
      cversion: 1,
      aversion: 0,
      ephemeralOwner: 0n,
      dataLength: 3,
      numChildren: 1,
    });
    // One machine, but two readings of its clock.
    for (const time of [stat.ctime, stat.mtime])
      expect(Math.abs(time - before)).toBeLessThan(60_000);
  });

  test("are missing where there is no znode", async () => {
    expect(await rejection(session.getData("/no"))).toMatchObject({
      reason: "no-node",
      path: "/no",
      name: "NoNodeError",
    });
    expect(await rejection(session.setData("/no", null))).toMatchObject({
      reason: "no-node",
      path: "/no",
    });
    expect(await session.exists("/no")).toBeUndefined();
  });
});

describe("the tree", () => {
  beforeEach(async () => {
    await session.create("/n", null);
    await Promise.all(["a", "b", "ü"].map((name) => session.create(`/n/${name}`, null)));
    await session.create("/n/a/deep", null);
  });

  test("lists children, with and without the stat", async () => {
    expect((await session.getChildren("/n")).sort()).toEqual(["a", "b", "ü"]);
    const { children, stat } = await session.getChildren2("/n");
    expect([children.sort(), stat]).toEqual([["a", "b", "ü"], await session.exists("/n")]);
    expect(await session.getChildren("/n/b")).toEqual([]);
    expect(await rejection(session.getChildren("/no"))).toMatchObject({
      reason: "no-node",
      path: "/no",
    });
    expect(await rejection(session.getChildren2("/no"))).toMatchObject({
      reason: "no-node",
      path: "/no",
    });
  });

  test("counts everything below a znode", async () => {
    expect(await session.getAllChildrenNumber("/n")).toBe(4);
    expect(await session.getAllChildrenNumber("/n/b")).toBe(0);
  });

  test("does not delete a znode with children, nor one that is not there", async () => {
    expect(await rejection(session.delete("/n"))).toMatchObject({
      reason: "not-empty",
      path: "/n",
      name: "ConflictError",
    });
    expect(await rejection(session.delete("/no"))).toMatchObject({
      reason: "no-node",
      path: "/no",
      name: "NoNodeError",
    });
  });

  test("gives the ephemerals of this session, all or below a prefix", async () => {
    const stranger = await openFresh();
    await stranger.create("/theirs", null, { mode: "ephemeral" });
    for (const path of ["/e", "/n/e1", "/n/e2"])
      await session.create(path, null, { mode: "ephemeral" });
    expect((await session.getEphemerals()).sort()).toEqual(["/e", "/n/e1", "/n/e2"]);
    expect((await session.getEphemerals("/n")).sort()).toEqual(["/n/e1", "/n/e2"]);
  });

  test("syncs a path whether it is there or not, behind the writes before it", async () => {
    let written = false;
    const write = session.setData("/n", null).then(() => {
      written = true;
    });
    await session.sync("/no");
    expect(written).toBe(true);
    await write;
  });
});

describe("the server itself", () => {
  test("tells its configuration, which is empty when it stands alone", async () => {
    expect(await session.getConfig()).toMatchObject({
      data: Buffer.alloc(0),
      stat: { version: 0, dataLength: 0 },
    });
  });

  test("refuses to be reconfigured when it stands alone, and the session lives on", async () => {
    const { id } = session;
    const refused = await rejection(session.reconfig({ joining: "server.2=127.0.0.1:1:2;3" }));
    expect(refused).toBeInstanceOf(OperationError);
    expect(refused).toMatchObject({
      reason: expect.stringMatching(/^(reconfig-disabled|unimplemented)$/),
      name: "OperationError",
    });
    await session.exists("/");
    expect([session.state, session.id === id || id === 0n]).toEqual(["connected", true]);
  });

  test("is named by the session once it is attached", async () => {
    await session.connected();
    expect([session.server, session.timeoutMs, session.isReadOnly]).toEqual([
      sharedServer(),
      10_000,
      false,
    ]);
    expect(session.id).not.toBe(0n);
  });
});
