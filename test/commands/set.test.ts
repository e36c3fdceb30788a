import { describe, expect, test } from "vitest";
import { OperationError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const given = { "/a": "old" };
const BAD_VERSION = "error: /a is at version 0, not 7 (BadVersion)\n";

const rows: Row[] = [
  { name: "is silent in a pipe", argv: ["set", "/a", "x"], given },
  {
    name: "confirms on a terminal",
    argv: ["set", "/a", "x"],
    given,
    tty: true,
    stdout: "Changed /a (version 1)\n",
  },
  { name: "-q does not confirm", argv: ["-q", "set", "/a", "x"], given, tty: true },
  { name: "is silent as zkCli", argv: ["-o", "zkcli", "set", "/a", "x"], given },
  { name: "honours -v", argv: ["set", "-v", "7", "/a", "x"], given, stderr: BAD_VERSION, exit: 5 },
  {
    name: "honours -v after the data",
    argv: ["set", "/a", "x", "-v7"],
    given,
    stderr: BAD_VERSION,
    exit: 5,
  },
  { name: "honours -v=7", argv: ["set", "-v=7", "/a", "x"], given, stderr: BAD_VERSION, exit: 5 },
  {
    name: "honours a version as the last word",
    argv: ["set", "/a", "x", "7"],
    given,
    stderr: BAD_VERSION,
    exit: 5,
  },
  {
    name: "tells zkCli's users of a wrong version in zkCli's words",
    argv: ["-o", "zkcli", "set", "/a", "x", "7"],
    given,
    stderr: "version No is not valid : /a\n",
    exit: 5,
  },
  {
    name: "refuses two versions",
    argv: ["set", "-v", "1", "/a", "x", "2"],
    given,
    stderr: "error: two different versions: 1 and 2\n",
    exit: 2,
  },
  {
    name: "refuses a version that is no number",
    argv: ["set", "-v", "x", "/a", "x"],
    stderr:
      "error: bad version 'x'\n  use a whole number, like dataVersion in the output of stat\n",
    exit: 2,
  },
  {
    name: "suggests quotes if the version is not a number",
    argv: ["-c", 'set /a {"k": 1}'],
    stderr:
      "-c:1: error: bad version '1}'\n" +
      "  use a whole number, like dataVersion in the output of stat; data with spaces needs quotes\n",
    exit: 2,
  },
  {
    name: "suggests quotes for too many words",
    argv: ["set", "/a", "two", "more", "words"],
    stderr: "error: too many arguments\n  data with spaces needs quotes\n",
    exit: 2,
  },
  {
    name: "refuses data that is not base64",
    argv: ["set", "-b", "/a", "a?"],
    given,
    stderr: "error: the data is not valid base64\n",
    exit: 2,
  },
  {
    name: "refuses to write in read-only mode",
    argv: ["-r", "set", "/a", "x"],
    given,
    stderr:
      "error: set is refused: the session is read-only\n  leave out --read-only (-r) to allow writes\n",
    exit: 9,
  },
  {
    name: "explains a file that cannot be read",
    argv: ["set", "/a", "@nope"],
    given,
    stderr: "error: cannot read nope: no such file\n" + "  to store the text @nope, write @@nope\n",
    exit: 2,
  },
  {
    name: "leads to --create where the znode is missing",
    argv: ["set", "/b", "x"],
    stderr: "error: no such znode: /b (NoNode)\n  set --create creates the znode\n",
    exit: 3,
  },
  { name: "--create is silent in a pipe", argv: ["set", "--create", "/b", "x"] },
  {
    name: "--create confirms what it made",
    argv: ["set", "--create", "/b", "x"],
    tty: true,
    stdout: "Created /b\n",
  },
  {
    name: "--create confirms what it changed",
    argv: ["set", "--create", "/a", "x"],
    given,
    tty: true,
    stdout: "Changed /a (version 1)\n",
  },
  {
    name: "names the quota that is exceeded",
    argv: ["set", "/qq/b", "x"],
    given: {
      "/qq": "",
      "/qq/b": "",
      "/zookeeper": "",
      "/zookeeper/quota": "",
      "/zookeeper/quota/qq": "",
      "/zookeeper/quota/qq/zookeeper_limits": "",
    },
    failures: {
      "/qq/b": new OperationError("quota-exceeded", "quota exceeded: /qq/b (QuotaExceeded)", {
        code: -125,
        path: "/qq/b",
      }),
    },
    stderr: "error: quota exceeded: /qq/b (QuotaExceeded)\n  listquota /qq shows the limits\n",
    exit: 1,
  },
  {
    name: "--create does not make parents",
    argv: ["set", "--create", "/b/c", "x"],
    stderr:
      "error: cannot create /b/c: its parent /b does not exist (NoNode)\n  create -p creates missing parents too\n",
    exit: 3,
  },
  {
    name: "--create excludes -v",
    argv: ["set", "--create", "-v", "3", "/a", "x"],
    given,
    stderr: "error: -v cannot be combined with --create\n",
    exit: 2,
  },
];

const contents = [
  { name: "text", words: ["x"], data: "x" },
  { name: "no bytes", words: [""], data: "" },
  { name: "any version", words: ["x", "-v", "-1"], data: "x" },
  { name: "the right version", words: ["x", "0"], data: "x" },
  { name: "@file behind -- as text", words: ["--", "@/etc/passwd"], data: "@/etc/passwd" },
  { name: "- behind -- as text", words: ["--", "-"], stdin: "in", data: "-" },
  { name: "@@x behind -- as text", words: ["--", "@@x"], data: "@@x" },
  {
    name: "@file with --literal as text",
    words: ["--literal", "@/etc/passwd"],
    data: "@/etc/passwd",
  },
  {
    name: "@file with --literal behind it as text",
    words: ["@/etc/passwd", "--literal"],
    data: "@/etc/passwd",
  },
  {
    name: "- with --literal as text",
    words: ["--literal", "-v", "-1", "-"],
    stdin: "in",
    data: "-",
  },
  { name: "base64", words: ["-b", "aGkh"], data: "hi!" },
  { name: "base64 from stdin, in lines", words: ["-b", "-"], stdin: "aG\nkh\n", data: "hi!" },
];

describe("set", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test.each(contents)("stores $name", async ({ words, data, stdin = "" }) => {
    const { session, exit } = await run(["set", "/a", ...words], { given, stdin });
    expect({ exit, data: session.dataOf("/a") }).toEqual({ exit: 0, data });
  });

  test("-- before the path makes data literal too, and -o zkcli always does", async () => {
    for (const argv of [
      ["set", "--", "/a", "@/etc/passwd"],
      ["-c", "set /a -- @/etc/passwd"],
      ["-o", "zkcli", "set", "/a", "@/etc/passwd"],
    ]) {
      const { session, exit } = await run(argv, { given });
      expect([argv, exit, session.dataOf("/a")]).toEqual([argv, 0, "@/etc/passwd"]);
    }
    const { session } = await run(["set", "/a", "-"], {
      given,
      stdin: "in",
      programName: "zkCli.sh",
    });
    expect(session.dataOf("/a")).toBe("-");
  });

  test("-s writes the new stat", async () => {
    const { stdout } = await run(["set", "-s", "/a", "xy"], { given });
    expect(stdout).toMatch(
      /^cZxid = 0x2\n.*\nmZxid = 0x3\n(.*\n){3}dataVersion = 1\n(.*\n){2}dataLength = 2\n.*\n$/,
    );
  });

  test("JSON has the new stat", async () => {
    const { stdout } = await run(["--json", "set", "/a", "xy"], { given });
    expect(JSON.parse(stdout)).toMatchObject({ path: "/a", stat: { version: 1, dataLength: 2 } });
  });

  test("--create makes the znode with the data", async () => {
    const { session, stdout } = await run(["--json", "set", "--create", "/b", "x"]);
    expect(session.dataOf("/b")).toBe("x");
    expect(JSON.parse(stdout)).toMatchObject({ path: "/b", stat: { version: 0 }, created: true });
  });

  test("--create succeeds if another client creates the znode first", async () => {
    const session = new StubSession();
    const answer = session.create2.bind(session);
    session.create2 = async (path, data, options) => {
      await session.create(path, null);
      return answer(path, data, options);
    };
    const { exit } = await run(["set", "--create", "/b", "x"], { session });
    expect([exit, session.dataOf("/b")]).toEqual([0, "x"]);
  });

  test("reads stdin before its request, and says goodbye in the same flight", async () => {
    const { session } = await run(["set", "/a", "-"], { given, stdin: "x" });
    expect(session.asked.slice(0, 2)).toEqual(["setData /a", "close"]);
  });
});
