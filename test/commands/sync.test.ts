import { describe, expect, test } from "vitest";
import { ConnectionError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";

const failures = {
  "/a": new ConnectionError("connection-loss", "the connection was lost", { code: -4, path: "/a" }),
};

const rows: Row[] = [
  { name: "is silent in a pipe", argv: ["sync", "/a"] },
  { name: "confirms on a terminal", argv: ["sync", "/a"], tty: true, stdout: "Sync is OK\n" },
  { name: "confirms as zkCli", argv: ["-o", "zkcli", "sync", "/a"], stdout: "Sync is OK\n" },
  { name: "JSON has the path", argv: ["--json", "sync", "/a"], stdout: '{"path":"/a"}\n' },
  {
    name: "fails with a reason",
    argv: ["sync", "/a"],
    failures,
    stderr:
      "error: the connection was lost\n" +
      "  the servers closed the connection, or the network failed; --debug shows the connections\n",
    exit: 6,
  },
  {
    name: "fails on stdout as zkCli, but with an exit code",
    argv: ["-o", "zkcli", "sync", "/a"],
    failures,
    stdout: "Sync has failed. rc=-4\n",
    exit: 6,
  },
];

describe("sync", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("says goodbye in the same flight as its request", async () => {
    const { session } = await run(["sync", "/a"]);
    expect(session.asked.slice(0, 2)).toEqual(["sync /a", "close"]);
  });
});
