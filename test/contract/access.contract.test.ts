/** Access lists: what is taken, what is stored, who may do what. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ErrorCode, Opcode, Xid } from "../../src/wire/protocol.ts";
import type { AclRecord } from "../../src/wire/records.ts";
import { onBothServers } from "./on-both-servers.ts";
import { Flags, OPEN, type RawClient, type Step } from "./raw-client.ts";

const [READ, WRITE, CREATE, DELETE, ADMIN, ALL] = [1, 2, 4, 8, 16, 31];
const { noAuth, invalidAcl, authFailed, badVersion, noNode } = ErrorCode;

function digestId(user: string, password: string): string {
  return `${user}:${createHash("sha1").update(`${user}:${password}`).digest("base64")}`;
}

const world = (perms: number): AclRecord => ({ perms, scheme: "world", id: "anyone" });
const digest = (perms: number, user: string): AclRecord => ({
  perms,
  scheme: "digest",
  id: digestId(user, "pw"),
});
const ip = (perms: number, id: string): AclRecord => ({ perms, scheme: "ip", id });

/** A transaction of one step, and what became of that. */
async function only(client: RawClient, step: Step): Promise<{ err: number }> {
  const { results } = await client.multi([step]);
  return { err: results[0]?.code ?? 0 };
}

onBothServers((server) => {
  describe("access lists", () => {
    test("come back as they were given", async () => {
      const client = await server.fresh();
      const acl = [world(READ), digest(ALL, "ann"), ip(WRITE, "10.0.0.0/8"), ip(ALL, "127.0.0.1")];
      expect(await client.create("/a", { acl })).toMatchObject({ err: 0 });
      expect((await client.getAcl("/a")).acl).toEqual(acl);
    });

    test("lose entries that are there twice", async () => {
      const client = await server.fresh();
      await client.create("/a", { acl: [world(READ), world(ALL), world(READ)] });
      expect((await client.getAcl("/a")).acl).toEqual([world(READ), world(ALL)]);
    });

    test("with an entry without permissions permit nothing, and are accepted", async () => {
      const client = await server.fresh();
      expect(await client.create("/a", { acl: [world(0)] })).toMatchObject({ err: 0 });
      expect(await client.getData("/a")).toMatchObject({ err: noAuth });
    });

    test.each([
      { what: "an empty list", acl: [] },
      { what: "an unknown scheme", acl: [{ perms: ALL, scheme: "nosuch", id: "x" }] },
      { what: "a world of somebody", acl: [{ perms: ALL, scheme: "world", id: "somebody" }] },
      { what: "a digest without a colon", acl: [{ perms: ALL, scheme: "digest", id: "ann" }] },
      { what: "a digest with two colons", acl: [{ perms: ALL, scheme: "digest", id: "a:b:c" }] },
      { what: "a host as an address", acl: [ip(ALL, "localhost")] },
      { what: "half an address", acl: [ip(ALL, "127.0.0")] },
      { what: "an address with a strange mask", acl: [ip(ALL, "10.0.0.0/x")] },
      { what: "an address with a mask of 33 bits", acl: [ip(ALL, "10.0.0.0/33")] },
      { what: "auth without an identity", acl: [{ perms: ALL, scheme: "auth", id: "" }] },
      {
        what: "one bad entry of two",
        acl: [world(ALL), { perms: ALL, scheme: "nosuch", id: "x" }],
      },
    ])("$what is refused", async ({ acl }) => {
      const client = await server.fresh();
      expect(await client.create("/a", { acl })).toMatchObject({
        err: invalidAcl,
        body: Buffer.alloc(0),
      });
      expect(await client.create("/a", { acl, flags: Flags.container })).toMatchObject({
        err: invalidAcl,
      });
      await client.create("/b");
      expect(await client.setAcl("/b", acl)).toMatchObject({ err: invalidAcl });
      const { results } = await client.multi([{ op: "create", path: "/c", acl }]);
      expect(results).toMatchObject([{ code: invalidAcl }]);
    });

    test("a bad list is refused before a missing parent or a missing permission is noticed", async () => {
      const client = await server.fresh();
      const acl = [{ perms: ALL, scheme: "nosuch", id: "x" }];
      await client.create("/closed", { acl: [world(READ)] });
      expect((await client.create("/no/child", { acl })).err).toBe(invalidAcl);
      expect((await client.create("/closed/child", { acl })).err).toBe(invalidAcl);
      expect((await client.setAcl("/no", acl)).err).toBe(invalidAcl);
    });
  });

  describe("setAcl", () => {
    test("counts its own version", async () => {
      const client = await server.fresh();
      const { zxid } = await client.create("/a", { data: "x" });
      const first = await client.setAcl("/a", [world(ALL)], 0);
      expect(first.stat).toMatchObject({
        aversion: 1,
        version: 0,
        cversion: 0,
        mzxid: zxid,
        pzxid: zxid,
      });
      expect(first.stat).toEqual((await client.exists("/a")).stat);
      expect(await client.setAcl("/a", [world(ALL)], 0)).toMatchObject({ err: badVersion });
      expect((await client.setAcl("/a", [world(ALL)], -1)).stat?.aversion).toBe(2);
      expect((await client.setAcl("/a", [world(ALL)], 2)).stat?.aversion).toBe(3);
    });

    test("of a missing znode is refused, and so is getAcl", async () => {
      const client = await server.fresh();
      expect(await client.setAcl("/no", OPEN)).toMatchObject({ err: noNode });
      expect(await client.getAcl("/no")).toMatchObject({ err: noNode, body: Buffer.alloc(0) });
    });

    test("checks the permission before the version", async () => {
      const client = await server.fresh();
      await client.create("/a", { acl: [world(READ)] });
      expect(await client.setAcl("/a", OPEN, 7)).toMatchObject({ err: noAuth });
    });
  });

  describe("the permission", () => {
    const OPERATIONS: Readonly<Record<string, (client: RawClient) => Promise<{ err: number }>>> = {
      exists: (client) => client.exists("/n"),
      getData: (client) => client.getData("/n"),
      getChildren: (client) => client.getChildren("/n"),
      getChildren2: (client) => client.getChildren2("/n"),
      getAllChildrenNumber: (client) => client.getAllChildrenNumber("/n"),
      getAcl: (client) => client.getAcl("/n"),
      sync: (client) => client.sync("/n"),
      addWatch: (client) => client.addWatch("/n", 1),
      check: (client) => only(client, { op: "check", path: "/n" }),
      setData: (client) => client.setData("/n", "x"),
      "setData in multi": (client) => only(client, { op: "setData", path: "/n" }),
      create: (client) => client.create("/n/new"),
      "create in multi": (client) => only(client, { op: "create", path: "/n/newer" }),
      "create a container": (client) => client.create("/n/box", { flags: Flags.container }),
      "delete a child": (client) => client.delete("/n/child"),
      "delete a child in multi": (client) => only(client, { op: "delete", path: "/n/other" }),
      setAcl: (client) => client.setAcl("/n", [world(0)]),
    };
    const ALWAYS = ["exists", "sync", "addWatch"];

    test.each([
      { name: "none", perms: 0, allows: [] },
      {
        name: "read",
        perms: READ,
        allows: [
          "getData",
          "getChildren",
          "getChildren2",
          "getAllChildrenNumber",
          "getAcl",
          "check",
        ],
      },
      { name: "write", perms: WRITE, allows: ["setData", "setData in multi"] },
      {
        name: "create",
        perms: CREATE,
        allows: ["create", "create in multi", "create a container"],
      },
      { name: "delete", perms: DELETE, allows: ["delete a child", "delete a child in multi"] },
      { name: "admin", perms: ADMIN, allows: ["getAcl", "setAcl"] },
    ])("$name", async ({ perms, allows }) => {
      const client = await server.fresh();
      await client.create("/n");
      await client.create("/n/child");
      await client.create("/n/other");
      await client.setAcl("/n", [world(perms as number)]);
      const found: Record<string, number> = {};
      for (const [name, run] of Object.entries(OPERATIONS)) found[name] = (await run(client)).err;
      const expected = Object.keys(OPERATIONS).map((name) => {
        const isAllowed = ALWAYS.includes(name) || (allows as string[]).includes(name);
        return [name, isAllowed ? 0 : noAuth];
      });
      expect(found).toEqual(Object.fromEntries(expected));
    });

    test("a missing permission makes a transaction fail", async () => {
      const client = await server.fresh();
      await client.create("/n", { acl: [world(READ)] });
      const { results, err } = await client.multi([
        { op: "create", path: "/a" },
        { op: "setData", path: "/n" },
      ]);
      expect({ err, codes: results.map(({ code }) => code) }).toEqual({
        err: 0,
        codes: [0, noAuth],
      });
    });

    test("a read without permission fails alone in multiRead", async () => {
      const client = await server.fresh();
      await client.create("/n", { acl: [world(ADMIN)] });
      const { results } = await client.multi(
        [
          { op: "getData", path: "/n" },
          { op: "getChildren", path: "/n" },
          { op: "getData", path: "/" },
        ],
        Opcode.multiRead,
      );
      expect(results).toMatchObject([
        { code: noAuth },
        { code: noAuth },
        { type: Opcode.getData, data: "" },
      ]);
    });

    test("deleting needs a permission on the parent only", async () => {
      const client = await server.fresh();
      await client.create("/n", { acl: [world(0)] });
      expect(await client.delete("/n")).toMatchObject({ err: 0 });
    });

    test("ephemerals end with their session, whatever the permissions", async () => {
      const [client, other] = await server.pair();
      await client.create("/n");
      await client.create("/n/e", { flags: Flags.ephemeral, acl: [world(0)] });
      await other.setAcl("/n", [world(READ)]);
      await client.closeSession();
      expect(await other.getChildren("/n")).toMatchObject({ children: [] });
    });

    test("a missing permission is noticed before a wrong version, children or an existing name", async () => {
      const client = await server.fresh();
      await client.create("/n");
      await client.create("/n/child");
      await client.create("/n/child/deep");
      await client.setAcl("/n", [world(READ)]);
      expect(await client.delete("/n/child", 8)).toMatchObject({ err: noAuth });
      expect(await client.delete("/n/child")).toMatchObject({ err: noAuth });
      expect(await client.delete("/n/missing")).toMatchObject({ err: noAuth });
      expect(await client.setData("/n", "", 8)).toMatchObject({ err: noAuth });
      expect(await client.create("/n/child")).toMatchObject({ err: noAuth });
    });
  });

  describe("identities", () => {
    test("a digest identity is proved by a password and found in access lists by its hash", async () => {
      const [client, other] = await server.pair();
      expect(await client.auth("digest", "ann:pw")).toEqual({
        xid: Xid.auth,
        zxid: 0n,
        err: 0,
        body: Buffer.alloc(0),
      });
      await client.create("/a", { acl: [digest(ALL, "ann")] });
      expect(await client.getData("/a")).toMatchObject({ err: 0 });
      expect(await other.getData("/a")).toMatchObject({ err: noAuth });
      await other.auth("digest", "ann:wrong");
      expect(await other.getData("/a")).toMatchObject({ err: noAuth });
      await other.auth("digest", "ann:pw");
      expect(await other.getData("/a")).toMatchObject({ err: 0 });
    });

    test("the permissions of several identities add up", async () => {
      const client = await server.fresh();
      await client.create("/a", { acl: [digest(READ, "ann"), digest(WRITE, "bob")] });
      await client.auth("digest", "ann:pw");
      expect(await client.setData("/a", "")).toMatchObject({ err: noAuth });
      await client.auth("digest", "bob:pw");
      expect(await client.setData("/a", "")).toMatchObject({ err: 0 });
      expect(await client.getData("/a")).toMatchObject({ err: 0 });
    });

    test("whoAmI lists each identity once, with the address", async () => {
      const client = await server.fresh();
      expect((await client.whoAmI()).identities).toEqual(["ip:127.0.0.1"]);
      await client.auth("digest", "ann:pw");
      await client.auth("digest", "ann:pw");
      await client.auth("digest", "bob:pw");
      const { identities, err } = await client.whoAmI();
      expect({ err, identities: identities.sort() }).toEqual({
        err: 0,
        identities: ["digest:ann", "digest:bob", "ip:127.0.0.1"],
      });
    });

    test("identities end with the connection", async () => {
      const client = await server.fresh();
      await client.auth("digest", "ann:pw");
      client.connection.drop();
      const again = await client.reattach(server.address);
      expect((await again.whoAmI()).identities).toEqual(["ip:127.0.0.1"]);
      again.end();
    });

    test("an auth entry stands for all proved identities, but not for the address", async () => {
      const client = await server.fresh();
      await client.auth("digest", "ann:pw");
      await client.auth("digest", "bob:pw");
      await client.create("/a", { acl: [{ perms: READ + ADMIN, scheme: "auth", id: "whatever" }] });
      const { acl = [] } = await client.getAcl("/a");
      expect(acl.sort((one, two) => one.id.localeCompare(two.id))).toEqual([
        digest(READ + ADMIN, "ann"),
        digest(READ + ADMIN, "bob"),
      ]);
    });

    test("an auth entry leaves the entries beside it unchanged", async () => {
      const client = await server.fresh();
      await client.auth("digest", "ann:pw");
      await client.create("/a", { acl: [world(READ), { perms: ALL, scheme: "auth", id: "" }] });
      expect((await client.getAcl("/a")).acl).toEqual([world(READ), digest(ALL, "ann")]);
    });

    test("hashes are shown to administrators only", async () => {
      const [client, other] = await server.pair();
      await client.auth("digest", "ann:pw");
      await client.create("/a", { acl: [world(READ), digest(ALL, "ann"), ip(READ, "10.1.1.1")] });
      expect((await client.getAcl("/a")).acl).toEqual([
        world(READ),
        digest(ALL, "ann"),
        ip(READ, "10.1.1.1"),
      ]);
      expect((await other.getAcl("/a")).acl).toEqual([
        world(READ),
        { perms: ALL, scheme: "digest", id: "ann:x" },
        ip(READ, "10.1.1.1"),
      ]);
    });

    test.each([
      ["127.0.0.1", 0],
      ["127.0.0.2", noAuth],
      ["127.0.0.2/8", 0],
      ["127.0.0.0/31", 0],
      ["127.0.0.3/31", noAuth],
      ["127.0.0.1/32", 0],
      ["10.0.0.0/8", noAuth],
      ["10.0.0.0/0", 0],
    ])("a client at 127.0.0.1 that reads a znode for ip:%s gets error %d", async (id, err) => {
      const client = await server.fresh();
      await client.create("/a", { acl: [ip(READ, id)] });
      expect(await client.getData("/a")).toMatchObject({ err });
    });

    test.each([
      ["nosuch", "x"],
      ["world", "anyone"],
      ["auth", ""],
    ])(
      "the scheme %s is refused as a credential, and the connection is closed",
      async (scheme, credential) => {
        const client = await server.open();
        expect(await client.auth(scheme, credential)).toEqual({
          xid: Xid.auth,
          zxid: 0n,
          err: authFailed,
          body: Buffer.alloc(0),
        });
        expect(await client.connection.untilClosed()).toEqual([]);
        const again = await client.reattach(server.address);
        expect(await again.exists("/")).toMatchObject({ err: 0 });
        again.end();
      },
    );

    test.each(["nocolon", "a:b:c", ""])("digest accepts the credential %j", async (credential) => {
      const client = await server.open();
      const { err } = await client.auth("digest", credential);
      expect(err).toBe(0);
      expect((await client.whoAmI()).identities).toContain(`digest:${credential.split(":")[0]}`);
    });

    test("ip as a credential changes nothing", async () => {
      const client = await server.open();
      expect(await client.auth("ip", "10.0.0.1")).toMatchObject({ err: 0 });
      expect((await client.whoAmI()).identities).toEqual(["ip:127.0.0.1"]);
    });
  });

  test("a session reads and writes access lists and names its identities", async () => {
    const session = server.session(await server.chroot());
    await session.addAuth("digest", Buffer.from("ann:pw"));
    await session.create("/a", null, { acl: [{ perms: ALL, scheme: "auth", id: "" }] });
    expect((await session.getAcl("/a")).acl).toEqual([digest(ALL, "ann")]);
    expect(await session.whoAmI()).toContainEqual({ scheme: "digest", id: "ann" });
    expect((await session.setAcl("/a", [world(READ)], { version: 0 })).aversion).toBe(1);
    await expect(session.setData("/a", null)).rejects.toThrow(/permission|NoAuth|not permitted/i);
  });
});
