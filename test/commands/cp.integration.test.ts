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
    expect(copied.stderr).toContain("could not be written");
    expect((await zksh(other.address, "create", "/copy")).code).toBe(0);
    expect(await zksh(from, "cp", "-r", "-p", "--exact", "/src", target)).toMatchObject({
      code: 0,
    });
    const source = await snapshot(session, "/src");
    source.delete("/live");
    expect(await snapshot(openFor(other.address), "/copy/of")).toEqual(source);
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
