import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  { name: "needs no session as a one-shot", argv: ["close"] },
  { name: "says so on a terminal", argv: ["close"], tty: true, stdout: "Closed the session\n" },
  { name: "in JSON", argv: ["--json", "close"], stdout: '{"closed":true}\n' },
  {
    name: "leaves no session until connect",
    argv: ["--keep-going", "-c", "close; ls /; connect; ls /"],
    given: { "/a": "" },
    stdout: "a\n",
    stderr: "-c:1: error: not connected\n  connect opens a new session\n",
    exit: 8,
  },
];

describe("close", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
