import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { zksh } from "../support/random-trees.ts";
import { freshChroot } from "../support/shared-server.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const ODD = ["a b", "it's", '"q"', "$HOME", "-n", "ü", "\u202eabc", "a\u2028b"];

async function planted(): Promise<string> {
  const server = await freshChroot();
  for (const name of ODD)
    expect(await zksh(server, "create", `/${name}`, "x")).toMatchObject({ code: 0 });
  return server;
}

describe("find -- CMD", () => {
  test("hands odd names to the program as single words, one by one and all at once", async () => {
    const server = await planted();
    const paths = ODD.map((name) => `/${name}`).sort();
    const each = await zksh(server, "find", "/", "--size", "1", "--", "printf", "%s\\0", "{}");
    expect([each.code, each.stdout.split("\0").slice(0, -1)]).toEqual([0, paths]);
    const once = await zksh(server, "find", "/", "--size", "1", "--", "printf", "%s\\0", "{}", "+");
    expect([once.code, once.stdout]).toEqual([0, each.stdout]);
    expect((await zksh(server, "find", "/", "--size", "1", "-0")).stdout).toBe(each.stdout);
  });

  test("runs a few times where the paths are too long for one command line", async () => {
    const server = await freshChroot();
    const names = Array.from({ length: 60 }, (_, i) => `${i}-${"n".repeat(4_000)}`);
    const script = names.map((name) => `create /${name} x\n`).join("");
    expect((await runZksh(["-s", server, "-f", "-"], { input: script })).code).toBe(0);
    const sh = ["sh", "-c", "echo $#", "sh", "{}", "+"];
    const { code, stdout } = await zksh(server, "find", "/", "--size", "1", "--", ...sh);
    const counts = stdout.trim().split("\n").map(Number);
    expect([code, counts.reduce((sum, one) => sum + one, 0)]).toEqual([0, 60]);
    expect(counts.length).toBeGreaterThan(1);
  });

  test("counts programs that fail, runs the others, and ends with 8", async () => {
    const server = await freshChroot();
    await zksh(server, "-c", "create /a 1; create /b 2");
    const sh = ["sh", "-c", 'echo "$1"; test "$1" = /b', "sh", "{}"];
    const { code, stdout, stderr } = await zksh(server, "find", "/", "--", ...sh);
    expect([code, stdout, stderr]).toEqual([8, "/\n/a\n/b\n", "error: sh failed 2 times\n"]);
  });

  test("refuses + without {}, and a program that does not exist", async () => {
    const server = await freshChroot();
    const plus = await zksh(server, "find", "/", "--", "echo", "+");
    expect([plus.code, plus.stderr]).toEqual([2, expect.stringContaining("+ needs {}")]);
    const missing = await zksh(server, "find", "/", "--", "no-such-program-here", "{}");
    expect([missing.code, missing.stderr]).toEqual([
      2,
      "error: cannot run no-such-program-here: no such program\n",
    ]);
  });

  test("stops when the reader of the program's output has gone", async () => {
    const server = await freshChroot();
    const lines = Array.from({ length: 3_000 }, (_, i) => `create /n${i} x`).join("\n");
    expect((await zksh(server, "-c", lines)).code).toBe(0);
    const zkshLine = `"$0" "$1" -s "$2" find / -- echo {} | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const program = new URL("../../bin/zksh.js", import.meta.url).pathname;
    const run = spawnSync("bash", ["-c", zkshLine, process.execPath, program, server], {
      encoding: "utf8",
      timeout: 15_000,
    });
    expect([run.status, run.stdout]).toEqual([0, "/\n0\n"]);
  });

  test("stops the program and itself at Ctrl-C", async () => {
    const server = await freshChroot();
    const run = startZksh(["-s", server, "find", "/", "--", "sh", "-c", "echo $$; sleep 60"]);
    await eventually(() => run.stdout.includes("\n"));
    run.kill("SIGINT");
    expect((await run.result).code).toBe(130);
    const child = Number(run.stdout);
    expect(() => process.kill(child, 0)).toThrow("ESRCH");
  });
});
