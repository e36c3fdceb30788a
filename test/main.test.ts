import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { ConnectionError } from "../src/errors.ts";
import { main } from "../src/main.ts";
import { zkcliUsageList } from "../src/render/zkcli-usage.ts";
import { interruptedAt } from "./commands/interrupted-at.ts";
import { memoryIo } from "./commands/memory-io.ts";
import { expected, outcome, type Row, run } from "./commands/run.ts";
import { StubSession } from "./commands/stub-session.ts";
import { eventually } from "./support/eventually.ts";

const given = { "/a": "x" };

const rows: Row[] = [
  { name: "-c runs its text", argv: ["-c", "ls /; get /a"], given, stdout: "a\nx" },
  {
    name: "-f runs a file",
    argv: ["-f", "s.zk"],
    given,
    files: { "s.zk": "# a script\nget /a\n" },
    stdout: "x",
  },
  { name: "-f - runs stdin", argv: ["-f", "-"], given, stdin: "get /a", stdout: "x" },
  {
    name: "as zkCli, a script on stdin is split as zkCli splits it",
    argv: ["-o", "zkcli"],
    given,
    stdin: 'set /a {"k":1};\nget /a\n',
    stdout: '{"k":1};\n',
  },
  {
    name: "as zkCli, a script in a file too",
    argv: ["-o", "zkcli", "-f", "s.zk"],
    given,
    files: { "s.zk": "set /a it's\nget /a\n" },
    stdout: "it's\n",
  },
  {
    name: "as zkCli, -c keeps our rules, because zkCli has none for it",
    argv: ["-o", "zkcli", "-c", "set /a 'b c'; get /a"],
    given,
    stdout: "b c\n",
  },
  {
    name: "as zkCli, -w may be given where nothing can come of it",
    argv: ["-o", "zkcli", "get", "-w", "/a"],
    given,
    stdout: "x\n",
  },
  { name: "a pipe is a script", argv: [], given, stdin: "get /a\nget /a\n", stdout: "xx" },
  {
    name: "a script stops at its first failure and tells the line",
    argv: ["-f", "s.zk"],
    given,
    files: { "s.zk": "get /a\nget /b\nget /a\n" },
    stdout: "x",
    stderr: "s.zk:2: error: no such znode: /b (NoNode)\n",
    exit: 3,
  },
  {
    name: "--keep-going goes on, and ends with 8",
    argv: ["--keep-going", "-c", "get /b; get /a; nope"],
    given,
    stdout: "x",
    stderr:
      "-c:1: error: no such znode: /b (NoNode)\n-c:1: error: unknown command 'nope'\n  help lists all commands\n",
    exit: 8,
  },
  {
    name: "a script that cannot be read",
    argv: ["-f", "none.zk"],
    stderr: "error: cannot read none.zk: no such file\n",
    exit: 2,
  },
  {
    name: "a command and a script",
    argv: ["-c", "ls /", "get", "/a"],
    stderr: "error: -c cannot be combined with a command (get)\n",
    exit: 2,
  },
  {
    name: "an unclosed quote",
    argv: ["-c", "get /a\nset /a 'x"],
    given,
    stdout: "x",
    stderr: "-c:2: error: a quote (') is opened and never closed: line 2, column 8\n",
    exit: 2,
  },
  {
    name: "an embedded server and another one",
    argv: ["--embedded", "-s", "h:1", "ls", "/"],
    stderr: "error: --embedded cannot be combined with --server\n",
    exit: 2,
  },
  {
    name: "a misspelt command",
    argv: ["gte", "/a"],
    stderr: "error: unknown command 'gte'\n  did you mean get?\n",
    exit: 2,
  },
  {
    name: "a misspelt command as zkCli",
    argv: ["-o", "zkcli", "foo"],
    stderr: `${zkcliUsageList()}Command not found: Command not found foo\n`,
    exit: 2,
  },
  {
    name: "an unknown global option as JSON",
    argv: ["--servr", "h", "--json", "get", "/a"],
    stderr:
      '{"error":{"reason":"unknown-option","message":"unknown option \'--servr\'","exitCode":2,"hint":"did you mean --server?"}}\n',
    exit: 2,
  },
  {
    name: "a bad format is reported as text",
    argv: ["-o", "xml", "get", "/a"],
    stderr: "error: bad value 'xml' for --output\n  use one of text, json, zkcli\n",
    exit: 2,
  },
  {
    name: "no server",
    argv: ["-s", "h:1", "get", "/a"],
    failures: {
      "/a": new ConnectionError(
        "unreachable",
        "cannot connect to ZooKeeper: h:1 (connection refused)",
      ),
    },
    stderr: "error: cannot connect to ZooKeeper: h:1 (connection refused)\n",
    exit: 6,
  },
  {
    name: "no server, and none named",
    argv: ["get", "/a"],
    failures: { "/a": new ConnectionError("unreachable", "cannot connect to ZooKeeper") },
    stderr:
      "error: cannot connect to ZooKeeper\n  give the servers with -s HOSTS, or use --embedded to try zksh without a server\n",
    exit: 6,
  },
  {
    name: "no server, as zkCli",
    argv: ["-o", "zkcli", "get", "/a"],
    failures: {
      "/a": new ConnectionError("unreachable", "cannot connect to ZooKeeper", { path: "/a" }),
    },
    stderr: "KeeperErrorCode = ConnectionLoss for /a\n",
    exit: 6,
  },
  {
    name: "a bug",
    argv: ["get", "/a"],
    failures: { "/a": new TypeError("x is undefined") },
    stderr:
      "error: internal error: x is undefined\n  this is a bug in zksh; --debug prints the stack trace\n",
    exit: 70,
  },
  {
    name: "control characters in messages are shown, not sent",
    argv: ["\u001b[2J"],
    stderr: "error: unknown command '\\x1b[2J'\n  help lists all commands\n",
    exit: 2,
  },
  {
    name: "only the word error is red",
    argv: ["get", "/b"],
    colorLevel: 1,
    stderr: "\u001b[31m\u001b[1merror:\u001b[22m\u001b[39m no such znode: /b (NoNode)\n",
    exit: 3,
  },
  {
    name: "--color never",
    argv: ["get", "/b", "--color=never"],
    colorLevel: 1,
    stderr: "error: no such znode: /b (NoNode)\n",
    exit: 3,
  },
  {
    name: "--color always",
    argv: ["--color", "always", "get", "/b"],
    stderr: "\u001b[31m\u001b[1merror:\u001b[22m\u001b[39m no such znode: /b (NoNode)\n",
    exit: 3,
  },
  {
    name: "started as zkCli.sh",
    argv: ["get", "/a"],
    given,
    programName: "zkCli.sh",
    stdout: "x\n",
  },
  {
    name: "zkCli's options",
    argv: ["-server", "h:1", "-timeout", "5000", "-r", "get", "/a"],
    given,
    stdout: "x",
  },
  {
    name: "SIGINT",
    argv: ["get", "/a"],
    given,
    signal: "SIGINT",
    stderr: "interrupted\n",
    exit: 130,
  },
  {
    name: "SIGTERM",
    argv: ["ls", "-R", "/"],
    given,
    signal: "SIGTERM",
    stderr: "interrupted\n",
    exit: 143,
  },
  {
    name: "SIGHUP",
    argv: ["get", "/a"],
    given,
    signal: "SIGHUP",
    stderr: "interrupted\n",
    exit: 129,
  },
  {
    name: "SIGTERM with --json",
    argv: ["--json", "get", "/a"],
    given,
    signal: "SIGTERM",
    stderr: '{"error":{"reason":"interrupted","message":"interrupted","exitCode":143}}\n',
    exit: 143,
  },
  {
    name: "SIGTERM while a script waits, with --json",
    argv: ["--json"],
    stdin: new PassThrough(),
    signal: "SIGTERM",
    stderr: expect.stringContaining('"exitCode":143'),
    exit: 143,
  },
  {
    name: "SIGINT while stdin is read",
    argv: ["set", "/a", "-"],
    stdin: new PassThrough(),
    given,
    signal: "SIGINT",
    stderr: "interrupted\n",
    exit: 130,
  },
  {
    name: "SIGINT while a script waits for its next line",
    argv: [],
    stdin: new PassThrough(),
    signal: "SIGINT",
    stderr: "stdin:1: interrupted\n",
    exit: 130,
  },
  {
    name: "nobody reads the output",
    argv: ["ls", "-R", "/"],
    given,
    stdoutError: Object.assign(new Error("write EPIPE"), { code: "EPIPE" }),
    exit: 0,
  },
  {
    name: "a script whose reader goes away before its last line ends with 141",
    argv: ["-c", "create /p; create /q"],
    given,
    stdoutError: Object.assign(new Error("write EPIPE"), { code: "EPIPE" }),
    exit: 141,
  },
  {
    name: "the same of a pipe that may bring more lines",
    argv: [],
    given,
    stdin: openPipe("create /p\n"),
    stdoutError: Object.assign(new Error("write EPIPE"), { code: "EPIPE" }),
    exit: 141,
  },
  {
    name: "a script whose reader goes away after its last line has done its work",
    argv: ["-c", "create /p # the last line"],
    given,
    stdoutError: Object.assign(new Error("write EPIPE"), { code: "EPIPE" }),
    exit: 0,
  },
];

