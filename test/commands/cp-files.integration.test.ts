/** cp and diff between znodes and files: places that begin with `file:`. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { startFaultProxy } from "../support/fault-proxy.ts";
import { openFor } from "../support/open-session.ts";
import { plantRandomTree, zksh } from "../support/random-trees.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";
import { temporaryDirectory } from "../support/tracked-process.ts";
import { startZksh } from "../support/zksh-process.ts";

const BINARY = Buffer.from([0, 255, 10, 13, 0x1b, 0xc3]);

describe("a single znode", () => {
  test("is copied to a file and back, byte for byte", async () => {
    const server = await freshChroot();
    const session = openFor(server);
    await session.create("/a", BINARY);
    const file = join(temporaryDirectory("files"), "a b.bin");
    expect(await zksh(server, "cp", "/a", `file:${file}`)).toMatchObject({ code: 0, stderr: "" });
    expect(readFileSync(file)).toEqual(BINARY);
    expect(await zksh(server, "cp", `file:${file}`, "/b")).toMatchObject({ code: 0, stderr: "" });
    expect((await session.getData("/b")).data).toEqual(BINARY);
  });

  test("gets its own name below a folder", async () => {
    const server = await freshChroot();
    const folder = temporaryDirectory("files");
    await zksh(server, "-c", "create /a one; create /b two");
    expect(await zksh(server, "cp", "/a", "/b", `file:${folder}`)).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(["a", "b"]);
    expect(readFileSync(join(folder, "b"), "utf8")).toBe("two");
    expect(await zksh(server, "cp", `file:${folder}/a`, "/b/")).toMatchObject({ code: 0 });
    expect((await zksh(server, "get", "/b/a")).stdout).toBe("one");
  });

  test("does not replace a file with other data unless it is told to", async () => {
    const server = await freshChroot();
    const file = join(temporaryDirectory("files"), "a");
    await zksh(server, "create", "/a", "new");
    writeFileSync(file, "old");
    expect(await zksh(server, "cp", "/a", `file:${file}`)).toMatchObject({
      code: 5,
      stderr: `error: ${file} exists with other data\n  --on-conflict skip keeps it, --on-conflict overwrite replaces its data\n`,
    });
    const words = ["cp", "--on-conflict", "overwrite", "/a", `file:${file}`];
    const plan = await zksh(server, ...words, "--dry-run");
    expect([plan.code, plan.stdout]).toEqual([
      0,
      `file:${file}: 0 znodes would be created, 1 overwritten\n`,
    ]);
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(await zksh(server, ...words)).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toBe("new");
  });

  test.each([
    { words: ["-p", "/a", "file:x"], says: "a file keeps no ACLs" },
    { words: ["--exact", "/a", "file:x"], says: "a file keeps no sequence counters" },
    { words: ["file:x", "file:y"], says: "both places are files" },
    { words: ["file:/nowhere", "/b"], says: "cannot read /nowhere: no such file" },
    { words: ["/a", "file:/nowhere/x"], says: "cannot write /nowhere/x: no such file" },
    { words: ["file:/tmp", "/b"], says: "/tmp is a folder" },
  ])("is refused with 2: cp $words", async ({ words, says }) => {
    const server = await freshChroot();
    await zksh(server, "create", "/a", "x");
    const { code, stderr } = await zksh(server, "cp", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });
});

describe("a tree", () => {
  test.each([11, 12, 13])("is the same in a folder, and back from it (seed %i)", async (seed) => {
    const server = await freshChroot();
    await plantRandomTree(openFor(server), seed, { acl: null, znodes: 60, leaves: 200 });
    const folder = join(temporaryDirectory("files"), "tree");
    const same = { code: 0, stdout: "", stderr: "" };
    expect(await zksh(server, "cp", "-r", "/src", `file:${folder}`)).toEqual(same);
    expect(await zksh(server, "diff", "/src", `file:${folder}`)).toEqual(same);
    expect(await zksh(server, "cp", "-r", `file:${folder}`, "/back")).toEqual(same);
    expect(await zksh(server, "diff", "/src", "/back")).toEqual(same);
    // Again it changes nothing, in either direction.
    const again = await zksh(server, "cp", "-r", "--dry-run", "/src", `file:${folder}`);
    expect(again.stdout).toMatch(/: 0 znodes would be created, \d+ unchanged\n$/);
    const back = await zksh(server, "cp", "-r", "--dry-run", `file:${folder}`, "/back");
    expect(back.stdout).toMatch(/: 0 znodes would be created, \d+ unchanged\n$/);
  });

  test("differs from a folder in which a file was changed, added or removed", async () => {
    const server = await freshChroot();
    await zksh(server, "-c", "create /t top; create /t/a 1; create /t/b 2");
    const folder = join(temporaryDirectory("files"), "t");
    await zksh(server, "cp", "-r", "/t", `file:${folder}`);
    expect(readdirSync(folder)).toEqual([".data", "a", "b"]);
    writeFileSync(join(folder, "a"), "other");
    writeFileSync(join(folder, "c"), "more");
    const { code, stdout } = await zksh(server, "diff", "-q", "/t", `file:${folder}`);
    expect([code, stdout.split("\n").filter((line) => line !== "").length]).toEqual([1, 2]);
    expect((await zksh(server, "diff", "--acl", "/t", `file:${folder}`)).code).toBe(2);
  });

  test("names what has no place among znodes, copies the rest, and ends with 8", async () => {
    const server = await freshChroot();
    const folder = temporaryDirectory("files");
    const secret = join(temporaryDirectory("files"), "secret");
    writeFileSync(secret, "secret");
    writeFileSync(join(folder, "plain"), "x");
    symlinkSync(secret, join(folder, "link"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    writeFileSync(join(folder, "tab\tname"), "x");
    const { code, stderr } = await zksh(server, "cp", "-r", `file:${folder}`, "/t");
    expect(code).toBe(8);
    for (const name of ["link", "pipe", "tab"]) expect(stderr).toContain(`${folder}/${name}`);
    expect((await zksh(server, "find", "/t")).stdout).toBe("/t\n/t/plain\n");
  });

  test("is not written through links, and a child called .data is named", async () => {
    const server = await freshChroot();
    await zksh(
      server,
      "-c",
      "create /t; create /t/a; create /t/a/x 1; create /t/b 2; create /t/.data 3",
    );
    const folder = join(temporaryDirectory("files"), "t");
    const elsewhere = temporaryDirectory("files");
    mkdirSync(folder);
    symlinkSync(elsewhere, join(folder, "a"));
    symlinkSync(join(elsewhere, "b"), join(folder, "b"));
    const words = ["cp", "-r", "--on-conflict", "overwrite", "/t", `file:${folder}`];
    const { code, stderr } = await zksh(server, ...words);
    expect(code).toBe(8);
    for (const name of ["a", "a/x", "b", ".data"]) expect(stderr).toContain(`${folder}/${name}`);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  test.runIf(process.getuid?.() === 0)(
    "ends with 8 when the disk is full, and goes on later",
    async () => {
      const server = await freshChroot();
      const session = openFor(server);
      await session.create("/t", null);
      for (let i = 0; i < 20; i++) await session.create(`/t/${i}`, Buffer.alloc(100_000, "x"));
      const disk = join(temporaryDirectory("files"), "disk");
      mkdirSync(disk);
      execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=1m", "none", disk]);
      onTestFinished(() => void execFileSync("/bin/umount", [disk]));
      const words = ["cp", "-r", "/t", `file:${disk}/t`];
      const { code, stderr } = await zksh(server, ...words);
      expect([code, stderr]).toEqual([
        8,
        expect.stringMatching(/the copy is not complete: .*no space left on the device\n.*goes on/),
      ]);
      // What is there is whole.
      for (const name of readdirSync(`${disk}/t`))
        expect([name, readFileSync(`${disk}/t/${name}`).length]).toEqual([name, 100_000]);
      execFileSync("/bin/mount", ["-o", "remount,size=8m", disk]);
      expect(await zksh(server, ...words)).toMatchObject({ code: 0 });
      expect(await zksh(server, "diff", "/t", `file:${disk}/t`)).toMatchObject({ code: 0 });
    },
  );

  test.each([4, 12])("tells at Ctrl-C (chunk %i) how much is in the folder", async (chunk) => {
    const server = await freshChroot();
    const session = openFor(server);
    await session.create("/t", null);
    const ops = Array.from({ length: 5_000 }, (_, i) => ({
      op: "create" as const,
      path: `/t/${i}`,
    }));
    for (let at = 0; at < ops.length; at += 1_000)
      await session.multi(
        ops.slice(at, at + 1_000).map((op) => ({ ...op, data: Buffer.from("x") })),
      );
    const folder = join(temporaryDirectory("files"), "t");
    const address = sharedServer();
    const proxy = await startFaultProxy(Number(address.split(":")[1]));
    onTestFinished(() => proxy.close());
    const words = ["cp", "-r", "/t", `file:${folder}`];
    const run = startZksh(["-s", server.replace(address, proxy.address), ...words]);
    let chunks = 0;
    proxy.onBytes = (towards) => {
      if (towards === "to-client" && ++chunks === chunk) run.kill("SIGINT");
    };
    const { code, stderr } = await run.result;
    expect(code).toBe(130);
    const there = existsSync(folder) ? 1 + readdirSync(folder).length : 0;
    const [, told = "0"] = /interrupted: ([\d,]+) znodes? written/.exec(stderr) ?? [];
    expect([stderr, Number(told.replaceAll(",", ""))]).toEqual([stderr, there]);
    expect(await zksh(server, ...words)).toMatchObject({ code: 0 });
    expect(await zksh(server, "diff", "/t", `file:${folder}`)).toMatchObject({ code: 0 });
  });
});
