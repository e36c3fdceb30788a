import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const given = { "/a": "", "/a/b": "" };
const BAD_VERSION = "error: the version does not match: /a/b (BadVersion)\n  stat shows the version it has now\n";

const rows: Row[] = [
  { name: "is silent in a pipe", argv: ["delete", "/a/b"], given },
  { name: "confirms on a terminal", argv: ["delete", "/a/b"], given, tty: true, stdout: "Deleted /a/b\n" },
  { name: "JSON has the path", argv: ["--json", "delete", "/a/b"], given, stdout: '{"path":"/a/b"}\n' },
  { name: "is silent as zkCli", argv: ["-o", "zkcli", "delete", "/a/b"], given },
  { name: "honours -v", argv: ["delete", "/a/b", "-v", "7"], given, stderr: BAD_VERSION, exit: 5 },
  { name: "honours a version as the last word", argv: ["delete", "/a/b", "99"], given, stderr: BAD_VERSION, exit: 5 },
  {
    name: "does not delete what has children",
    argv: ["delete", "/a"],
    given,
    stderr: "error: znode has children: /a (NotEmpty)\n  deleteall deletes a znode and everything below it\n",
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
    stderr: "error: delete would write, and this is a read-only session\n  leave out --read-only (-r) to write\n",
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
