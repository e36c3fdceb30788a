import { describe, expect, test } from "vitest";
import { readableTime } from "../../src/render/stat.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { MADE_AT } from "./stub-session.ts";

process.env.TZ = "UTC";

const lines = (time: string) => `\
cZxid = 0x2
ctime = ${time}
mZxid = 0x2
mtime = ${time}
pZxid = 0x3
cversion = 1
dataVersion = 0
aclVersion = 0
ephemeralOwner = 0x0
dataLength = 5
numChildren = 1
`;

const rows: Row[] = [
  {
    name: "writes eleven lines with UTC times to a pipe",
    argv: ["stat", "/a"],
    given: { "/a": "hello", "/a/b": "" },
    stdout: lines("2026-11-16T04:42:11.000Z"),
  },
  {
    name: "writes zkCli's block with Java's times",
    argv: ["stat", "/a", "--output", "zkcli"],
    given: { "/a": "hello", "/a/b": "" },
    stdout: lines("Mon Nov 16 04:42:11 UTC 2026"),
  },
  {
    name: "reports a missing znode with exit code 3",
    argv: ["stat", "/a"],
    stderr: "error: no such znode: /a (NoNode)\n",
    exit: 3,
  },
  {
    name: "refuses to watch",
    argv: ["stat", "-w", "/a"],
    stderr: "error: a one-shot command ends before a watch could fire\n  -w works inside the shell\n",
    exit: 2,
  },
];

describe("stat", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("writes readable times to a terminal", async () => {
    const { stdout } = await run(["stat", "/a"], { given: { "/a": "hello", "/a/b": "" }, tty: true });
    expect(stdout).toBe(lines(readableTime(MADE_AT, Date.now())));
  });

  test("says goodbye in the same flight as its request", async () => {
    const { session } = await run(["stat", "/a"], { given: { "/a": "x" } });
    expect(session.asked.slice(0, 2)).toEqual(["exists /a", "close"]);
  });
});
