import { describe, expect, test } from "vitest";
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
    name: "begins each of several with its path in a pipe",
    argv: ["stat", "/a", "/x", "/a"],
    given: { "/a": "hello", "/a/b": "" },
    stdout: `path = /a\n${lines("2026-11-16T04:42:11.000Z")}`.repeat(2),
    stderr: "error: no such znode: /x (NoNode)\nerror: 1 of 3 znodes could not be read\n",
    exit: 8,
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
    stderr:
      "error: a one-shot command ends before a watch could fire\n  -w works only inside the shell; watch PATH keeps running\n",
    exit: 2,
  },
];

describe("stat", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("writes readable times to a terminal", async () => {
    const { stdout } = await run(["stat", "/a"], {
      given: { "/a": "hello", "/a/b": "" },
      tty: true,
    });
    const time = new Date(MADE_AT).toISOString().slice(0, 19).replace("T", " ");
    expect(stdout).toContain(`\nctime          = ${time} +00:00 (`);
    expect(stdout.split("\n").filter((line) => line[15] === "=")).toHaveLength(11);
  });

  test("puts the path above each of several on a terminal", async () => {
    const { stdout } = await run(["stat", "/a", "/a/b"], {
      given: { "/a": "hello", "/a/b": "" },
      tty: true,
    });
    expect(stdout).toMatch(/^\/a\n.+\n\/a\/b\n.+\n$/s);
  });

  test("says goodbye in the same flight as its request", async () => {
    const { session } = await run(["stat", "/a"], { given: { "/a": "x" } });
    expect(session.asked.slice(0, 2)).toEqual(["exists /a", "close"]);
  });
});
