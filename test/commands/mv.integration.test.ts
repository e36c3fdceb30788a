import { describe, expect, onTestFinished, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import { Permission, type Session } from "../../src/session/session.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { openFor } from "../support/open-session.ts";
import { plantRandomTree, snapshot, zksh } from "../support/random-trees.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";

const NO_CREATE = [
  { scheme: "world", id: "anyone", perms: Permission.all & ~Permission.create },
] as const;

/** Three megabytes in 60 znodes: too much for one request. */
async function plantLarge(session: Session): Promise<void> {
  await session.create("/src", Buffer.from("root"));
  const data = Buffer.alloc(50_000, "x");
  for (let i = 0; i < 60; i++) await session.create(`/src/${String(i).padStart(2, "0")}`, data);
}

describe("in one transaction", () => {
  test.each([31, 32, 33, 34])("mv keeps data, ACLs and counters (tree %i)", async (seed) => {
    const server = await freshChroot();
    const session = openFor(server);
    // Without ACLs that forbid children: those cannot be moved in one transaction.
    await plantRandomTree(session, seed, { acl: null });
    await session.setAcl("/src", [
      ...NO_CREATE,
      { scheme: "ip", id: "127.0.0.1", perms: Permission.all },
    ]);
    const before = await snapshot(session, "/src");
    const moved = await zksh(server, "--json", "mv", "--exact", "/src", "/dst");
    expect([moved.code, moved.stderr]).toEqual([0, ""]);
    const result = JSON.parse(moved.stdout);
    expect(result).toMatchObject({ from: "/src", to: "/dst", atomic: true, dryRun: false });
    expect(result.znodes).toBe(before.size);
    expect(await snapshot(session, "/dst")).toEqual(before);
    expect(await session.exists("/src")).toBeUndefined();
    const root = await session.exists("/dst");
    expect(`0x${root?.czxid.toString(16)}`).toBe(result.zxid);
  });

  test("a slash behind DST moves below it", async () => {
    const server = await freshChroot();
    await zksh(server, "-c", "create /a 1; create /a/b 2; create /c");
    expect(await zksh(server, "mv", "/a", "/c/")).toMatchObject({ code: 0, stdout: "" });
    expect((await zksh(server, "ls", "-R", "/c")).stdout).toBe("/c\n/c/a\n/c/a/b\n");
  });

  test("--dry-run says how it would be moved, and moves nothing", async () => {
    const server = await freshChroot();
    await zksh(server, "-c", "create /a 1; create /a/b 2");
    expect(await zksh(server, "mv", "--dry-run", "/a", "/b")).toMatchObject({
      code: 0,
      stdout: "Would move /a to /b: 2 znodes (atomic: one transaction)\n",
    });
    expect((await zksh(server, "ls", "-R", "/")).stdout).toBe("/\n/a\n/a/b\n");
  });

  test("writers below the source lose nothing", async () => {
    const server = await freshChroot();
    const session = openFor(server);
    await session.create("/src", null);
    const written = new Set<string>();
    const writer = (async () => {
      for (let i = 0; i < 1_000; i++) {
        try {
          await session.create(`/src/${i}`, null);
          written.add(String(i));
        } catch {
          return;
        }
      }
    })();
    const { code } = await zksh(server, "mv", "/src", "/dst");
    await writer;
    expect([0, 5]).toContain(code);
    const there = await session.getChildren(code === 0 ? "/dst" : "/src");
    expect(new Set(there)).toEqual(written);
  });
});

describe("mv refuses", () => {
  test.each([
    { argv: ["/a", "/a"], code: 2, says: "/a is both source and target" },
    { argv: ["/a", "/a/b/c"], code: 2, says: "cannot move /a into itself (/a/b/c)" },
    { argv: ["/a/b", "/a"], code: 2, says: "cannot move /a/b onto /a, which it is a part of" },
    { argv: ["/", "/b"], code: 9, says: "mv refuses /" },
    { argv: ["/zookeeper/quota", "/b"], code: 9, says: "mv refuses /zookeeper/quota" },
    { argv: ["/a", "/zookeeper/a"], code: 9, says: "mv refuses /zookeeper/a" },
    { argv: ["/none", "/b"], code: 3, says: "no such znode: /none" },
    { argv: ["/a", "/none/b"], code: 3, says: "its parent /none does not exist" },
    { argv: ["/a", "/c"], code: 5, says: "/c exists with other data than the source" },
    { argv: ["/a", "/d"], code: 5, says: "/d exists and has znodes of its own" },
    { argv: ["/a"], code: 2, says: "target" },
    { argv: ["/a", "file:x"], code: 2, says: "file:x is a file" },
  ])("mv $argv with code $code", async ({ argv, code, says }) => {
    const server = await freshChroot();
    await zksh(server, "-c", "create /a 1; create /a/b 2; create /c 3; create /d 1; create /d/e");
    const before = (await zksh(server, "export", "/")).stdout.split("\n").slice(1);
    const refused = await zksh(server, "-y", "mv", ...argv);
    expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(says)]);
    expect((await zksh(server, "export", "/")).stdout.split("\n").slice(1)).toEqual(before);
  });

  test("ephemerals, because they belong to sessions", async () => {
    const server = await freshChroot();
    const session = openFor(server);
    await session.create("/a", null);
    await session.create("/a/live", null, { mode: "ephemeral" });
    const refused = await zksh(server, "mv", "/a", "/b");
    expect([refused.code, refused.stderr]).toEqual([
      9,
      "error: /a cannot be moved: ephemeral znodes belong to sessions (/a/live)\n" +
        "  find /a --kind ephemeral lists them\n",
    ]);
    expect((await zksh(server, "mv", "/a/live", "/b")).stderr).toContain("/a/live is ephemeral");
  });

  test("a tree that can only be read in part", async () => {
    const server = await freshChroot();
    const session = openFor(server);
    for (const path of ["/a", "/a/b", "/a/b/c"]) await session.create(path, null);
    await session.setAcl("/a/b", [{ scheme: "world", id: "anyone", perms: 31 & ~1 }]);
    expect(await zksh(server, "-y", "mv", "/a", "/x")).toMatchObject({ code: 4 });
    expect(await session.exists("/x")).toBeUndefined();
  });

  test("the same znode under another name of its servers", async () => {
    const server = await freshChroot();
    const chroot = server.slice(sharedServer().length);
    await zksh(server, "-c", "create /a 1; create /a/b 2");
    const other = `zk://${sharedServer().replace("127.0.0.1", "localhost")}${chroot}`;
    for (const [from, to] of [
      ["/a", `${other}/a`],
      ["/a", `${other}/a/b/c`],
      ["/a/b", `${other}/a`],
    ] as const) {
      const refused = await zksh(server, "-y", "mv", from, to);
      expect([refused.code, refused.stderr]).toEqual([9, expect.stringContaining("overlap")]);
    }
    expect((await zksh(server, "ls", "-R", "/")).stdout).toBe("/\n/a\n/a/b\n");
  });
});

