import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { cannotWrite, writeWhole } from "../../src/io/whole-file.ts";
import { rejection } from "../support/open-session.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

const isRoot = process.getuid?.() === 0;
const OTHER_USER = 65_534;

let directory: string;
let file: string;
let victim: string;

beforeEach(() => {
  directory = temporaryDirectory("whole");
  onTestFinished(() => removeDirectory(directory));
  file = join(directory, "status");
  victim = join(directory, "victim");
  writeFileSync(victim, "precious");
});

/** A pipe that is open for reading. */
function openPipe(path: string): { read(): string } {
  execFileSync("mkfifo", [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(fd));
  return {
    read() {
      const bytes = Buffer.alloc(100);
      return bytes.toString("utf8", 0, readSync(fd, bytes));
    },
  };
}

describe("writeWhole", () => {
  test("replaces a link, and leaves the file alone that it leads to", async () => {
    symlinkSync(victim, file);
    await writeWhole(file, "new");
    expect([readFileSync(victim, "utf8"), readFileSync(file, "utf8")]).toEqual(["precious", "new"]);
    expect(lstatSync(file).isSymbolicLink()).toBe(false);
  });

  test("writes through no link that waits under a name that can be guessed", async () => {
    symlinkSync(victim, `${file}.${process.pid}.tmp`);
    await writeWhole(file, "new");
    expect([readFileSync(victim, "utf8"), readFileSync(file, "utf8")]).toEqual(["precious", "new"]);
  });

  test.each([0o600, 0o640, 0o664])("keeps mode %o", async (mode) => {
    writeFileSync(file, "old");
    chmodSync(file, mode);
    await writeWhole(file, "new");
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual(["new", mode]);
  });

  test("leaves no draft behind, whether it succeeds or not", async () => {
    await writeWhole(file, "new");
    await rejection(writeWhole(directory, "new"));
    expect(readdirSync(directory).sort()).toEqual(["status", "victim"]);
  });

  test("writes into a pipe, also through a link of our own", async () => {
    const pipe = openPipe(file);
    await writeWhole(file, "direct");
    expect(pipe.read()).toBe("direct");
    const link = join(directory, "link");
    symlinkSync(file, link);
    await writeWhole(link, "linked");
    expect([pipe.read(), lstatSync(link).isSymbolicLink()]).toEqual(["linked", true]);
  });

  test.runIf(isRoot)("replaces a link of another user, also one that leads to a pipe", async () => {
    const path = join(directory, "pipe");
    openPipe(path);
    symlinkSync(path, file);
    lchownSync(file, OTHER_USER, OTHER_USER);
    await writeWhole(file, "new");
    expect(lstatSync(file).isFile()).toBe(true);
    expect(readFileSync(file, "utf8")).toBe("new");
  });

  test.runIf(isRoot)("refuses the pipe of another user in a directory that all share", async () => {
    openPipe(file);
    lchownSync(file, OTHER_USER, OTHER_USER);
    chmodSync(directory, 0o1777);
    expect(String(await rejection(writeWhole(file, "new")))).toContain("is another user's pipe");
    expect(await cannotWrite(file)).toContain("is another user's pipe");
    chmodSync(directory, 0o755);
    await writeWhole(file, "new");
  });

  test("adds to an open file that is named by its descriptor, and replaces no link of the system", async () => {
    const fd = openSync(victim, "a");
    onTestFinished(() => closeSync(fd));
    await writeWhole(`/dev/fd/${fd}`, ", more");
    await writeWhole(`/proc/self/fd/${fd}`, " and more");
    expect(readFileSync(victim, "utf8")).toBe("precious, more and more");
  });
});

describe("cannotWrite", () => {
  test("says what stands in the way, and nothing where a link would be replaced", async () => {
    symlinkSync(victim, file);
    expect(await cannotWrite(file)).toBeUndefined();
    expect(await cannotWrite(directory)).toBe(`${directory} is a directory`);
    expect(await cannotWrite(join(directory, "no", "file"))).toContain("ENOENT");
  });
});
