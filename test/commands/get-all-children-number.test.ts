import { describe, expect, test } from "vitest";
import { PermissionError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const given = { "/a": "", "/a/b": "", "/a/b/c": "", "/a/d": "", "/e": "" };

const rows: Row[] = [
  { name: "writes a number", argv: ["getAllChildrenNumber", "/a"], given, stdout: "3\n" },
  {
    name: "writes a number to a terminal",
    argv: ["getAllChildrenNumber", "/a"],
    given,
    tty: true,
    stdout: "3\n",
  },
  {
    name: "writes a number as zkCli",
    argv: ["-o", "zkcli", "getAllChildrenNumber", "/a"],
    given,
    stdout: "3\n",
  },
  {
    name: "JSON",
    argv: ["--json", "getAllChildrenNumber", "/a"],
    given,
    stdout: '{"path":"/a","count":3}\n',
  },
  {
    name: "reports a missing znode with exit code 3",
    argv: ["getAllChildrenNumber", "/x"],
    stderr: "error: no such znode: /x (NoNode)\n",
    exit: 3,
  },
];

function oldServer(failures: Record<string, Error> = {}): StubSession {
  const session = new StubSession(given, failures);
  session.isOld = true;
  return session;
}

describe("getAllChildrenNumber", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("walks where the server cannot count", async () => {
    const { stdout } = await run(["getAllChildrenNumber", "/a"], { session: oldServer() });
    expect(stdout).toBe("3\n");
  });

  test("a walk that may not see everything is no count", async () => {
    const refused = new PermissionError("no-auth", "not permitted: /a/b (NoAuth)", {
      code: -102,
      path: "/a/b",
    });
    const { stdout, stderr, exit } = await run(["getAllChildrenNumber", "/a"], {
      session: oldServer({ "/a/b": refused }),
    });
    expect([stdout, stderr, exit]).toEqual([
      "",
      "error: could not count below /a/b\n  not permitted: /a/b (NoAuth)\n",
      8,
    ]);
  });
});
