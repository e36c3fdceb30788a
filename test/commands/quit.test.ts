import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  { name: "ends a script", argv: ["-c", "pwd; quit; pwd"], stdout: "/\n" },
  { name: "is called exit too", argv: ["-c", "pwd; exit; pwd"], stdout: "/\n" },
  { name: "does nothing alone", argv: ["quit"] },
];

describe("quit", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
