import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import { openFor } from "../support/open-session.ts";
import { plantRandomTree, zksh } from "../support/random-trees.ts";
import { freshChroot } from "../support/shared-server.ts";

test("two trees: names, text, JSON, binary data, and exit codes", async () => {
  const server = await freshChroot();
  const script = [
    "create /a; create /b",
    "create /a/same x; create /b/same x",
    "create /a/gone x; create /b/new x",
    "create /a/text 'one\ntwo\nthree'; create /b/text 'one\nTWO\nthree'",
    `create /a/json '{"x":1,"y":2}'; create /b/json '{"x":1,"y":3}'`,
    "create -b /a/bin /wA=; create -b /b/bin /wE=",
  ].join("\n");
  expect(await zksh(server, "-c", script)).toMatchObject({ code: 0 });
  expect(await zksh(server, "diff", "/a", "/b")).toEqual({
    code: 1,
    stderr: "",
    stdout: [
      "binary data of /a/bin (2 bytes) and /b/bin (2 bytes) differs",
      "- only in /a: /gone",
      "--- /a/json",
      "+++ /b/json",
      "@@ -1,4 +1,4 @@",
      " {",
      '   "x": 1,',
      '-  "y": 2',
      '+  "y": 3',
      " }",
      "+ only in /b: /new",
      "--- /a/text",
      "+++ /b/text",
      "@@ -1,3 +1,3 @@",
      " one",
      "-two",
      "+TWO",
      " three",
      "",
    ].join("\n"),
  });
  expect(await zksh(server, "diff", "--names", "/a", "/b")).toMatchObject({
    code: 1,
    stdout: "- only in /a: /gone\n+ only in /b: /new\n",
  });
  expect(await zksh(server, "diff", "/a/same", "/b/same")).toMatchObject({ code: 0, stdout: "" });
  const json = await zksh(server, "--json", "diff", "/a/text", "/b/text");
  expect(JSON.parse(json.stdout)).toMatchObject({
    difference: "data",
    path: "/",
    left: { data: "one\ntwo\nthree" },
    right: { data: "one\nTWO\nthree" },
  });
  expect(await zksh(server, "diff", "/a", "/none")).toMatchObject({ code: 3 });
  expect(await zksh(server, "diff", "/a", "file:/no/such")).toMatchObject({
    code: 2,
    stderr: "error: cannot read /no/such: no such file\n",
  });
});

test("a tree, its copy on another server and its export are the same until one changes", async () => {
  const server = await freshChroot();
  const session = openFor(server);
  await plantRandomTree(session, 5);
  const other = await startEmbeddedServer();
  onTestFinished(() => other.stop());
  const file = join(tmpdir(), `zksh-diff-${process.pid}.jsonl`);
  onTestFinished(() => rm(file, { force: true }));
  const copy = `zk://${other.address}/copy`;
  expect(await zksh(server, "cp", "-r", "-p", "/src", copy)).toMatchObject({ code: 0 });
  expect(await zksh(server, "export", "/src", "-o", file)).toMatchObject({ code: 0 });
  const same = { code: 0, stdout: "", stderr: "" };
  expect(await zksh(server, "diff", "--acl", "/src", copy)).toEqual(same);
  expect(await zksh(server, "diff", "--acl", copy, `file:${file}`)).toEqual(same);
  await session.setAcl("/src", [{ scheme: "world", id: "anyone", perms: 31 }]);
  await session.create("/src/later", null);
  const { code, stdout } = await zksh(server, "diff", `file:${file}`, "/src");
  expect([code, stdout]).toEqual([1, "+ only in /src: /later\n"]);
});
