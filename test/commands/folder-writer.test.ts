import { expect, test } from "vitest";
import { FolderWriter } from "../../src/commands/folder-writer.ts";
import { memoryIo } from "./memory-io.ts";

test("names of znodes that would lead out of the folder are never written", async () => {
  const written: string[] = [];
  const files = {
    ...memoryIo().files,
    async kind() {
      return undefined;
    },
    async write(path: string) {
      written.push(path);
    },
    async makeFolder() {
      return true;
    },
  };
  const { signal } = new AbortController();
  const writer = new FolderWriter(files, "out", { signal, onConflict: "overwrite", dryRun: false });
  const data = Buffer.from("x");
  const paths = ["", "/.", "/..", "/../up", "/a", "/a/..", "/a/b\0c", "/ok"];
  await writer.add(paths.map((path) => ({ path, data })));
  const { created, failures } = await writer.finish();
  expect(written.sort()).toEqual(["out/.data", "out/a/.data", "out/ok"]);
  expect([created, failures.map(({ path }) => path)]).toEqual([
    3,
    ["out/.", "out/..", "out/../up", "out/a/..", "out/a/b\0c"],
  ]);
});
