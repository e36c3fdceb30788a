import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const twelve = Array.from({ length: 12 }, () => "pwd").join(";");

const rows: Row[] = [
  { name: "is empty alone", argv: ["history"] },
  {
    name: "shows the lines with their numbers",
    argv: ["-c", "pwd; history"],
    stdout: "/\n0 - pwd\n1 - history\n",
  },
  {
    name: "shows the last eleven",
    argv: ["-c", `${twelve}; history`],
    stdout: `${"/\n".repeat(12)}${[2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => `${n} - pwd\n`).join("")}12 - history\n`,
  },
  { name: "or as many as asked for", argv: ["-c", "pwd; history 1"], stdout: "/\n1 - history 1\n" },
  { name: "in JSON", argv: ["--json", "-c", "history"], stdout: '{"number":0,"line":"history"}\n' },
  { name: "as zkCli", argv: ["-o", "zkcli", "-c", "history"], stdout: "0 - history\n" },
  {
    name: "refuses a bad count",
    argv: ["history", "x"],
    stderr: "error: bad count 'x'\n  use a whole number\n",
    exit: 2,
  },
];

describe("history", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
