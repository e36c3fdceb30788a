import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const AT = "/zookeeper/quota/p";
const parents = { "/zookeeper": "", "/zookeeper/quota": "", [AT]: "" };
const old = {
  ...parents,
  [`${AT}/zookeeper_limits`]: "count=2,bytes=-1",
  [`${AT}/zookeeper_stats`]: "count=1,bytes=4",
};
const limits = "count=2,bytes=100=;byteHardLimit=5;countHardLimit=-1";
const current = { ...old, [`${AT}/zookeeper_limits`]: limits };
const ABSOLUTE = "absolute path is /zookeeper/quota/p/zookeeper_limits\n";

const rows: Row[] = [
  {
    name: "prints the limits and the usage",
    argv: ["listquota", "/p"],
    given: current,
    stdout: "znodes: 1 used, limit 2, hard limit none\nbytes: 4 used, limit 100, hard limit 5\n",
  },
  {
    name: "reads what older clients wrote",
    argv: ["listquota", "/p"],
    given: old,
    tty: true,
    stdout:
      "znodes: 1 used, limit 2, hard limit none\nbytes: 4 used, limit none, hard limit none\n",
  },
  {
    name: "writes as zkCli",
    argv: ["-o", "zkcli", "listquota", "/p"],
    given: current,
    stdout: `Output quota for /p ${limits}\nOutput stat for /p count=1,bytes=4\n`,
    stderr: ABSOLUTE,
  },
  {
    name: "writes as zkCli what older clients wrote",
    argv: ["-o", "zkcli", "listquota", "/p"],
    given: old,
    stdout: "Output quota for /p count=2,bytes=-1\nOutput stat for /p count=1,bytes=4\n",
    stderr: ABSOLUTE,
  },
  {
    name: "JSON has null where there is no limit",
    argv: ["--json", "listquota", "/p"],
    given: current,
    stdout:
      '{"path":"/p","limits":{"count":2,"bytes":100,"countHardLimit":null,"byteHardLimit":5},' +
      '"usage":{"count":1,"bytes":4}}\n',
  },
  {
    name: "says that there is none",
    argv: ["listquota", "/p"],
    stderr: "error: no quota is set on /p\n",
    exit: 3,
  },
  {
    name: "says so as zkCli, but with an exit code",
    argv: ["-o", "zkcli", "listquota", "/p"],
    stderr: `${ABSOLUTE}quota for /p does not exist.\n`,
    exit: 3,
  },
];

describe("listquota", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("prints limits without the usage if it is unknown", async () => {
    const { [`${AT}/zookeeper_stats`]: _, ...given } = current;
    const { stdout } = await run(["listquota", "/p"], { given });
    expect(stdout).toBe(
      "znodes: unknown used, limit 2, hard limit none\nbytes: unknown used, limit 100, hard limit 5\n",
    );
  });

  test("says goodbye in the same flight as its requests", async () => {
    const { session } = await run(["listquota", "/p"], { given: current });
    expect(session.asked.slice(0, 3)).toEqual([
      `getData ${AT}/zookeeper_limits`,
      `getData ${AT}/zookeeper_stats`,
      "close",
    ]);
  });
});
