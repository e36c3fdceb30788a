import { describe, expect, test } from "vitest";
import { ConnectionError, PermissionError } from "../../src/errors.ts";
import { interruptedAt } from "./interrupted-at.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const given = { "/a": "x", "/a/b": "y", "/c": "" };

const rows: Row[] = [
  {
    name: "is silent in a pipe",
    argv: ["mv", "/a", "/n"],
    given,
  },
  {
    name: "says on a terminal that it was atomic",
    argv: ["mv", "/a", "/c/"],
    given,
    tty: true,
    stdout: "Moved /a to /c/a: 2 znodes (atomic: one transaction)\n",
  },
  {
    name: "is silent on a terminal with -q",
    argv: ["-q", "mv", "/a", "/n"],
    given,
    tty: true,
  },
  {
    name: "writes one object as JSON",
    argv: ["--json", "mv", "/a", "/n"],
    given,
    stdout: '{"from":"/a","to":"/n","znodes":2,"atomic":true,"dryRun":false,"zxid":"0xa"}\n',
  },
  {
    name: "--dry-run says how in a pipe too",
    argv: ["mv", "--dry-run", "/a/b", "/n"],
    given,
    stdout: "Would move /a/b to /n: 1 znode (atomic: one transaction)\n",
  },
  {
    name: "names the place where it may not write",
    argv: ["mv", "/a", "/c/n"],
    given,
    failures: {
      "/c/n": new PermissionError("no-auth", "not permitted: /c/n (NoAuth)", { hint: "who" }),
    },
    stderr: "error: not permitted: /c/n (NoAuth)\n  who\n",
    exit: 4,
  },
];

test.each(rows)("mv $name", async (row) => {
  expect(await outcome(row)).toEqual(expected(row));
});

test("mv without a target is a usage error", async () => {
  const { exit, stderr } = await run(["mv", "/a"]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining("target")]);
});

describe("mv that goes on with an interrupted move", () => {
  const rest = { "/a": "x", "/a/b": "y", "/n": "x", "/n/b": "y" };

  test("asks first, and says why it is not atomic", async () => {
    const { exit, stderr, session } = await run(["mv", "/a", "/n"], { given: rest });
    expect([exit, stderr]).toEqual([
      9,
      "error: mv needs confirmation, and there is no terminal; add --yes to go ahead\n" +
        "  the question: Move /a and the one znode below it to /n? This is not atomic: the target exists, " +
        "and an interrupted mv goes on. (--dry-run shows what would happen)\n",
    ]);
    expect(session.paths()).toEqual(["/", ...Object.keys(rest)]);
  });

  test("deletes what has been copied", async () => {
    const { exit, stderr, session } = await run(["-y", "mv", "/a", "/n"], { given: rest });
    expect([exit, stderr]).toEqual([
      0,
      "warning: mv /a /n is not atomic: the target exists, and an interrupted mv goes on\n",
    ]);
    expect(session.paths()).toEqual(["/", "/n", "/n/b"]);
  });

  test("says after Ctrl-C what is where", async () => {
    const session = new StubSession(rest);
    const { exit, stderr } = await interruptedAt(session, "multi", 2, ["-y", "mv", "/a", "/n"]);
    expect([exit, stderr]).toEqual([
      130,
      expect.stringContaining(
        "interrupted: 2 znodes deleted below /a; /n is complete, the rest of /a is still there; " +
          "the same command goes on\n",
      ),
    ]);
  });
});

test("mv that was carried out although its answer was lost has succeeded", async () => {
  const session = new StubSession(given);
  const multi = session.multi.bind(session);
  session.multi = async (ops, options) => {
    const done = await multi(ops, options);
    if (ops.some(({ op }) => op === "delete"))
      throw new ConnectionError("connection-loss", "the connection was lost", { code: -4 });
    return done;
  };
  const { exit, stdout } = await run(["--json", "mv", "/a", "/n"], { session });
  expect([exit, stdout]).toEqual([
    0,
    '{"from":"/a","to":"/n","znodes":2,"atomic":true,"dryRun":false}\n',
  ]);
  expect(session.paths().sort()).toEqual(["/", "/c", "/n", "/n/b"]);
});
