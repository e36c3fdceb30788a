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
  {
    name: "says it in JSON",
    argv: ["exists", "/a", "--json"],
    given,
    stdout: '{"path":"/a","exists":true}\n',
  },
  {
    name: "says of each of several whether it exists",
    argv: ["exists", "/a", "/b"],
    given,
    stdout: "/a\ttrue\n/b\tfalse\n",
    exit: 1,
  },
  {
    name: "says it of several in words on a terminal",
    argv: ["exists", "/b", "/a"],
    given,
    tty: true,
    stdout: "/b does not exist\n/a exists\n",
    exit: 1,
  },
  { name: "says yes where all of several exist", argv: ["-q", "exists", "/a", "/"], given },
  {
    name: "refuses a bad path",
    argv: ["exists", "/a//b"],
    stderr: "error: /a//b: a path cannot contain //\n",
    exit: 2,
  },
];

describe("exists", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
