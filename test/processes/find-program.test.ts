import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findProgram } from "../../src/processes/find-program.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

const directory = temporaryDirectory("find-program");
const first = join(directory, "first");
const second = join(directory, "second");

for (const path of [first, second, join(first, "folder")]) mkdirSync(path);
for (const path of [
  join(second, "tool"),
  join(second, "twice"),
  join(first, "plain"),
  join(first, "twice"),
]) {
  writeFileSync(path, "#!/bin/sh\n");
}
chmodSync(join(second, "tool"), 0o755);
chmodSync(join(second, "twice"), 0o755);

afterAll(() => removeDirectory(directory));

describe("findProgram", () => {
  const PATH = `${first}:${second}`;

  test.each([
    { what: "a name in PATH", name: "tool", found: { kind: "found", path: join(second, "tool") } },
    { what: "a name that is not there", name: "nothing", found: { kind: "not-found" } },
    { what: "no name at all", name: "", found: { kind: "not-found" } },
    {
      what: "a file that may not be run",
      name: "plain",
      found: { kind: "not-executable", path: join(first, "plain") },
    },
    {
      what: "a directory",
      name: "folder",
      found: { kind: "not-executable", path: join(first, "folder") },
    },
    {
      what: "one that may be run behind one that may not",
      name: "twice",
      found: { path: join(second, "twice") },
    },
    {
      what: "a path",
      name: join(second, "tool"),
      found: { kind: "found", path: join(second, "tool") },
    },
    {
      what: "a path to a directory",
      name: directory,
      found: { kind: "not-executable", path: directory },
    },
    { what: "a path to nothing", name: `${first}/nothing`, found: { kind: "not-found" } },
    { what: "a path through a file", name: `${first}/plain/tool`, found: { kind: "not-found" } },
  ])("finds $what", async ({ name, found }) => {
    expect(await findProgram(name, { PATH })).toMatchObject(found);
  });

  test("looks for a name with a slash only where it says", async () => {
    expect(await findProgram("./tool", { PATH })).toEqual({ kind: "not-found" });
  });

  test("takes an empty part of PATH for the current directory", async () => {
    const here = process.cwd();
    process.chdir(second);
    try {
      expect(await findProgram("tool", { PATH: `${first}:` })).toEqual({
        kind: "found",
        path: "./tool",
      });
    } finally {
      process.chdir(here);
    }
  });

  test("has a PATH when there is none", async () => {
    expect(await findProgram("sh", {})).toMatchObject({ kind: "found" });
  });
});
