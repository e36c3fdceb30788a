/**
 * What commands mean on a real server: ACLs, identities, quotas, whole trees. The program runs
 * without a process.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { main } from "../../src/main.ts";
import type { Session } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { memoryIo } from "../commands/memory-io.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";

let server: string;
let session: Session;

beforeEach(async () => {
  server = await freshChroot();
  session = openFor(server);
});

async function zksh(argv: readonly string[], { at = server } = {}) {
  const io = memoryIo();
  const exit = await main({ programName: "zksh", argv: ["-s", at, ...argv] }, io, {
    openSession: async (options) => openSession(options),
    onSignal: () => () => {},
  });
  return { exit, stdout: io.written.stdout.toString(), stderr: io.written.stderr };
}

async function plant(...paths: string[]): Promise<void> {
  await Promise.all(paths.map((path) => session.create(path, Buffer.from("x"))));
}

describe("access", () => {
  test("a hashed password lets its owner in, and nobody else", async () => {
    await zksh(["create", "--hash-digests", "/a", "secret", "digest:ann:pa:ss:cdrwa"]);
    expect(await zksh(["get", "/a"])).toMatchObject({ exit: 4, stdout: "" });
    expect(await zksh(["--auth", "digest:ann:pa:ss", "get", "/a"])).toMatchObject({
      exit: 0,
      stdout: "secret",
    });
    expect(await zksh(["-c", "addauth digest ann:pa:ss; get /a"])).toMatchObject({
      exit: 0,
      stdout: "secret",
    });
  });

  test("getAcl writes what setAcl takes", async () => {
    await plant("/a", "/b");
    const acl = "digest:ann:fyVmFCwVbTJYrznoSu1koqYEYF0=:r,world:anyone:cdrwa";
    expect(await zksh(["setAcl", "/a", acl])).toMatchObject({ exit: 0, stderr: "" });
    const { stdout } = await zksh(["getAcl", "/a"]);
    expect(stdout).toBe(acl.replace(",", "\n").concat("\n"));
    await zksh(["setAcl", "/b", stdout.trim().replace("\n", ",")]);
    expect((await zksh(["getAcl", "/b"])).stdout).toBe(stdout);
  });

  test("whoami names all identities of the session", async () => {
    const { stdout } = await zksh(["-c", "addauth digest ann:x; addauth digest bob:y; whoami"]);
    expect(stdout.split("\n").slice(0, -1).sort()).toEqual([
      "digest:ann",
      "digest:bob",
      "ip:127.0.0.1",
    ]);
  });

  test("an unknown scheme ends with exit code 4", async () => {
    expect(await zksh(["addauth", "nosuchscheme", "x"])).toMatchObject({ exit: 4 });
  });

  test("setAcl -R changes the whole tree, also where the new ACL forbids to list it", async () => {
    await plant("/t", "/t/a", "/t/a/b", "/t/c");
    expect(await zksh(["-y", "setAcl", "-R", "/t", "world:anyone:cwda"])).toMatchObject({
      exit: 0,
      stderr: "",
    });
    expect((await zksh(["getAcl", "/t/a/b"])).stdout).toBe("world:anyone:cdwa\n");
    expect(await zksh(["ls", "/t"])).toMatchObject({ exit: 4 });
  });

  test("setAcl -R goes on past a znode that it may not change", async () => {
    await plant("/t", "/t/a", "/t/b");
    await session.setAcl("/t/a", [{ scheme: "world", id: "anyone", perms: 15 }]);
    const { exit, stderr } = await zksh(["-y", "setAcl", "-R", "/t", "world:anyone:cdrwa"]);
    expect([exit, stderr.split("\n")]).toEqual([
      8,
      [
        "error: not permitted: /t/a (NoAuth)",
        "error: 2 znodes changed, 1 znode could not be changed",
        "",
      ],
    ]);
  });
});

describe("deleteall", () => {
  test("deletes thousands of znodes", async () => {
    await plant("/t", ...Array.from({ length: 20 }, (_, i) => `/t/${i}`));
    const leaves = Array.from({ length: 2_600 }, (_, i) => `/t/${i % 20}/${i}`);
    await plant(...leaves);
    expect(await zksh(["--json", "-y", "deleteall", "/t"])).toEqual({
      exit: 0,
      stdout: '{"path":"/t","deleted":2621}\n',
      stderr: "",
    });
    expect(await session.exists("/t")).toBeUndefined();
  });

  test("leaves what it may not delete, names it, and deletes the rest", async () => {
    await plant("/t", "/t/a", "/t/a/kept", "/t/b", "/t/b/c");
    await session.setAcl("/t/a", [{ scheme: "world", id: "anyone", perms: 1 | 2 | 4 | 16 }]);
    const { exit, stderr } = await zksh(["-y", "deleteall", "/t"]);
    expect([exit, stderr.split("\n")]).toEqual([
      8,
      [
        "error: not permitted: /t/a/kept (NoAuth)",
        "error: 2 znodes deleted, 1 znode could not be deleted",
        "",
      ],
    ]);
    expect(await session.getChildren("/t")).toEqual(["a"]);
    await session.setAcl("/t/a", [{ scheme: "world", id: "anyone", perms: 31 }]);
  });

  test("keeps up with somebody who goes on writing for a while", async () => {
    await plant("/t", ...Array.from({ length: 50 }, (_, i) => `/t/${i}`));
    const writes = Array.from({ length: 20 }, (_, i) =>
      session.create(`/t/new-${i}`, null).catch(() => {}),
    );
    const [{ exit }] = await Promise.all([zksh(["-y", "deleteall", "-b", "7", "/t"]), ...writes]);
    expect([exit, await session.exists("/t")]).toEqual([0, undefined]);
  });

  test("counts before it asks", async () => {
    await plant("/t", "/t/a", "/t/a/b", "/t/c");
    const { exit, stderr } = await zksh(["deleteall", "/t"]);
    expect(exit).toBe(9);
    expect(stderr).toContain("Delete /t and the 3 znodes below it (a, c, …)?");
    expect((await zksh(["getAllChildrenNumber", "/t"])).stdout).toBe("3\n");
  });
});

describe("quotas", () => {
  // They are kept outside any chroot, so these tests use whole paths.
  const whole = (path = "") => server.slice(server.indexOf("/")) + path;
  const root = (argv: string[]) => zksh(argv, { at: sharedServer() });

  test("are counted from setquota to delquota", async () => {
    await plant("/q", "/q/a");
    expect(await root(["setquota", "-n", "5", whole("/q")])).toMatchObject({ exit: 0, stderr: "" });
    expect(await root(["setquota", "-B", "100", whole("/q")])).toMatchObject({
      exit: 0,
      stderr: "",
    });
    expect((await root(["listquota", whole("/q")])).stdout).toBe(
      "znodes: 2 used, limit 5, hard limit none\nbytes: 2 used, limit none, hard limit 100\n",
    );
    expect((await root(["-o", "zkcli", "listquota", whole("/q")])).stdout).toBe(
      `Output quota for ${whole("/q")} count=5,bytes=-1=;byteHardLimit=100;countHardLimit=-1\n` +
        `Output stat for ${whole("/q")} count=2,bytes=2\n`,
    );
    expect(await root(["setquota", "-n", "5", whole("/q/a")])).toMatchObject({ exit: 5 });
    expect((await root(["setquota", "-n", "1", whole("/q")])).stderr).toBe(
      "[Warning]: the count quota you create is less than the existing count:2\n",
    );
    expect(await root(["delquota", whole("/q")])).toMatchObject({ exit: 0, stderr: "" });
    expect(await root(["listquota", whole("/q")])).toMatchObject({ exit: 3 });
    expect(await root(["exists", `/zookeeper/quota${whole()}`])).toMatchObject({ exit: 1 });
  });

  test("are not to be had in a chroot", async () => {
    await plant("/q");
    expect(await zksh(["setquota", "-n", "5", "/q"])).toMatchObject({ exit: 9 });
    expect(await session.getChildren("/")).toEqual(["q"]);
  });
});

describe("the rest", () => {
  test("set --create makes a znode, then changes it", async () => {
    await zksh(["set", "--create", "/a", "1"]);
    await zksh(["set", "--create", "/a", "2"]);
    expect(await session.getData("/a")).toMatchObject({
      data: Buffer.from("2"),
      stat: { version: 1 },
    });
  });

  test("getEphemerals lists those of the session, without the chroot", async () => {
    const { stdout } = await zksh([
      "-c",
      "create -e /b; create -e /a; create /c; getEphemerals; getEphemerals /b",
    ]);
    expect(stdout).toBe("/b\n/a\n/c\n/a\n/b\n/b\n");
  });

  test("sync works for a path that does not exist", async () => {
    expect(await zksh(["-o", "zkcli", "sync", "/nope"])).toEqual({
      exit: 0,
      stdout: "Sync is OK\n",
      stderr: "",
    });
  });

  test("config of a standalone server is empty, and reconfig is explained", async () => {
    expect(await zksh(["-o", "zkcli", "config"])).toEqual({ exit: 0, stdout: "\n", stderr: "" });
    expect(await zksh(["reconfig", "-remove", "2"])).toMatchObject({ exit: 1, stdout: "" });
  });

  test("a missing znode comes with what is there", async () => {
    await plant("/app", "/app/config");
    const { exit, stderr } = await zksh(["get", "/app/confg"]);
    expect([exit, stderr]).toEqual([
      3,
      "error: no such znode: /app/confg (NoNode)\n  nearest existing parent: /app; did you mean /app/config?\n",
    ]);
  });
});