function openPipe(text: string): PassThrough {
  const pipe = new PassThrough();
  pipe.write(text);
  return pipe;
}

describe("main", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("Ctrl-C in a script with --keep-going says how much was done", async () => {
    const argv = ["--keep-going", "-c", "create /p; nonsense; create /q; create /r"];
    const { exit, stderr } = await interruptedAt(new StubSession(), "create", 2, argv);
    expect([exit, stderr.split("\n").at(-2)]).toEqual([
      130,
      "-c:1: interrupted: 2 lines done (1 failed), 2 lines may have taken effect; the rest was not run",
    ]);
  });

  test("answers a piped line before the next one comes", async () => {
    const stdin = new PassThrough();
    const io = memoryIo({ stdin });
    const session = new StubSession(given).asSession();
    const exit = main({ programName: "zksh", argv: [] }, io, {
      openSession: async () => session,
      onSignal: () => () => {},
    });
    stdin.write("get /a\n");
    await eventually(() => io.written.stdout.toString() === "x");
    stdin.write("get /b\n");
    // A failure ends the script, although the pipe stays open.
    expect(await exit).toBe(3);
  });

  test("that nothing is left to wait for is an error, never a success", async () => {
    const io = memoryIo({ stdin: new PassThrough() });
    const exit = main({ programName: "zksh", argv: ["get", "/a"] }, io, {
      openSession: () => new Promise(() => {}),
      onSignal: () => () => {},
      onIdle: (listener) => void setImmediate(listener),
    });
    expect(await exit).toBe(70);
    expect(io.written.stderr.toString()).toContain("internal error: nothing is left to wait for");
  });

  test("passes the session's options on", async () => {
    const { opened } = await run(
      ["-s", "h1:1,h2/c", "get", "/a", "--timeout", "5s", "--auth=digest:u:p"],
      { given },
    );
    expect(opened).toEqual([
      {
        servers: [
          { host: "h1", port: 1 },
          { host: "h2", port: 2181 },
        ],
        chroot: "/c",
        timeoutMs: 5000,
        connectTimeoutMs: 10_000,
        refusedTimeoutMs: 1_000,
        maxRequestBytes: 1_048_575,
        readOnly: false,
        auth: [{ scheme: "digest", credential: Buffer.from("u:p") }],
      },
    ]);
  });

  test("closes a session that a bad line did not use", async () => {
    const { session, exit } = await run(["sync", "a", "b"]);
    expect({ asked: session.asked, exit }).toEqual({ asked: ["close"], exit: 2 });
  });

  test("reports the bad line, not the bad file, when both are bad", async () => {
    const { stderr } = await run(["--auth-file", "nope", "get"]);
    expect(stderr).toBe(
      "error: missing required argument 'path'\n  get [-s] [-w] [-b] [-x] [--view kind] [--all] path [paths...]\n",
    );
  });

  test("--debug traces to stderr and shows the stack", async () => {
    const { opened, stderr } = await run(["--debug", "get", "/nope"]);
    expect(opened[0]?.trace).toBeTypeOf("function");
    expect(stderr).toMatch(
      /^error: no such znode: \/nope \(NoNode\)\nNoNodeError: no such znode.*\n {4}at /,
    );
  });

  test("without --debug there is no trace", async () => {
    expect((await run(["get", "/a"], { given })).opened[0]?.trace).toBeUndefined();
  });
});
