import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  {
    name: "wants a limit",
    argv: ["sem", "/backup", "--", "true"],
    stderr: "error: sem needs --limit\n  sem --limit 3 PATH [-- COMMAND...]\n",
    exit: 125,
  },
  {
    name: "knows what can never be had",
    argv: ["sem", "--limit", "2", "-k", "3", "/backup", "--", "true"],
    stderr: "error: cannot take 3 permits: the limit is 2\n",
    exit: 125,
  },
  {
    name: "counts from one",
    argv: ["sem", "--limit", "0", "/backup", "--", "true"],
    stderr: "error: bad number of permits '0'\n  use a whole number from 1 on\n",
    exit: 125,
  },
];

describe("sem", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
