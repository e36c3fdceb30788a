import { describe, expect, test } from "vitest";
import { run } from "./run.ts";

const given = { "/a": "x", "/a/c": "", "/a/b": "" };
const STAT = /(?:\w+ = .*\n){11}$/;

describe("ls2", () => {
  test("writes names and the stat", async () => {
    const { stdout, exit } = await run(["ls2", "/a"], { given });
    expect([stdout.replace(STAT, ""), exit]).toEqual(["b\nc\n", 0]);
    expect(stdout).toMatch(STAT);
  });

  test("writes as zkCli, which has given it up", async () => {
    const { stdout, stderr } = await run(["-o", "zkcli", "ls2", "/a"], { given });
    expect(stdout.replace(STAT, "")).toBe("[b, c]\n");
    expect(stderr).toBe("'ls2' has been deprecated. Please use 'ls [-s] path' instead.\n");
  });

  test("JSON has the children and the stat", async () => {
    const { stdout } = await run(["--json", "ls2", "/a"], { given });
    expect(JSON.parse(stdout)).toMatchObject({
      path: "/a",
      children: ["b", "c"],
      stat: { numChildren: 2 },
    });
  });

  test("reports a missing znode with exit code 3", async () => {
    const { stderr, exit } = await run(["ls2", "/b"], { given: {} });
    expect([stderr, exit]).toEqual(["error: no such znode: /b (NoNode)\n", 3]);
  });
});
