import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { PrivateFolder } from "../../src/io/private-folder.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

const OTHER_USER = 65_534;
let parent: string;
let path: string;

beforeEach(() => {
  parent = temporaryDirectory("private");
  path = join(parent, "state/undo");
  return () => removeDirectory(parent);
});

async function write(text: string, name = "a"): Promise<void> {
  const draft = await new PrivateFolder(path).create(name);
  await draft.write(text);
  await draft.close();
}

describe("PrivateFolder", () => {
  test("has mode 0700, and its files 0600", async () => {
    await write("secret");
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(path, "a")).mode & 0o777).toBe(0o600);
    expect(await new PrivateFolder(path).read("a")).toBe("secret");
  });

  test("is refused where others can enter it", async () => {
    mkdirSync(path, { recursive: true });
    chmodSync(path, 0o755);
    await expect(write("secret")).rejects.toThrow(`other users can enter ${path}`);
    expect(existsSync(join(path, "a"))).toBe(false);
  });

  test("is refused where it belongs to another user", async () => {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chownSync(path, OTHER_USER, OTHER_USER);
    await expect(write("secret")).rejects.toThrow(`${path} is not a folder of this user`);
  });

  test("is refused where a link is in its place", async () => {
    mkdirSync(join(parent, "state"));
    mkdirSync(join(parent, "elsewhere"), { mode: 0o700 });
    symlinkSync(join(parent, "elsewhere"), path);
    await expect(write("secret")).rejects.toThrow(`${path} is not a folder of this user`);
    expect(existsSync(join(parent, "elsewhere/a"))).toBe(false);
  });

  test("follows no link in place of a new file", async () => {
    await write("mine", "first");
    const target = join(parent, "target");
    writeFileSync(target, "theirs");
    symlinkSync(target, join(path, "a"));
    await expect(write("secret")).rejects.toThrow("EEXIST");
    expect(readFileSync(target, "utf8")).toBe("theirs");
  });

  test("reads no file of another user", async () => {
    await write("planted");
    chownSync(join(path, "a"), OTHER_USER, OTHER_USER);
    await expect(new PrivateFolder(path).read("a")).rejects.toThrow("belongs to another user");
  });
});
