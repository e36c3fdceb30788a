import { expect, test } from "vitest";
import { freshChroot } from "../support/shared-server.ts";
import { runZksh } from "../support/zksh-process.ts";

test("find tells our ephemerals from others', and runs programs per path and once", async () => {
  const server = await freshChroot();
  const zksh = async (...args: string[]) => {
    const { code, stdout, stderr } = await runZksh(["-s", server, ...args]);
    return { code, stdout: String(stdout), stderr: String(stderr) };
  };
  const script =
    "create /a\ncreate /a/b x\ncreate -e /a/live\ncreate -c /a/box\nfind / --kind ephemeral --owner me\nfind / --owner 0x1";
  expect(await zksh("-c", script)).toMatchObject({
    code: 0,
    stdout: "/a\n/a/b\n/a/live\n/a/box\n/a/live\n",
  });
  expect(await zksh("find", "/a", "--name", "b", "--", "echo", "<{}>")).toMatchObject({
    code: 0,
    stdout: "</a/b>\n",
  });
  expect(await zksh("find", "/", "--", "echo", "{}", "+")).toMatchObject({
    code: 0,
    stdout: "/ /a /a/b /a/box\n",
  });
  expect(await zksh("find", "/", "--kind", "container")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("does not tell clients which znodes are containers"),
  });
  expect(await zksh("find", "/a/b", "--", "false")).toMatchObject({ code: 8 });
});
