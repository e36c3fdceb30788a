import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFor } from "../support/open-session.ts";
import { plantRandomTree, snapshot, zksh } from "../support/random-trees.ts";
import { freshChroot } from "../support/shared-server.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh } from "../support/zksh-process.ts";

const directory = temporaryDirectory("import");

/** ZKSH_TREES_SEED=N tries other trees. */
const FIRST_SEED = Number(process.env.ZKSH_TREES_SEED ?? 1);
const TREES = 200;

test(`200 random trees are the same after export and import (from seed ${FIRST_SEED})`, async () => {
  const server = await freshChroot();
  const session = openFor(server);
  const seeds = Array.from({ length: TREES }, (_, i) => FIRST_SEED + i);
  await Promise.all(seeds.map((seed) => plantRandomTree(session, seed, { root: `/src-${seed}` })));
  const lines = seeds.flatMap((seed) => {
    const file = join(directory, `${seed}.jsonl`);
    return [
      `export /src-${seed} -o ${file}`,
      `import --exact ${file} /back-${seed}`,
      `diff --acl /src-${seed} /back-${seed}`,
      `diff --acl file:${file} /back-${seed}`,
      // What is there already stays.
      `import --exact --prune ${file} /back-${seed}`,
    ];
  });
  const { code, stdout, stderr } = await runZksh(["-y", "-s", server, "-f", "-"], {
    input: lines.join("\n"),
    timeoutMs: 200_000,
  });
  expect([code, String(stdout), stderr]).toEqual([0, "", ""]);
  // Counters, which diff does not compare, and ACLs and data once more without diff's code.
  for (const seed of seeds)
    expect([seed, await snapshot(session, `/back-${seed}`)]).toEqual([
      seed,
      await snapshot(session, `/src-${seed}`),
    ]);
}, 240_000);

test("--prune keeps ephemerals, names what it cannot delete, and goes on", async () => {
  const server = await freshChroot();
  const session = openFor(server);
  await zksh(server, "-c", "create /a 1; create /a/b 2");
  const file = join(directory, "live.jsonl");
  expect(await zksh(server, "export", "/a", "-o", file)).toMatchObject({ code: 0 });
  await zksh(server, "-c", "create /a/old; create /a/old/x; create /a/busy; create /a/b/more");
  await session.create("/a/live", null, { mode: "ephemeral" });
  await session.create("/a/busy/live", null, { mode: "ephemeral" });
  const plan = await zksh(server, "import", "--prune", "--dry-run", file);
  expect([plan.code, plan.stdout]).toEqual([
    0,
    "/a: 0 znodes would be created, 2 unchanged, 4 deleted\n",
  ]);
  const { code, stderr } = await zksh(server, "-y", "import", "--prune", file);
  expect([code, stderr]).toEqual([8, expect.stringContaining("/a/busy")]);
  expect((await zksh(server, "ls", "-R", "/a")).stdout).toBe(
    "/a\n/a/b\n/a/busy\n/a/busy/live\n/a/live\n",
  );
});

test("nothing is pruned when not all of the file could be written", async () => {
  const server = await freshChroot();
  const session = openFor(server);
  await zksh(server, "-c", "create /a 1; create /a/b 2; create /a/b/c 3");
  const file = join(directory, "forbidden.jsonl");
  expect(await zksh(server, "export", "/a", "-o", file)).toMatchObject({ code: 0 });
  await zksh(server, "-c", "delete /a/b/c; create /a/more");
  await session.setAcl("/a/b", [{ scheme: "world", id: "anyone", perms: 31 & ~4 }]);
  const { code } = await zksh(server, "-y", "import", "--without-acls", "--prune", file);
  expect([code, await session.exists("/a/more")]).toEqual([8, expect.anything()]);
});

test("--prune deletes what the file lacks, and --on-conflict decides about the rest", async () => {
  const server = await freshChroot();
  await zksh(server, "-c", "create /a 1; create /a/b 2; create /a/c 3");
  const { stdout: exported } = await zksh(server, "export", "/a");
  await zksh(server, "-c", "create /a/x; create /a/x/y; set /a/b changed; deleteall -y /a/c");
  const file = join(directory, "prune.jsonl");
  await writeFile(file, exported);
  expect(await zksh(server, "import", file)).toMatchObject({ code: 5 });
  expect(await zksh(server, "import", "--on-conflict", "overwrite", "--prune", file)).toMatchObject(
    { code: 9, stderr: expect.stringContaining("Delete everything below /a that is not in") },
  );
  expect(
    await zksh(server, "-y", "import", "--on-conflict", "overwrite", "--prune", file),
  ).toMatchObject({ code: 0 });
  expect((await zksh(server, "-c", "ls -R /a; get /a/b")).stdout).toBe("/a\n/a/b\n/a/c\n2");
});

test("a file that is no export is refused with its line", async () => {
  const server = await freshChroot();
  const file = join(directory, "bad.jsonl");
  await writeFile(file, '{"zksh":1,"path":"/a"}\n{"path":"/b"}\n');
  const { code, stderr } = await zksh(server, "import", file);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${file}:2: /b is not below /a`)]);
  expect(await zksh(server, "import", "/nowhere")).toMatchObject({
    code: 2,
    stderr: "error: cannot read /nowhere: no such file\n",
  });
});
