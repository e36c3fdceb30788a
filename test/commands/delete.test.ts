import { describe, expect, test } from "vitest";
import { OperationError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";

const given = { "/a": "", "/a/b": "" };
const badVersion = (expected: number) =>
  `error: /a/b is at version 0, not ${expected} (BadVersion)\n`;

const rows: Row[] = [
  { name: "is silent in a pipe", argv: ["delete", "/a/b"], given },
  {
    name: "confirms on a terminal",
    argv: ["delete", "/a/b"],
    given,
    tty: true,
    stdout: "Deleted /a/b\n",
  },
  {
    name: "JSON has the path",
    argv: ["--json", "delete", "/a/b"],
    given,
    stdout: '{"path":"/a/b"}\n',
  },
  { name: "is silent as zkCli", argv: ["-o", "zkcli", "delete", "/a/b"], given },
  {
    name: "honours -v",
    argv: ["delete", "/a/b", "-v", "7"],
    given,
    stderr: badVersion(7),
    exit: 5,
  },
  {
    name: "honours a version as the last word",
    argv: ["delete", "/a/b", "99"],
    given,
    stderr: badVersion(99),
    exit: 5,
  },
  { name: "deletes several, in their order", argv: ["delete", "/a/b", "/a"], given },
  {
    name: "confirms each of several on a terminal",
    argv: ["delete", "/a/b", "/a"],
    given,
    tty: true,
    stdout: "Deleted /a/b\nDeleted /a\n",
  },
  {
    name: "names what it could not delete, and deletes the others",
    argv: ["delete", "/x", "/a/b"],
    given,
    tty: true,
    stdout: "Deleted /a/b\n",
    stderr: "error: no such znode: /x (NoNode)\nerror: 1 of 2 znodes could not be deleted\n",
    exit: 8,
  },
  {
    name: "has the failures' own exit code where all failed alike",
    argv: ["delete", "/x", "/y"],
    given,
    stderr: "error: no such znode: /x (NoNode)\nerror: no such znode: /y (NoNode)\n",
    exit: 3,
  },
  {
    name: "has exit code 8 where all failed, each in its way",
    argv: ["delete", "/x", "/a"],
    given,
    stderr:
      "error: no such znode: /x (NoNode)\nerror: znode has children: /a (NotEmpty)\n" +
      "error: 2 of 2 znodes could not be deleted\n",
    exit: 8,
  },
  {
    name: "does not take a number among several paths for a path",
    argv: ["delete", "/a/b", "/a", "3"],
    given,
    stderr:
      "error: '3' could be a version or a path\n  write -v 3 for the version, ./3 for the path\n",
    exit: 2,
  },
  {
    name: "ignores further words as zkCli",
    argv: ["-o", "zkcli", "delete", "/a/b", "x", "/a"],
    given,
  },
  {
    name: "JSON has the version that was expected, and asks no server again",
    argv: ["--json", "delete", "/a/b", "-v", "7"],
    given,
    stderr:
      '{"error":{"reason":"bad-version","message":"/a/b is not at version 7 (BadVersion)","exitCode":5,"code":-103,"path":"/a/b",' +
      '"hint":"stat shows the present version"}}\n',
    exit: 5,
  },
  {
    name: "says that the root has to stay",
    argv: ["delete", "/"],
    failures: {
      "/": new OperationError("bad-arguments", "bad arguments: / (BadArguments)", {
        code: -8,
        path: "/",
      }),
    },
    stderr: "error: / cannot be deleted\n",
    exit: 1,
  },
  {
    name: "does not delete what has children",
    argv: ["delete", "/a"],
    given,
    stderr:
      "error: znode has children: /a (NotEmpty)\n  deleteall deletes a znode and everything below it\n",
    exit: 5,
  },
  {
    name: "tells zkCli's users in zkCli's words",
    argv: ["-o", "zkcli", "delete", "/a"],
    given,
    stderr: "Node not empty: /a\n",
    exit: 5,
  },
  {
    name: "refuses to write in read-only mode",
    argv: ["--read-only", "delete", "/a/b"],
    given,
    stderr:
      "error: delete is refused: the session is read-only\n  leave out --read-only (-r) to allow writes\n",
    exit: 9,
  },
];

describe("delete", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("deletes, and says goodbye in the same flight", async () => {
    const { session } = await run(["delete", "/a/b", "0"], { given });
    expect(session.asked.slice(0, 2)).toEqual(["delete /a/b", "close"]);
    expect(session.dataOf("/a/b")).toBeUndefined();
  });
});
