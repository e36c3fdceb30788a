import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { removeDirectory, temporaryDirectory } from "./tracked-process.ts";

const VITEST = join(import.meta.dirname, "../../node_modules/vitest/vitest.mjs");
const REPORTER = join(import.meta.dirname, "reporter.ts");

let root: string;

beforeEach(() => {
  root = temporaryDirectory("reporter");
});

afterEach(() => {
  removeDirectory(root);
});

/** Runs vitest on files made of the given texts; gives its last line. */
function lastLine(...texts: string[]): string | undefined {
  texts.forEach((text, index) => {
    writeFileSync(join(root, `${index}.test.js`), text);
  });
  const args = ["run", "--root", root, "--globals", "--reporter=default", `--reporter=${REPORTER}`];
  return spawnSync(process.execPath, [VITEST, ...args], { encoding: "utf8" })
    .stdout.trimEnd()
    .split("\n")
    .at(-1);
}

test("counts tests that passed, and names no counts of zero", () => {
  expect(lastLine(`test("a", () => {}); describe("b", () => { test("c", () => {}); });`)).toBe(
    "2 passed, 0 failed",
  );
});

test("counts failures of every kind", () => {
  const line = lastLine(
    `test("passes", () => {}); test("fails", () => { throw new Error("no"); }); test.skip("is skipped", () => {});`,
    `import "./missing.js";`,
    `test("leaves a rejection behind", () => { Promise.reject(new Error("unhandled")); });`,
    `describe("hook", () => { beforeAll(() => { throw new Error("no"); }); test("never runs", () => {}); });`,
  );
  expect(line).toBe("2 passed, 4 failed, 2 skipped");
});

test("does not look green when there was nothing to run", () => {
  expect(lastLine()).toBe("0 passed, 1 failed");
});

test("comes last, and does not look green, when the run cannot begin", () => {
  writeFileSync(join(root, "setup.js"), `export function setup() { throw new Error("no"); }`);
  writeFileSync(
    join(root, "vitest.config.js"),
    `export default { test: { globalSetup: "./setup.js" } };`,
  );
  expect(lastLine(`test("a", () => {});`)).toBe("0 passed, 1 failed");
});