describe("mv that is not atomic", () => {
  test("says so, asks, and keeps ACLs that forbid children", async () => {
    const server = await freshChroot();
    const session = openFor(server);
    await plantRandomTree(session, 35);
    const before = await snapshot(session, "/src");
    const asked = await zksh(server, "mv", "--exact", "/src", "/dst");
    expect([asked.code, asked.stderr]).toEqual([
      9,
      expect.stringMatching(
        /needs confirmation.*\n.*Move \/src and the \d+ znodes below it to \/dst\? This is not atomic: the ACL of /,
      ),
    ]);
    expect(await session.exists("/dst")).toBeUndefined();
    const moved = await zksh(server, "-y", "mv", "--exact", "/src", "/dst");
    // The planted ACLs forbid deleting: the source stays, and this is said.
    expect([moved.code, moved.stderr]).toEqual([8, expect.stringContaining("not atomic: the ACL")]);
    expect(moved.stderr).toContain("/dst has everything else of /src");
    expect(await snapshot(session, "/dst")).toEqual(before);
  });

  test("moves more than a megabyte", async () => {
    const server = await freshChroot();
    const session = openFor(server);
    await plantLarge(session);
    await session.setAcl("/src", NO_CREATE);
    const before = await snapshot(session, "/src");
    const moved = await zksh(server, "-y", "--json", "mv", "/src", "/dst");
    expect(moved.code).toBe(0);
    expect(JSON.parse(moved.stderr)).toMatchObject({ warning: { reason: "not-atomic" } });
    expect(JSON.parse(moved.stdout)).toMatchObject({ atomic: false, znodes: 61 });
    expect(await snapshot(session, "/dst")).toEqual(before);
    expect(await session.exists("/src")).toBeUndefined();
  });

  test("moves to other servers", async () => {
    const from = await freshChroot();
    const session = openFor(from);
    await plantRandomTree(session, 36, { acl: null });
    const before = await snapshot(session, "/src");
    const other = await startEmbeddedServer();
    onTestFinished(() => other.stop());
    const moved = await zksh(from, "-y", "mv", "--exact", "/src", `zk://${other.address}/dst`);
    expect([moved.code, moved.stderr]).toEqual([0, expect.stringContaining("not atomic")]);
    expect(await snapshot(openFor(other.address), "/dst")).toEqual(before);
    expect(await session.exists("/src")).toBeUndefined();
  });

  test("keeps znodes that were changed or created while it copied, and ends with 8", async () => {
    const server = await freshChroot();
    const session = openFor(server);
    await plantLarge(session);
    const proxy = await startFaultProxy(Number(sharedServer().split(":")[1]));
    onTestFinished(() => proxy.close());
    // The copy of the last znode is on its way: all of the source has been read.
    let changed: Promise<unknown> | undefined;
    proxy.onBytes = (direction, chunk) => {
      if (direction !== "to-server" || changed || !chunk.includes("/dst/59")) return;
      proxy.stall("to-server");
      changed = Promise.all([
        session.setData("/src/07", Buffer.from("newer")),
        session.create("/src/new", Buffer.from("new")),
      ]).then(() => proxy.resume());
    };
    const behind = server.replace(sharedServer(), proxy.address);
    const moved = await zksh(behind, "-y", "mv", "/src", "/dst");
    await changed;
    expect([moved.code, moved.stderr]).toEqual([
      8,
      expect.stringContaining("2 znodes stay where they are; /dst has everything else of /src"),
    ]);
    expect((await session.getChildren("/src")).sort()).toEqual(["07", "new"]);
    expect(String((await session.getData("/src/07")).data)).toBe("newer");
    expect(await session.getChildren("/dst")).toHaveLength(60);
    // As the hint says.
    await zksh(server, "cp", "--on-conflict", "overwrite", "/src/07", "/src/new", "/dst");
    expect(await zksh(server, "-y", "mv", "/src", "/dst")).toMatchObject({ code: 0 });
    expect(await session.exists("/src")).toBeUndefined();
    expect(String((await session.getData("/dst/07")).data)).toBe("newer");
    expect(await session.getChildren("/dst")).toHaveLength(61);
  });
});
