import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  {
    name: "prints the leader or runs a command, not both",
    argv: ["elect", "--leader", "/scheduler", "--", "true"],
    stderr: "error: --observe and --leader cannot be combined with each other or with a command\n",
    exit: 125,
  },
  {
    name: "--leader and --observe exclude each other",
    argv: ["elect", "--leader", "--observe", "/scheduler"],
    stderr: "error: --observe and --leader cannot be combined with each other or with a command\n",
    exit: 125,
  },
];

describe("elect", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
