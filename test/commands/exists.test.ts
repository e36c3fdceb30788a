import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const given = { "/a": "x" };

const rows: Row[] = [
  { name: "says yes by its exit code", argv: ["exists", "/a"], given },
  { name: "says no by its exit code", argv: ["exists", "/b"], given, exit: 1 },
  {
    name: "says it in words on a terminal",
    argv: ["exists", "/b"],
    given,
    tty: true,
    stdout: "/b does not exist\n",
    exit: 1,
  },
  { name: "says it in JSON", argv: ["exists", "/a", "--json"], given, stdout: '{"path":"/a","exists":true}\n' },
  {
    name: "refuses a bad path",
    argv: ["exists", "/a/"],
    stderr: "error: Path must not end with / character\n",
    exit: 2,
  },
];

describe("exists", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
