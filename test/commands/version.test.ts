import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

const rows: Row[] = [
  { name: "writes name and version", argv: ["version"], stdout: `zksh ${version}\n` },
  { name: "is also --version", argv: ["--version"], stdout: `zksh ${version}\n` },
  { name: "JSON", argv: ["--version", "--json"], stdout: `{"version":"${version}"}\n` },
  {
    name: "as zkCli",
    argv: ["-o", "zkcli", "version"],
    stdout: `ZooKeeper CLI version: zksh-${version}\n`,
  },
  {
    name: "takes no words",
    argv: ["version", "x"],
    stderr: "error: too many arguments\n  version\n",
    exit: 2,
  },
];

describe("version", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("asks no server", async () => {
    expect((await run(["version"])).opened).toEqual([]);
  });
});
