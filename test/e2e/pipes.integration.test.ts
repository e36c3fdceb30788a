import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { quoteWord } from "../../src/text/quote-word.ts";
import { eventually } from "../support/eventually.ts";
import { openFor } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import {
  ended,
  removeDirectory,
  spawnTracked,
  temporaryDirectory,
} from "../support/tracked-process.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/zksh.js");
const directory = temporaryDirectory("pipes");
let server: string;
let env: { ZKSH_SERVER: string };

beforeAll(async () => {
  server = await freshChroot();
  env = { ZKSH_SERVER: server };
});
afterAll(() => removeDirectory(directory));

/** A line of the shell that users have; `zksh` is the program. */
async function sh(line: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const script = `zksh() { "${process.execPath}" "${PROGRAM}" "$@"; }\n${line}`;
  const child = spawnTracked("bash", ["-c", script], {
    cwd: directory,
    env: { ...process.env, ...env },
    detached: true,
  });
  const out = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.on("data", (chunk) => (out[name] += chunk));
  child.stdin?.end();
  await ended(child);
  await eventually(
    () => child.stdout?.readableEnded === true && child.stderr?.readableEnded === true,
  );
  return { code: child.exitCode, ...out };
}

describe("data", () => {
  test.each([
    { name: "random bytes", bytes: randomBytes(300_000) },
    { name: "no bytes", bytes: Buffer.alloc(0) },
    { name: "every byte there is", bytes: Buffer.from(Array.from({ length: 256 }, (_, i) => i)) },
    { name: "text without a line end", bytes: Buffer.from("grüße") },
    { name: "a line end alone", bytes: Buffer.from("\n") },
  ])("comes out as it went in: $name", async ({ bytes }) => {
    writeFileSync(join(directory, "in"), bytes);
    const line =
      'node=$(zksh create -s /data- @in) && zksh get $node | cmp - in && zksh set $node - < in && zksh get $node > out && cmp in out && zksh -c "get $node" | cmp - in && zksh delete $node';
    expect(await sh(line)).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

// ZooKeeper itself refuses control characters in names.
const NAMES = [
  "two words",
  "it's",
  'say "hi"',
  "back\\slash",
  "semi;colon",
  "# no comment",
  '{"k": [1]}',
  "grüße-日本",
  "-dash",
  "*",
  "$HOME",
];

describe("names", () => {
  test.each(NAMES)(
    "%s is created, listed, read and deleted, as one command and in a script",
    async (name) => {
      const path = `/${name}`;
      const one = async (...argv: string[]) => String((await runZksh(argv, { env })).stdout);
      expect(await one("create", path, `data of ${name}`)).toBe(`${path}\n`);
      expect((await one("ls", "/")).split("\n")).toContain(name);
      expect(await one("get", path)).toBe(`data of ${name}`);
      expect(JSON.parse(await one("--json", "get", path))).toMatchObject({
        path,
        data: `data of ${name}`,
      });
      const script = `get ${quoteWord(path)}\ndelete ${quoteWord(path)}\nexists ${quoteWord(path)}\n`;
      expect(await runZksh([], { env, input: script })).toMatchObject({ code: 1, stderr: "" });
      expect((await one("ls", "/")).split("\n")).not.toContain(name);
    },
  );

  test("with control characters are refused, and shown without harm", async () => {
    const { code, stdout, stderr } = await runZksh(["create", "/a\u001b[2J"], { env });
    expect([code, String(stdout)]).toEqual([2, ""]);
    expect(stderr).toContain("/a\\x1b[2J");
    expect(stderr).not.toContain("\u001b");
  });

  test("that ls gives a script can be used as they are", async () => {
    await runZksh(["-c", "create /list; create '/list/a b'; create /list/c"], { env });
    const line =
      'zksh ls /list | while IFS= read -r name; do zksh delete "/list/$name" || exit; done; zksh ls /list';
    expect(await sh(line)).toEqual({ code: 0, stdout: "", stderr: "" });
  });
});

describe("escapes", () => {
  const lines = [
    "help",
    "ls -s /",
    "get /escape",
    "get /none",
    "gte",
    "watch /escape --within 20ms",
  ];

  test.each([
    { name: "in a pipe", more: {} },
    { name: "with NO_COLOR", more: { NO_COLOR: "1", FORCE_COLOR: "1" } },
    { name: "with TERM=dumb", more: { TERM: "dumb" } },
    {
      name: "on a terminal with NO_COLOR",
      more: { NO_COLOR: "1", TERM: "xterm-256color" },
      isTerminal: true,
    },
    { name: "on a terminal with TERM=dumb", more: { TERM: "dumb" }, isTerminal: true },
  ])("are not written $name", async ({ more, isTerminal = false }) => {
    await runZksh(["create", "/escape", "x"], { env });
    for (const line of lines) {
      const words = `"${process.execPath}" "${PROGRAM}" ${line}`;
      const child = isTerminal
        ? spawnTracked("script", ["-qfec", words, "/dev/null"], {
            env: { PATH: process.env.PATH, ...env, ...more },
          })
        : spawnTracked("bash", ["-c", words], { env: { PATH: process.env.PATH, ...env, ...more } });
      let written = "";
      for (const stream of [child.stdout, child.stderr])
        stream?.on("data", (chunk) => (written += chunk));
      child.stdin?.end();
      await ended(child);
      await eventually(
        () => child.stdout?.readableEnded === true && child.stderr?.readableEnded === true,
      );
      expect(written).not.toBe("");
      expect(written).not.toContain("\u001b");
    }
  });
});

describe("the other end", () => {
  test("may stop reading", async () => {
    const session = openFor(server);
    await session.create("/many", null);
    await Promise.all(
      Array.from({ length: 3_000 }, (_, i) => session.create(`/many/${"n".repeat(100)}${i}`, null)),
    );
    const lines = [
      { line: "zksh ls /many | head -1", ends: 0 },
      { line: "zksh ls -R /many | head -1", ends: 0 },
      // A shell tells of programs that SIGPIPE has ended in the same way: lines were left.
      { line: "for i in {1..50}; do echo 'ls /many'; done | zksh | head -1", ends: 141 },
    ];
    for (const { line, ends } of lines) {
      const { code, stdout, stderr } = await sh(`set -o pipefail; ${line}`);
      expect([code, stdout.split("\n").length, stderr]).toEqual([ends, 2, ""]);
    }
  });

  test.each([
    { name: "a closed stdin", line: "zksh get /in <&-; zksh -c 'get /in' <&-" },
    {
      name: "/dev/null",
      line: "zksh get /in < /dev/null; zksh -c 'get /in' < /dev/null; zksh < /dev/null",
    },
  ])("may be $name", async ({ line }) => {
    await runZksh(["create", "/in", "x"], { env });
    expect(await sh(line)).toEqual({ code: 0, stdout: "xx", stderr: "" });
  });

  test("may be a file of any length, read from where it stands", async () => {
    const lines = Array.from({ length: 3_000 }, (_, i) => `set /file-in ${"ü".repeat(30)}${i}`);
    writeFileSync(
      join(directory, "script"),
      ["not for zksh", "create /file-in", ...lines, "get /file-in"].join("\n"),
    );
    const { code, stdout, stderr } = await sh("{ read -r; zksh; } < script");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toBe(`/file-in\n${"ü".repeat(30)}2999`);
  });

  test("may be a directory, which is an error", async () => {
    for (const line of ["zksh < .", "zksh create /from-directory - < ."]) {
      expect(await sh(line)).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringMatching(/error: .*EISDIR/),
      });
    }
  });

  test("may be /dev/null on purpose, also opened by a program that opens it for reading, too", async () => {
    await runZksh(["create", "/in", "x"], { env });
    expect(await sh("zksh get /in > /dev/null")).toEqual({ code: 0, stdout: "", stderr: "" });
    const child = spawn(process.execPath, [PROGRAM, "get", "/in"], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
  });

  test.each([
    { name: "closed", redirection: ">&-", says: "stdout is closed" },
    { name: "a full disk", redirection: "> /dev/full", says: "ENOSPC" },
    { name: "open for reading only", redirection: "1< /dev/null", says: "EBADF" },
  ])("may be $name: what was lost is no success", async ({ redirection, says }) => {
    await runZksh(["create", "/in", "x"], { env });
    const lines = ["get /in", "-c 'get /in'", "--json ls /", "ls -R /"];
    for (const line of lines) {
      const { code, stderr } = await sh(`zksh ${line} ${redirection}`);
      expect([line, code, stderr]).toEqual([
        line,
        1,
        expect.stringContaining(`cannot write the output: ${says}`),
      ]);
    }
  });

  test("may be an open pipe that says nothing", async () => {
    await runZksh(["create", "/in", "x"], { env });
    const zksh = startZksh(["get", "/in"], { env });
    onTestFinished(() => zksh.endInput());
    expect(await zksh.result).toMatchObject({ code: 0, stdout: Buffer.from("x"), stderr: "" });
  });
});

describe("ephemerals", () => {
  test("end with the command or the script that made them", async () => {
    const session = openFor(server);
    await runZksh(["create", "-e", "/short", "x"], { env });
    expect(await session.exists("/short")).toBeUndefined();
    await runZksh(["-c", "create -e /short x; get /short; nonsense"], { env });
    expect(await session.exists("/short")).toBeUndefined();
    const zksh = startZksh([], { env });
    zksh.write("create -e /short x\n");
    await eventually(async () => (await session.exists("/short")) !== undefined);
    zksh.kill("SIGINT");
    expect((await zksh.result).code).toBe(130);
    expect(await session.exists("/short")).toBeUndefined();
  });
});
