import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const AT = "/zookeeper/quota/p";
const parents = { "/zookeeper": "", "/zookeeper/quota": "", [AT]: "", [`${AT}/q`]: "" };
const given = {
  ...parents,
  [`${AT}/q/zookeeper_limits`]: "count=2,bytes=100=;byteHardLimit=5;countHardLimit=7",
  [`${AT}/q/zookeeper_stats`]: "count=1,bytes=4",
};

const rows: Row[] = [
  { name: "is silent in a pipe", argv: ["delquota", "/p/q"], given },
  {
    name: "confirms on a terminal",
    argv: ["delquota", "/p/q"],
    given,
    tty: true,
    stdout: "Deleted the quota of /p/q\n",
  },
  { name: "is silent as zkCli", argv: ["-o", "zkcli", "delquota", "/p/q"], given },
  {
    name: "JSON has the path",
    argv: ["--json", "delquota", "/p/q"],
    given,
    stdout: '{"path":"/p/q"}\n',
  },
  {
    name: "says that there is none",
    argv: ["delquota", "/x"],
    given,
    stderr: "error: no quota is set on /x\n",
    exit: 3,
  },
  {
    name: "says so on stdout as zkCli, but with an exit code",
    argv: ["-o", "zkcli", "delquota", "/x"],
    given,
    stdout: "Quota does not exist for /x\n",
    exit: 3,
  },
  {
    name: "takes one limit at a time",
    argv: ["delquota", "-nB", "/p/q"],
    given,
    stderr: "error: give one limit at a time, not both -n and -B\n",
    exit: 2,
  },
];

describe("delquota", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("removes the quota and the znodes on the way to it", async () => {
    const { session } = await run(["delquota", "/p/q"], { given });
    expect(session.paths()).toEqual(["/", "/zookeeper", "/zookeeper/quota"]);
  });

  test("leaves what others need", async () => {
    const other = { [`${AT}/r`]: "", [`${AT}/r/zookeeper_limits`]: "count=1,bytes=-1" };
    const { session } = await run(["delquota", "/p/q"], { given: { ...given, ...other } });
    expect(session.paths()).toEqual([
      "/",
      "/zookeeper",
      "/zookeeper/quota",
      AT,
      ...Object.keys(other),
    ]);
  });

  test.each([
    { flag: "-n", limits: "count=-1,bytes=100=;byteHardLimit=5;countHardLimit=7" },
    { flag: "-b", limits: "count=2,bytes=-1=;byteHardLimit=5;countHardLimit=7" },
    { flag: "-N", limits: "count=2,bytes=100=;byteHardLimit=5;countHardLimit=-1" },
    { flag: "-B", limits: "count=2,bytes=100=;byteHardLimit=-1;countHardLimit=7" },
  ])("$flag removes one limit", async ({ flag, limits }) => {
    const { session } = await run(["delquota", flag, "/p/q"], { given });
    expect(session.dataOf(`${AT}/q/zookeeper_limits`)).toBe(limits);
  });
});
