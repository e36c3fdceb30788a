import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const given = { "/a": "x", "/b": "y" };
const hint = "  history shows the numbers\n";

const rows: Row[] = [
  {
    name: "runs a line by its number",
    argv: ["-c", "get /a; get /b; redo 0"],
    given,
    stdout: "xyx",
  },
  {
    name: "runs the last line without one",
    argv: ["-c", "get /a; get /b; redo"],
    given,
    stdout: "xyy",
  },
  {
    name: "reads hex and octal, as zkCli",
    argv: ["-c", "get /a; get /b; redo 0x1; redo 00"],
    given,
    stdout: "xyyx",
  },
  {
    name: "leaves the line in the history, not itself",
    argv: ["-c", "get /a; redo 0; history"],
    given,
    stdout: "xx0 - get /a\n1 - get /a\n2 - history\n",
  },
  {
    name: "has no such line",
    argv: ["redo", "0"],
    stderr: `error: Command index out of range\n${hint}`,
    exit: 2,
  },
  {
    name: "does not run itself",
    argv: ["-c", "pwd; redo 1"],
    stdout: "/\n",
    stderr: `-c:1: error: Command index out of range\n${hint}`,
    exit: 2,
  },
  {
    name: "refuses a word that is not a number",
    argv: ["redo", "x"],
    stderr: `error: bad line number 'x'\n${hint}`,
    exit: 2,
  },
];

describe("redo", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
