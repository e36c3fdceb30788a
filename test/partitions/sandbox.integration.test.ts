import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

test("what is missing for the partition tests is one sentence and exit code 1, never a silent skip", () => {
  const noTools = temporaryDirectory("path");
  onTestFinished(() => removeDirectory(noTools));
  const program = ["--import", import.meta.resolve("tsx"), join(import.meta.dirname, "main.ts")];
  const { status, stdout, stderr } = spawnSync(process.execPath, program, {
    env: { ...process.env, PATH: noTools },
    encoding: "utf8",
  });
  expect(stderr).toMatch(/^The partition tests need .+\.\n$/);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
});
