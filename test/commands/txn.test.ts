import { describe, expect, test } from "vitest";
import { ConnectionError, InterruptedError } from "../../src/errors.ts";
import type { Committed, MultiOp } from "../../src/session/session.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const given = { "/a": "x", "/a/b": "y" };

const rows: Row[] = [
  {
    name: "tells each operation, its path and the new version in a pipe",
    argv: ["txn", "create /n 1", "set /a 2", "check /n", "delete /a/b"],
    given,
    stdout: "create\t/n\nset\t/a\t1\ncheck\t/n\ndelete\t/a/b\n",
  },
  {
    name: "tells each operation in words on a terminal",
    argv: ["txn", "create -s /n- 1", "set /a 2", "check /a 1", "delete /a/b"],
    given,
    tty: true,
    stdout: "Created /n-0000000001\nChanged /a (version 1)\nChecked /a\nDeleted /a/b\n",
  },
  {
    name: "is silent on a terminal with -q",
    argv: ["-q", "txn", "create /n 1"],
    given,
    tty: true,
  },
  {
    name: "writes one object as JSON",
    argv: ["--json", "txn", "create /n 1", "delete /a/b"],
    given,
    stdout:
      '{"dryRun":false,"zxid":"0x4","results":[{"line":1,"op":"create","path":"/n"},{"line":2,"op":"delete","path":"/a/b"}]}\n',
  },
  {
    name: "several znodes of one delete are one line",
    argv: ["txn", "create /n", "delete /a/b /a"],
    given,
    stdout: "create\t/n\ndelete\t/a/b\ndelete\t/a\n",
  },
  {
    name: "reads lines from stdin, with comments and blank lines",
    argv: ["txn", "-"],
    stdin: "# first\n\ncreate /n 'two words' # why\n  set /n x 0\n",
    stdout: "create\t/n\nset\t/n\t1\n",
  },
  {
    name: "reads lines from a file",
    argv: ["txn", "--file", "release.zk"],
    files: { "release.zk": "create /n\ncreate /n/m\n" },
    stdout: "create\t/n\ncreate\t/n/m\n",
  },
  {
    name: "says of an ephemeral znode that the session ends",
    argv: ["txn", "create -e /n"],
    stdout: "create\t/n\n",
    stderr: "note: the session ends now, and its ephemeral znodes are deleted with it\n",
  },
];

const refusals = [
  {
    lines: ["create /n", "set /none x"],
    code: 3,
    error: "nothing was done: line 2, 'set /none x': no such znode: /none (NoNode)",
  },
  {
    lines: ["create /n", "create /none/m"],
    code: 3,
    error:
      "nothing was done: line 2, 'create /none/m': its parent /none does not exist (NoNode)\n" +
      "  a line before it can create the parent: create /none",
  },
  {
    lines: ["create /n", "delete /a/b /a/c", "create /a"],
    code: 3,
    error: "nothing was done: line 2, 'delete /a/b /a/c': no such znode: /a/c (NoNode)",
  },
  {
    lines: ["check /a 3", "create /n"],
    code: 5,
    error:
      "nothing was done: line 1, 'check /a 3': /a is not at version 3 (BadVersion)\n" +
      "  stat shows the present version",
  },
  {
    lines: ["delete /a"],
    code: 5,
    error: "nothing was done: line 1, 'delete /a': znode has children: /a (NotEmpty)",
  },
];

const mistakes = [
  { lines: [], error: "a transaction needs at least one line" },
  { lines: [""], error: "a transaction needs at least one line" },
  { lines: ["get /a"], error: "'get /a': 'get' is not possible here" },
  {
    lines: ["create", "/a", "x"],
    error: "'create' is not a line of a transaction\n  quote each line as one word: txn 'create",
  },
  { lines: ["set /a"], error: "'set /a': missing required argument 'data'" },
  { lines: ["set /a//b x"], error: "'set /a//b x': " },
  { lines: ["create -p /n/m"], error: "create --parents is not possible in a transaction" },
  { lines: ["create --if-missing /n"], error: "create --if-missing is not possible" },
  { lines: ["set --create /n x"], error: "line 1, 'set --create /n x': set --create is not" },
  { lines: ["delete --fenced /a/b"], error: "delete --fenced is not possible" },
  { lines: ["check /a three"], error: "'check /a three': bad version 'three'" },
  { lines: ["create /n -", "create /m -"], error: "stdin can be read only once" },
  { lines: ["-", "create /m"], error: "the lines of a transaction come from one place" },
  { lines: ["create /n 'x"], error: "a quote (') is opened and never closed" },
  { lines: ["--file", "/none"], error: "cannot read /none" },
  { lines: ["--fenced", "create /n"], error: "--fenced works only in a command run by zksh lock" },
];

