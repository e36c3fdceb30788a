import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const TREE = {
  "/a": "",
  "/a/b.json": '{"key": 1}',
  "/a/c.json": "",
  "/a/sub": "x".repeat(2_000),
  "/a/sub/job-0000000001": "needle in here",
};

const rows: Row[] = [
  {
    name: "everything, depth first",
    argv: ["find", "/a"],
    given: TREE,
    stdout: "/a\n/a/b.json\n/a/c.json\n/a/sub\n/a/sub/job-0000000001\n",
  },
  {
    name: "--name",
    argv: ["find", "/a", "--name", "*.json"],
    given: TREE,
    stdout: "/a/b.json\n/a/c.json\n",
  },
  {
    name: "--regex",
    argv: ["find", "/", "--regex", "b.*job"],
    given: TREE,
    stdout: "/a/sub/job-0000000001\n",
  },
  {
    name: "--kind sequential",
    argv: ["find", "/a", "--kind", "sequential"],
    given: TREE,
    stdout: "/a/sub/job-0000000001\n",
  },
  { name: "--size +1k", argv: ["find", "/a", "--size", "+1k"], given: TREE, stdout: "/a/sub\n" },
  {
    name: "--size -20 and --name",
    argv: ["find", "/a", "--size", "-20", "--name", "*b*"],
    given: TREE,
    stdout: "/a/b.json\n/a/sub/job-0000000001\n",
  },
  { name: "--children 3", argv: ["find", "/a", "--children", "3"], given: TREE, stdout: "/a\n" },
  {
    name: "--children +0",
    argv: ["find", "/a", "--children", "+0"],
    given: TREE,
    stdout: "/a\n/a/sub\n",
  },
  { name: "--empty", argv: ["find", "/a", "--empty"], given: TREE, stdout: "/a/c.json\n" },
  {
    name: "--data",
    argv: ["find", "/a", "--data", "needle"],
    given: TREE,
    stdout: "/a/sub/job-0000000001\n",
  },
  { name: "--depth 0", argv: ["find", "/a", "--depth", "0"], given: TREE, stdout: "/a\n" },
  {
    name: "-0",
    argv: ["find", "/a", "--name", "*.json", "-0"],
    given: TREE,
    stdout: "/a/b.json\0/a/c.json\0",
  },
  {
    name: "--older 1h",
    argv: ["find", "/a", "--older", "1h", "--name", "sub"],
    given: TREE,
    stdout: "/a/sub\n",
  },
  { name: "--newer 1s", argv: ["find", "/a", "--newer", "1s"], given: TREE, stdout: "" },
  {
    name: "--json",
    argv: ["find", "/a", "--empty", "--json"],
    given: TREE,
    stdout: '{"path":"/a/c.json"}\n',
  },
];

describe("find", () => {
  test.each(rows)("$name", async (row) => expect(await outcome(row)).toEqual(expected(row)));

  test.each([
    { argv: ["--size", "many"], error: "bad size 'many'" },
    { argv: ["--kind", "odd"], error: "unknown kind 'odd'" },
    { argv: ["--owner", "ann"], error: "bad session id 'ann'" },
    { argv: ["--regex", "("], error: "Invalid regular expression" },
    { argv: ["--depth", "-1"], error: "bad depth" },
    { argv: ["--newer", "5"], error: "needs a unit" },
  ])("$argv is a usage error", async ({ argv, error }) => {
    const { stderr, exit } = await run(["find", "/a", ...argv], { given: TREE });
    expect(exit).toBe(2);
    expect(stderr).toContain(error);
  });

  test("no request reads the data of more than 64 znodes, whose size is unknown", async () => {
    const names = Array.from({ length: 1_000 }, (_, i) => [`/a/${i}`, ""] as const);
    const reads: number[] = [];
    class CountingSession extends StubSession {
      override multiRead(...[ops, options]: Parameters<StubSession["multiRead"]>) {
        reads.push(ops.filter(({ op }) => op === "getData").length);
        return super.multiRead(ops, options);
      }
    }
    const session = new CountingSession({ "/a": "", ...Object.fromEntries(names) });
    const { stdout } = await run(["find", "/a", "--empty"], { session });
    expect(stdout.split("\n")).toHaveLength(1_001);
    expect(Math.max(...reads)).toBe(64);
  });

  test("names alone are read once; other tests read the matches of names again", async () => {
    const timesRead = async (...tests: string[]) => {
      const session = new StubSession(TREE);
      await run(["find", "/a", "--name", "*.json", ...tests], { session });
      const reads = session.asked.flatMap((one) => one.split(" ").slice(1));
      return ["/a/b.json", "/a/sub"].map((path) => reads.filter((one) => one === path).length);
    };
    expect(await timesRead()).toEqual([1, 1]);
    expect(await timesRead("--empty")).toEqual([2, 1]);
  });
});
