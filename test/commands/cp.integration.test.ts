import { describe, expect, onTestFinished, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import { openFor } from "../support/open-session.ts";
import { plantRandomTree, snapshot, zksh } from "../support/random-trees.ts";
import { freshChroot } from "../support/shared-server.ts";

describe("cp", () => {
  test("copies a tree with ACLs and counters to another server", async () => {
    const from = await freshChroot();
    const session = openFor(from);
    await plantRandomTree(session, 1);
    await session.create("/src/live", null, { mode: "ephemeral" }).catch(() => {});
    const other = await startEmbeddedServer();
    onTestFinished(() => other.stop());
    const target = `zk://${other.address}/copy/of`;
    const copied = await zksh(from, "cp", "-r", "-p", "--exact", "/src", target);
    expect([copied.code, copied.stderr]).toEqual([
      3,
      "error: cannot create /copy/of: its parent /copy does not exist (NoNode)\n  create -p /copy creates it\n",
    ]);
    expect((await zksh(other.address, "create", "/copy")).code).toBe(0);
    expect(await zksh(from, "cp", "-r", "-p", "--exact", "/src", target)).toMatchObject({
      code: 0,
    });
    const source = await snapshot(session, "/src");
    source.delete("/live");
    expect(await snapshot(openFor(other.address), "/copy/of")).toEqual(source);
  });

  test("names the znodes that change in the source meanwhile", async () => {
    const server = await freshChroot();
    const session = openFor(server);
    await session.create("/t", null);
    for (let i = 0; i < 300; i++) await session.create(`/t/${i}`, Buffer.from("x"));
    let isDone = false;
    const writes = (async () => {
      while (!isDone) await session.setData("/t/7", Buffer.from("y"));
    })();
    const { code, stderr } = await zksh(server, "cp", "-r", "/t", "/copy");
    isDone = true;
    await writes;
    expect([code, stderr]).toEqual([0, expect.stringContaining("changed during the copy: /t/7")]);
    // Nothing else changed, so nothing else is said.
    expect(await zksh(server, "cp", "-r", "/t", "/again")).toMatchObject({ code: 0, stderr: "" });
  });

  test("--dry-run tells what would be done, conflicts included, and writes nothing", async () => {
    const server = await freshChroot();
    await zksh(
      server,
      "-c",
      "create /a 1; create /a/b 2; create /a/c 3; create /z 1; create /z/b x",
    );
    const plan = async (...words: string[]) => {
      const { code, stdout, stderr } = await zksh(server, "cp", "-r", "--dry-run", ...words);
      return [code, stdout, stderr.split("\n")[0]];
    };
    expect(await plan("/a", "/new")).toEqual([0, "/new: 3 znodes would be created\n", ""]);
    const overwrite = "/z: 1 znode would be created, 1 overwritten, 1 unchanged\n";
    expect(await plan("--on-conflict", "overwrite", "/a", "/z")).toEqual([0, overwrite, ""]);
    expect(await plan("/a", "/z")).toEqual([5, "", "error: /z/b exists with other data"]);
    expect((await plan("/a", "/none/new"))[0]).toBe(3);
    const alone = await zksh(server, "cp", "--dry-run", "/a", "/new");
    expect(alone.stdout).toBe(
      "/new: 1 znode would be created, 2 children left out (-r copies what is below)\n",
    );
    expect((await zksh(server, "-c", "ls /; get /z/b")).stdout).toBe("a\nz\nx");
  });

  test("refuses a place of a profile that does not exist", async () => {
    const { code, stderr } = await zksh(await freshChroot(), "cp", "@prod:/a", "/b");
    expect([code, stderr]).toEqual([2, expect.stringContaining("unknown profile prod")]);
  });

  test("refuses to copy a tree into itself, and what it would overwrite", async () => {
    const server = await freshChroot();
    await zksh(server, "-c", "create /a x; create /b y; create /c");
    expect(await zksh(server, "cp", "-r", "/a", "/a/b")).toMatchObject({ code: 2 });
    expect(await zksh(server, "cp", "/a", "/a")).toMatchObject({ code: 2 });
    const conflict = await zksh(server, "cp", "/a", "/b");
    expect(conflict).toMatchObject({ code: 5 });
    expect(conflict.stderr).toContain("--on-conflict");
    expect(await zksh(server, "cp", "--on-conflict", "overwrite", "/a", "/b")).toMatchObject({
      code: 0,
    });
    expect(await zksh(server, "get", "/b")).toMatchObject({ stdout: "x" });
    expect(await zksh(server, "cp", "/a", "/b", "/c")).toMatchObject({ code: 0 });
    expect(await zksh(server, "ls", "/c")).toMatchObject({ stdout: "a\nb\n" });
  });
});
