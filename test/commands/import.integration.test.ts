import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFor } from "../support/open-session.ts";
import { plantRandomTree, snapshot, zksh } from "../support/random-trees.ts";
import { freshChroot } from "../support/shared-server.ts";

test.each([11, 12, 13, 14, 15, 16, 17, 18, 19, 20])(
  "bring a tree back with data, ACLs and counters (tree %i)",
  async (seed) => {
    const server = await freshChroot();
    const session = openFor(server);
    await plantRandomTree(session, seed);
    const file = join(tmpdir(), `zksh-export-${process.pid}-${seed}.jsonl`);
    onTestFinished(() => rm(file, { force: true }));
    expect(await zksh(server, "export", "/src", "-o", file)).toMatchObject({
      code: 0,
      stdout: "",
    });
    expect(await zksh(server, "import", "--exact", file, "/back")).toMatchObject({ code: 0 });
    expect(await snapshot(session, "/back")).toEqual(await snapshot(session, "/src"));
    expect(await zksh(server, "import", "--exact", file, "/back")).toMatchObject({ code: 0 });
  },
);

test("--prune deletes what the file lacks, and --on-conflict decides about the rest", async () => {
  const server = await freshChroot();
  await zksh(server, "-c", "create /a 1; create /a/b 2; create /a/c 3");
  const { stdout: exported } = await zksh(server, "export", "/a");
  await zksh(server, "-c", "create /a/x; create /a/x/y; set /a/b changed; deleteall -y /a/c");
  const file = join(tmpdir(), `zksh-prune-${process.pid}.jsonl`);
  onTestFinished(() => rm(file, { force: true }));
  await writeFile(file, exported);
  expect(await zksh(server, "import", file)).toMatchObject({ code: 5 });
  expect(await zksh(server, "import", "--on-conflict", "overwrite", "--prune", file)).toMatchObject(
    { code: 9 },
  );
  expect(
    await zksh(server, "-y", "import", "--on-conflict", "overwrite", "--prune", file),
  ).toMatchObject({ code: 0 });
  expect((await zksh(server, "-c", "ls -R /a; get /a/b")).stdout).toBe("/a\n/a/b\n/a/c\n2");
});

test("a file that is no export is refused with its line", async () => {
  const server = await freshChroot();
  const file = join(tmpdir(), `zksh-bad-${process.pid}.jsonl`);
  onTestFinished(() => rm(file, { force: true }));
  await writeFile(file, '{"zksh":1,"path":"/a"}\n{"path":"/b"}\n');
  const { code, stderr } = await zksh(server, "import", file);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`${file}:2: /b is not below /a`)]);
  expect(await zksh(server, "import", "/nowhere")).toMatchObject({
    code: 2,
    stderr: "error: cannot read /nowhere: no such file\n",
  });
});
