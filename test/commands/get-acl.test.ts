import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const given = { "/a": "x" };

const rows: Row[] = [
  {
    name: "writes entries as setAcl takes them",
    argv: ["getAcl", "/a"],
    given,
    stdout: "world:anyone:cdrwa\n",
  },
  {
    name: "writes the same to a terminal",
    argv: ["getAcl", "/a"],
    given,
    tty: true,
    stdout: "world:anyone:cdrwa\n",
  },
  {
    name: "writes two lines an entry as zkCli",
    argv: ["-o", "zkcli", "getAcl", "/a"],
    given,
    stdout: "'world,'anyone\n: cdrwa\n",
  },
  {
    name: "reports a missing znode with exit code 3",
    argv: ["getAcl", "/b"],
    stderr: "error: no such znode: /b (NoNode)\n",
    exit: 3,
  },
];

describe("getAcl", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("JSON has the entries and the stat", async () => {
    const { stdout } = await run(["--json", "getAcl", "/a"], { given });
    expect(JSON.parse(stdout)).toMatchObject({
      path: "/a",
      acl: [{ scheme: "world", id: "anyone", perms: "cdrwa" }],
      stat: { aversion: 0 },
    });
  });

  test("-s writes the stat too", async () => {
    const { stdout } = await run(["getAcl", "-s", "/a"], { given });
    expect(stdout).toMatch(/^world:anyone:cdrwa\ncZxid = 0x2\n(.*\n){10}$/);
  });

  test("writes identities as Java does for zkCli", async () => {
    const { session } = await run(["setAcl", "/a", "x509:CN=a}b%c:rw"], { given });
    const { stdout } = await run(["-o", "zkcli", "getAcl", "/a"], { session });
    expect(stdout).toBe("'x509,'CN=a%7Db%25c\n: rw\n");
  });

  test("says goodbye in the same flight as its request", async () => {
    const { session } = await run(["getAcl", "/a"], { given });
    expect(session.asked.slice(0, 2)).toEqual(["getAcl /a", "close"]);
  });
});