describe("txn", () => {
  test.each(rows)("$name", async (row) => expect(await outcome(row)).toEqual(expected(row)));

  test.each(refusals)("$lines is refused as a whole", async ({ lines, code, error }) => {
    const { exit, stderr, stdout, session } = await run(["txn", ...lines], { given });
    expect([exit, stdout, stderr]).toEqual([code, "", expect.stringContaining(`${error}\n`)]);
    expect(session.paths()).toEqual(["/", "/a", "/a/b"]);
    expect(session.dataOf("/a")).toBe("x");
  });

  test.each(mistakes)("$lines is a usage error", async ({ lines, error }) => {
    const { exit, stderr, session } = await run(["txn", ...lines], { given });
    expect([exit, stderr]).toEqual([2, expect.stringContaining(error)]);
    expect(session.asked.filter((request) => request !== "close")).toEqual([]);
  });

  test("a file is named in the error of its line", async () => {
    const files = { "release.zk": "# one\ncreate /n\n\nset /none x\n" };
    const { stderr } = await run(["txn", "--file", "release.zk"], { files });
    expect(stderr).toContain("line 4 of release.zk, 'set /none x': no such znode");
  });

  test("a password in an ACL is not repeated in an error", async () => {
    const line = "create --hash-digests /none/n x digest:ann:secret:r";
    const { stderr, exit } = await run(["txn", line]);
    expect(exit).toBe(3);
    expect(stderr).toContain("line 1, 'create …'");
    expect(stderr).not.toContain("secret");
  });

  test("JSON errors have the index of the operation", async () => {
    const { stderr } = await run(["--json", "txn", "check /a", "set /none x"], { given });
    expect(JSON.parse(stderr).error).toMatchObject({
      reason: "no-node",
      exitCode: 3,
      path: "/none",
      opIndex: 1,
    });
  });

  test("all lines are one request, with paths relative to the working znode", async () => {
    const { session, exit } = await run(["-c", "cd /a; txn 'create n' 'set b x' 'check .'"], {
      given,
    });
    expect(exit).toBe(0);
    expect(session.asked).toContain("multi create /a/n, setData /a/b, check /a");
  });

  test("--dry-run sends a check that cannot succeed behind the lines", async () => {
    const { session, stdout, exit } = await run(["txn", "--dry-run", "create /n", "set /a z"], {
      given,
      tty: true,
    });
    expect([exit, stdout]).toEqual([
      0,
      "would create /n\nwould set /a\nNothing was done (--dry-run): it would work.\n",
    ]);
    expect(session.asked.find((request) => request.startsWith("multi"))).toMatch(
      /^multi create \/n, setData \/a, check \/zksh-dry-run-[0-9a-f-]{36}$/,
    );
    expect(session.paths()).toEqual(["/", "/a", "/a/b"]);
  });

  test("--dry-run names the line that would be refused", async () => {
    const { exit, stderr } = await run(["txn", "--dry-run", "create /n", "set /none z"], { given });
    expect([exit, stderr]).toEqual([3, expect.stringContaining("line 2, 'set /none z'")]);
  });

  test("it is refused in read-only mode", async () => {
    const { exit, session } = await run(["-r", "txn", "create /n"]);
    expect([exit, session.paths()]).toEqual([9, ["/"]]);
  });

  test("--fenced checks the tickets in the same request", async () => {
    const env = { ZK_LOCK_PATH: "/l", ZK_LOCK_NODE: "/l/t-1" };
    const session = new StubSession({ "/l": "", "/l/t-1": "" });
    const done = await run(["txn", "--fenced", "create /n"], { session, env });
    expect([done.exit, done.stdout]).toEqual([0, "create\t/n\n"]);
    expect(session.asked).toContain("multi check /l/t-1, create /n");
    await session.delete("/l/t-1");
    const late = await run(["txn", "--fenced", "create /m"], { session, env });
    expect([late.exit, late.stderr]).toEqual([
      5,
      expect.stringContaining("the lock /l/t-1 is gone"),
    ]);
  });
});

/** Its multi is answered as the test wants. */
class Unanswered extends StubSession {
  readonly #answer: () => Promise<never>;

  constructor(answer: () => Promise<never>) {
    super(given);
    this.#answer = answer;
  }

  override async multi(_ops: readonly MultiOp[]): Promise<Committed> {
    return this.#answer();
  }
}

describe("a transaction whose answer was lost", () => {
  const lost = (sent: boolean) =>
    new Unanswered(async () => {
      throw new ConnectionError("connection-loss", "the connection was lost", { sent });
    });

  test.each([
    { lines: ["set /a z", "create /n"], look: "exists /n" },
    { lines: ["check /a", "set /a z"], look: "stat /a" },
    { lines: ["create -s /a/n- z"], look: "ls /a" },
    { lines: ["delete /a/b"], look: "exists /a/b" },
    { lines: ["delete '/a/b c; d'"], look: "exists '/a/b c; d'" },
  ])("$lines may have been carried out, and $look shows it", async ({ lines, look }) => {
    const { exit, stderr } = await run(["txn", ...lines], { session: lost(true) });
    expect([exit, stderr]).toEqual([
      6,
      "error: the connection was lost; the transaction may have been carried out\n" +
        `  it was carried out as a whole or not at all, and is not repeated; look with: ${look}\n`,
    ]);
  });

  test("one that was not sent is not in doubt", async () => {
    const { exit, stderr } = await run(["txn", "create /n"], { session: lost(false) });
    expect([exit, stderr]).toEqual([6, expect.not.stringContaining("may have been")]);
  });

  test.each([
    { outcome: () => Promise.resolve(), says: "the transaction was carried out" },
    { outcome: () => Promise.reject(new Error("refused")), says: "nothing was done" },
    { outcome: () => Promise.reject(new InterruptedError()), says: "nothing was done" },
    {
      outcome: () => Promise.reject(new ConnectionError("connection-loss", "lost")),
      says: "the transaction may have been carried out",
    },
  ])("an interrupted one is waited for: $says", async ({ outcome: late, says }) => {
    const session = new Unanswered(async () => {
      throw new InterruptedError("interrupted", { outcome: late() });
    });
    const { stderr, exit } = await run(["txn", "create /n"], { session });
    expect([exit, stderr.split("\n")[0]]).toEqual([130, `interrupted; ${says}`]);
  });
});
