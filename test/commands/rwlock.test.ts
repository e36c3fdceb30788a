import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  {
    name: "needs read or write",
    argv: ["rwlock", "share", "/db", "--", "true"],
    stderr:
      "error: expected read or write, got 'share'\n  use rwlock read PATH or rwlock write PATH\n",
    exit: 125,
  },
  {
    name: "takes one path",
    argv: ["rwlock", "read", "/a", "/b", "--", "true"],
    stderr:
      "error: too many arguments\n  rwlock [-n] [-w dur] [--explain] side path [-- program...]\n",
    exit: 125,
  },
];

describe("rwlock", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
