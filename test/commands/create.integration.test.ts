import { expect, test } from "vitest";
import { freshChroot } from "../support/shared-server.ts";
import { runReal } from "./run-real.ts";

test("--if-missing changes no znode that exists, also without permission on its parent", async () => {
  const server = await freshChroot();
  const zksh = (...argv: string[]) => runReal(server, argv);
  expect(await zksh("create", "--if-missing", "/a", "1")).toMatchObject({ exit: 0, stderr: "" });
  expect(await zksh("create", "/a/b", "1")).toMatchObject({ exit: 0 });
  expect(await zksh("setAcl", "/a", "world:anyone:rd")).toMatchObject({ exit: 0 });
  expect(await zksh("create", "--if-missing", "/a/b", "2")).toMatchObject({
    exit: 0,
    stdout: "/a/b\n",
    stderr: "note: /a/b exists\n",
  });
  expect(await zksh("create", "--if-missing", "/a/c")).toMatchObject({ exit: 4 });
  expect(await zksh("get", "/a/b")).toMatchObject({ stdout: "1" });
  expect(await zksh("-y", "deleteall", "/a", "--max", "1")).toMatchObject({
    exit: 9,
    stderr: expect.stringContaining("/a has 2 znodes, more than --max 1"),
  });
  expect(await zksh("-y", "deleteall", "/a", "--max", "2")).toMatchObject({ exit: 0 });
});
