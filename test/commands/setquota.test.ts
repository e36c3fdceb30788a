import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const given = { "/zookeeper": "", "/zookeeper/quota": "", "/a": "x", "/a/b": "y", "/a/b/c": "" };
const LIMITS = "/zookeeper/quota/a/zookeeper_limits";
const USAGE = "/zookeeper/quota/a/zookeeper_stats";
const quotaOn = (path: string, limits = "count=5,bytes=-1", usage = "count=3,bytes=2") => ({
  ...given,
  ...Object.fromEntries(
    path
      .split("/")
      .slice(1)
      .map((_, index, names) => [`/zookeeper/quota/${names.slice(0, index + 1).join("/")}`, ""]),
  ),
  [`/zookeeper/quota${path}/zookeeper_limits`]: limits,
  [`/zookeeper/quota${path}/zookeeper_stats`]: usage,
});

const rows: Row[] = [
  { name: "is silent in a pipe", argv: ["setquota", "-n", "9", "/a"], given },
  {
    name: "confirms on a terminal",
    argv: ["setquota", "-n", "9", "/a"],
    given,
    tty: true,
    stdout: "Changed the quota of /a\n",
  },
  { name: "is silent as zkCli", argv: ["-o", "zkcli", "setquota", "-n", "9", "/a"], given },
  {
    name: "JSON has the limits and the usage",
    argv: ["--json", "setquota", "-n", "2", "/a"],
    given: quotaOn("/a"),
    stdout:
      '{"path":"/a","limits":{"count":2,"bytes":null,"countHardLimit":null,"byteHardLimit":null},' +
      '"usage":{"count":3,"bytes":2},"exceeded":["count"]}\n',
  },
  {
    name: "warns of a limit that is passed already",
    argv: ["setquota", "-n", "2", "/a"],
    given: quotaOn("/a"),
    stderr: "[Warning]: the count quota you create is less than the existing count:3\n",
  },
  {
    name: "warns on stdout as zkCli",
    argv: ["-o", "zkcli", "setquota", "-B", "1", "/a"],
    given: quotaOn("/a"),
    stdout: "[Warning]: the bytes quota you create is less than the existing bytes:2\n",
  },
  {
    name: "wants a limit",
    argv: ["setquota", "/a"],
    given,
    stderr: "error: no limit given\n  use one of -n, -b, -N and -B\n",
    exit: 2,
  },
  {
    name: "takes one limit at a time",
    argv: ["setquota", "-n", "1", "-b", "1", "/a"],
    given,
    stderr: "error: give one limit at a time, not both -n and -b\n",
    exit: 2,
  },
  {
    name: "a count is more than none",
    argv: ["setquota", "-n", "0", "/a"],
    given,
    stderr: "error: the num quota must be greater than zero\n  delquota removes a limit\n",
    exit: 2,
  },
  {
    name: "bytes are none or more",
    argv: ["setquota", "-B", "-1", "/a"],
    given,
    stderr:
      "error: the bytes quota must be greater than or equal to zero\n  delquota removes a limit\n",
    exit: 2,
  },
  {
    name: "a limit is a number",
    argv: ["setquota", "-n", "x", "/a"],
    given,
    stderr: "error: bad limit 'x'\n  use a whole number up to 2147483647\n",
    exit: 2,
  },
  {
    name: "has zkCli's words for a limit that is no number, but not its exit code",
    argv: ["-o", "zkcli", "setquota", "-n", "99999999999", "/a"],
    given,
    stderr: "NumberFormatException happens when parsing the option value\n",
    exit: 2,
  },
  {
    name: "the root can have none",
    argv: ["setquota", "-n", "5", "/"],
    given,
    stderr: "error: a quota cannot be set on /\n",
    exit: 2,
  },
  {
    name: "quotas can have none",
    argv: ["setquota", "-n", "5", "/zookeeper/quota/a"],
    given,
    stderr: "error: cannot set a quota under the path: /zookeeper/quota\n",
    exit: 9,
  },
  {
    name: "reports a missing znode with exit code 3",
    argv: ["setquota", "-n", "5", "/nope"],
    given,
    stderr: "error: no such znode: /nope (NoNode)\n",
    exit: 3,
  },
  {
    name: "reports it as zkCli",
    argv: ["-o", "zkcli", "setquota", "-n", "5", "/nope"],
    given,
    stderr: "/nope does not exist.\n",
    exit: 3,
  },
  {
    name: "a quota above is in the way",
    argv: ["setquota", "-n", "5", "/a/b/c"],
    given: quotaOn("/a/b"),
    stderr: "error: /a/b/c has a parent /a/b which has a quota\n",
    exit: 5,
  },
  {
    name: "a quota below is in the way",
    argv: ["-o", "zkcli", "setquota", "-n", "5", "/a"],
    given: quotaOn("/a/b"),
    stderr: "/a has a child /a/b which has a quota\n",
    exit: 5,
  },
  {
    name: "a chroot has no quotas",
    argv: ["setquota", "-n", "5", "/a"],
    given: { "/a": "" },
    stderr:
      "error: /zookeeper/quota cannot be reached: it is outside the chroot\n" +
      "  connect without the chroot, and give the full path\n",
    exit: 9,
  },
];

describe("setquota", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("makes a quota as zkCli does, in one transaction", async () => {
    const { session } = await run(["setquota", "-b", "9223372036854775807", "/a/b"], { given });
    const at = "/zookeeper/quota/a/b";
    expect(session.dataOf(`${at}/zookeeper_limits`)).toBe(
      "count=-1,bytes=9223372036854775807=;byteHardLimit=-1;countHardLimit=-1",
    );
    expect(session.dataOf(`${at}/zookeeper_stats`)).toBe("count=0,bytes=0");
    expect(session.dataOf("/zookeeper/quota/a")).toBeNull();
    expect(session.asked).toContain(
      `multi create ${at}/zookeeper_limits, create ${at}/zookeeper_stats`,
    );
  });

  test.each([
    { before: "count=5,bytes=7", after: "count=2,bytes=7=;byteHardLimit=-1;countHardLimit=-1" },
    {
      before: "count=5,bytes=-1=;byteHardLimit=8;countHardLimit=9",
      after: "count=2,bytes=-1=;byteHardLimit=8;countHardLimit=9",
    },
  ])("changes $before and keeps the other limits", async ({ before, after }) => {
    const { session } = await run(["setquota", "-n", "2", "/a"], { given: quotaOn("/a", before) });
    expect(session.dataOf(LIMITS)).toBe(after);
    expect(session.dataOf(USAGE)).toBe("count=3,bytes=2");
  });

  test("tries again if another client changed the quota", async () => {
    const session = new StubSession(quotaOn("/a"));
    const answer = session.setData.bind(session);
    let isFirst = true;
    session.setData = async (path, data, options) => {
      if (isFirst) await answer(path, Buffer.from("count=5,bytes=42"));
      isFirst = false;
      return answer(path, data, options);
    };
    const { exit } = await run(["setquota", "-n", "6", "/a"], { session });
    expect([exit, session.dataOf(LIMITS)]).toEqual([
      0,
      "count=6,bytes=42=;byteHardLimit=-1;countHardLimit=-1",
    ]);
  });
});
