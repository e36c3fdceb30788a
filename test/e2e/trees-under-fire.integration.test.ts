/** The commands for trees with forbidden branches, odd names, large data, full disks and Ctrl-C. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Session } from "../../src/session/session.ts";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { openFor } from "../support/open-session.ts";
import { zksh } from "../support/random-trees.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";
import { startZksh } from "../support/zksh-process.ts";

const directory = temporaryDirectory("fire");
const NO_READ = [{ scheme: "world", id: "anyone", perms: 31 & ~1 }];

async function plant(session: Session, root: string, count: number): Promise<void> {
  await session.create(root, Buffer.from("top"));
  const paths = Array.from({ length: count }, (_, i) => `${root}/${String(i).padStart(5, "0")}`);
  for (let at = 0; at < count; at += 1_000) {
    const data = Buffer.alloc(100, "x");
    await session.multi(
      paths.slice(at, at + 1_000).map((path) => ({ op: "create", path, data }) as const),
    );
  }
}

describe("a branch that may not be read", () => {
  test.each([
    { words: ["find", "/t"], has: "/t/z" },
    { words: ["find", "/t", "--size", "+0"], has: "/t/z" },
    { words: ["grep", "x", "/t"], has: "/t/z:1:x" },
    { words: ["du", "/t"], has: "/t/z" },
    { words: ["tree", "-s", "/t"], has: "z" },
    { words: ["export", "/t"], has: '"/t/z"' },
    { words: ["export", "--without-acls", "/t"], has: '"/t/z"' },
    { words: ["cp", "-r", "/t", "/copy"], has: "" },
    { words: ["diff", "/t", "/whole"], has: "" },
    { words: ["diff", "/whole", "/t"], has: "" },
    { words: ["find", "/t", "--", "echo", "{}"], has: "/t/z" },
  ])(
    "$words.0 $words.1 $words.2 names it, does the rest, and ends with 8",
    async ({ words, has }) => {
      const server = await freshChroot();
      const session = openFor(server);
      const script = ["/t", "/t/a", "/t/a/b", "/t/z"].map((path) => `create ${path} x`);
      const whole = script.map((line) => line.replace("/t", "/whole"));
      await zksh(server, "-c", [...script, ...whole].join("; "));
      await session.setAcl("/t/a", NO_READ);
      const { code, stdout, stderr } = await zksh(server, ...words);
      expect([code, stderr]).toEqual([8, expect.stringContaining("/t/a")]);
      expect(stdout).toContain(has);
      if (words[0] === "cp")
        expect((await zksh(server, "find", "/copy")).stdout).toBe("/copy\n/copy/z\n");
      // What is unknown is no difference.
      if (words[0] === "diff") expect(stdout).toBe("");
    },
  );
});

test("znodes that vanish and appear meanwhile cost no other znode", async () => {
  const server = await freshChroot();
  const session = openFor(server);
  await plant(session, "/t", 3_000);
  let isDone = false;
  const churn = (async () => {
    for (let i = 0; !isDone; i++) {
      await session.multi([
        { op: "create", path: `/t/b${i % 7}`, data: Buffer.from("new") },
        { op: "create", path: `/t/b${i % 7}/below`, data: null },
        { op: "create", path: `/t/00500/x${i % 5}`, data: null },
      ]);
      await session.multi([
        { op: "delete", path: `/t/b${i % 7}/below` },
        { op: "delete", path: `/t/b${i % 7}` },
        { op: "delete", path: `/t/00500/x${i % 5}` },
      ]);
    }
  })();
  const stable = (text: string) => new Set(text.match(/\/(\d{5})(?=["\s])/g)).size;
  const found = await zksh(server, "find", "/t", "--size", "100");
  expect([found.code, found.stderr, stable(found.stdout)]).toEqual([0, "", 3_000]);
  const sums = await zksh(server, "du", "/t");
  expect([sums.code, sums.stderr, stable(sums.stdout)]).toEqual([0, "", 3_000]);
  const exported = await zksh(server, "export", "/t");
  expect([exported.code, stable(exported.stdout)]).toEqual([0, 3_000]);
  isDone = true;
  await churn;
}, 60_000);

test("a znode of a megabyte, and one that only just fits, are found, kept and copied", async () => {
  const server = await freshChroot();
  const session = openFor(server);
  const data = Buffer.alloc(1_000_000, "x");
  data.write("needle", data.length - 6);
  await session.create("/t", null);
  await session.create("/t/big", data);
  // Servers take requests of 1,048,575 bytes; the path of a copy is longer.
  await session.create("/t/most", Buffer.alloc(1_048_575 - 200, 1));
  await session.create("/t/small", Buffer.from("x"));
  const file = join(directory, "big.jsonl");
  expect(await zksh(server, "find", "/t", "--size", "+900k")).toMatchObject({
    stdout: "/t/big\n/t/most\n",
  });
  expect(await zksh(server, "grep", "-l", "needle", "/t")).toMatchObject({ stdout: "/t/big\n" });
  expect((await zksh(server, "du", "/t")).stderr).toContain("jute.maxbuffer");
  expect(await zksh(server, "export", "/t", "-o", file)).toMatchObject({ code: 0 });
  expect(await zksh(server, "diff", "/t", `file:${file}`)).toMatchObject({ code: 0, stdout: "" });
  expect(await zksh(server, "import", file, "/b")).toMatchObject({ code: 0 });
  expect(await zksh(server, "diff", "/t", "/b")).toMatchObject({ code: 0, stdout: "" });
  const long = `/${"long".repeat(60)}`;
  const { code, stderr } = await zksh(server, "cp", "-r", "/t", long);
  expect([code, stderr]).toEqual([8, expect.stringContaining(`${long}/most`)]);
  expect((await zksh(server, "ls", long)).stdout).toBe("big\nsmall\n");
});

const ODD_NAMES = [
  "a b",
  " lead",
  "it's",
  '"q"',
  "\u2028line\u2029end",
  "\u202eright\u202c",
  "ü",
  "a\\nb",
  "*",
  "-x",
  "{}",
];

test("odd names come through find, cp, export, import and diff unchanged", async () => {
  const server = await freshChroot();
  const session = openFor(server);
  await session.create("/t", null);
  for (const name of ODD_NAMES) {
    await session.create(`/t/${name}`, Buffer.from(name));
    await session.create(`/t/${name}/below`, Buffer.from(`${name}\nmore`));
  }
  const file = join(directory, "odd.jsonl");
  expect(await zksh(server, "cp", "-r", "/t", "/c")).toMatchObject({ code: 0 });
  expect(await zksh(server, "export", "/c", "-o", file)).toMatchObject({ code: 0 });
  expect(await zksh(server, "import", file, "/i")).toMatchObject({ code: 0 });
  expect(await zksh(server, "diff", "/t", "/i")).toMatchObject({ code: 0, stdout: "", stderr: "" });
  expect((await session.getChildren("/i")).sort()).toEqual([...ODD_NAMES].sort());
  const { stdout } = await zksh(server, "find", "/i", "--depth", "1", "-0");
  expect(stdout.split("\0").slice(1, -1)).toEqual(
    [...ODD_NAMES].sort().map((name) => `/i/${name}`),
  );
});

describe("a disk that is full", () => {
  test.runIf(process.getuid?.() === 0)(
    "ends an export with 8; the older file stays, and no other one is left",
    async () => {
      const server = await freshChroot();
      await plant(openFor(server), "/t", 20_000);
      const disk = join(directory, "disk");
      mkdirSync(disk);
      execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "none", disk]);
      onTestFinished(() => void execFileSync("/bin/umount", [disk]));
      const file = join(disk, "t.jsonl");
      await writeFile(file, "older");
      for (const options of [[], ["--consistent"]]) {
        const { code, stderr } = await zksh(server, "export", ...options, "/t", "-o", file);
        expect([code, stderr]).toEqual([
          8,
          `error: the export is not complete: cannot write ${file}: no space left on the device\n` +
            `  nothing of it was kept, and ${file} is as it was before\n`,
        ]);
        expect([readdirSync(disk), await readFile(file, "utf8")]).toEqual([["t.jsonl"], "older"]);
      }
    },
  );

  test("is told for a device and for stdout, too", async () => {
    const server = await freshChroot();
    await plant(openFor(server), "/t", 2_000);
    const device = await zksh(server, "export", "/t", "-o", "/dev/full");
    expect([device.code, device.stderr]).toEqual([
      8,
      expect.stringContaining("not a whole export"),
    ]);
    const line = `"$0" "$1" -s "$2" export /t > /dev/full`;
    const program = new URL("../../bin/zksh.js", import.meta.url).pathname;
    const { status, stderr } = spawnSync("bash", ["-c", line, process.execPath, program, server], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining("cannot write the output")]);
  });
});

describe("Ctrl-C", () => {
  const CHUNKS = [1, 2, 4, 8, 16, 32];

  /** Runs the command and interrupts it when `chunk` chunks have come from the server. */
  async function interrupted(chunk: number, chroot: string, ...words: readonly string[]) {
    const address = sharedServer();
    const proxy = await startFaultProxy(Number(address.split(":")[1]));
    onTestFinished(() => proxy.close());
    const run = startZksh(["-s", chroot.replace(address, proxy.address), ...words]);
    let chunks = 0;
    proxy.onBytes = (towards) => {
      if (towards === "to-client" && ++chunks === chunk) run.kill("SIGINT");
    };
    return run.result;
  }

  test.each(CHUNKS)("at chunk %i of an export leaves the older file alone", async (chunk) => {
    const server = await freshChroot();
    await plant(openFor(server), "/t", 10_000);
    const folder = temporaryDirectory("interrupted");
    const file = join(folder, "t.jsonl");
    await writeFile(file, "older");
    const { code } = await interrupted(chunk, server, "export", "/t", "-o", file);
    expect(code).toBe(130);
    expect([readdirSync(folder), await readFile(file, "utf8")]).toEqual([["t.jsonl"], "older"]);
  });

  test.each(CHUNKS)("at chunk %i of cp and import tells how much was written", async (chunk) => {
    const server = await freshChroot();
    const session = openFor(server);
    await plant(session, "/t", 10_000);
    const file = join(directory, `interrupted-${chunk}.jsonl`);
    expect((await zksh(server, "export", "--without-acls", "/t", "-o", file)).code).toBe(0);
    for (const words of [
      ["cp", "-r", "/t", "/copy"],
      ["import", file, "/copy"],
    ]) {
      const { code, stderr } = await interrupted(chunk, server, ...words);
      // With 0 the command ended before the signal came.
      if (code !== 0) expect(code).toBe(130);
      const there = (await session.exists("/copy"))
        ? 1 + (await session.getAllChildrenNumber("/copy"))
        : 0;
      const [, told] = /interrupted: ([\d,]+) znodes? written below \/copy/.exec(stderr) ?? [];
      if (there > 0 && code !== 0)
        expect([stderr, Number(told?.replaceAll(",", ""))]).toEqual([stderr, there]);
      // Run again, it ends with the whole tree.
      expect(await zksh(server, ...words)).toMatchObject({ code: 0 });
      expect(await zksh(server, "diff", "/t", "/copy")).toMatchObject({ code: 0 });
      await zksh(server, "-y", "deleteall", "/copy");
    }
  });

  test.each([
    ["find", "/t", "--size", "1"],
    ["grep", "y", "/t"],
    ["du", "/t"],
    ["diff", "/t", "/t"],
    ["tree", "-s", "/t"],
  ])("ends %s with 130", async (...words) => {
    const server = await freshChroot();
    await plant(openFor(server), "/t", 10_000);
    const { code, stderr } = await interrupted(4, server, ...words);
    expect([code, stderr]).toEqual([130, expect.stringContaining("interrupted")]);
  });
});

describe("| head -1", () => {
  test.each([
    "find /t",
    "find /t --size +0",
    "grep x /t",
    "du /t",
    "tree /t",
    "export /t",
    "diff /t /other",
  ])("%s ends at once, and quietly", async (line) => {
    const server = await freshChroot();
    const session = openFor(server);
    await plant(session, "/t", 20_000);
    await session.create("/other", null);
    const program = new URL("../../bin/zksh.js", import.meta.url).pathname;
    const script = `"$0" "$1" -s "$2" ${line} | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync(
      "bash",
      ["-c", script, process.execPath, program, server],
      {
        encoding: "utf8",
        timeout: 20_000,
      },
    );
    expect([stdout.trimEnd().split("\n").length, stdout.split("\n").at(-2), stderr]).toEqual([
      2,
      "0",
      "",
    ]);
  });
});
