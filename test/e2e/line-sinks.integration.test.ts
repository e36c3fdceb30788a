import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshChroot } from "../support/shared-server.ts";
import { startTerminals, type Terminal, type Terminals } from "../support/terminal.ts";
import { isRunning, removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh, startZksh } from "../support/zksh-process.ts";

let directory: string;
let terminals: Terminals;

beforeAll(async () => {
  directory = temporaryDirectory("sinks");
  terminals = await startTerminals();
});

afterAll(async () => {
  await terminals.stop();
  removeDirectory(directory);
});

const SERVERS: Readonly<Record<string, () => Promise<string[]>>> = {
  "the embedded server": async () => ["--embedded"],
  ZooKeeper: async () => ["-s", await freshChroot()],
};

describe.each(Object.keys(SERVERS))("a script's lines on %s", (name) => {
  const run = async (script: string, ...options: string[]) => {
    const server = (await SERVERS[name]?.()) ?? [];
    const { code, stdout, stderr } = await runZksh([...server, ...options, "-c", script]);
    return { code, out: stdout.toString(), stderr };
  };

  test("a command gets what a pipe gets, with nothing added and no colours", async () => {
    const bytes = Buffer.from([0, 0x80, 0xff, 0x0a, 0x1b, 0x5b, 0x41]);
    const [from, to] = [join(directory, "from"), join(directory, "to")];
    writeFileSync(from, bytes);
    const { out } = await run(`create /b @${from}; get /b | cat > ${to}; ls / | cat -A`);
    expect(readFileSync(to)).toEqual(bytes);
    expect(out).toMatch(/^\/b\n(?:zookeeper\$\n)?b\$\n(?:zookeeper\$\n)?$/);
  });

  test("everything behind the first | is the command's, and quotes hide a |", async () => {
    const { out } = await run(`create /p 'a | b'; get /p | tr a-z A-Z | sed 's/ | /;/'; pwd`);
    expect(out).toBe("/p\nA;B/\n");
  });

  test("the programs of a line write into its command as well", async () => {
    const { out } = await run("lock /l -- echo hi there | tr a-z A-Z; pwd");
    expect(out).toBe("HI THERE\n/\n");
  });

  test("a zksh in the command uses the same server", async () => {
    const zksh = `${process.execPath} ${join(import.meta.dirname, "../../bin/zksh.js")}`;
    const { out } = await run(`create /c data; echo = pwd; ls /c | ${zksh} get /c`);
    expect(out).toBe("/c\ndata");
  });

  test.each([
    ["get /none | cat; pwd", 3, ""],
    ["get /none | false; pwd", 3, ""],
    ["ls / | false; pwd", 1, ""],
    ["ls / | exit 7; pwd", 7, ""],
    ["ls / | kill -KILL $$; pwd", 137, ""],
    ["ls / | true; pwd", 0, "/\n"],
    ["ls / |; pwd", 2, ""],
  ])("%s ends with %i", async (script, code, out) => {
    expect(await run(script)).toMatchObject({ code, out });
  });

  test("a command that ends early ends the line without an error, and the script goes on", async () => {
    const paths = "/v ".repeat(400);
    const script = `create /v ${"x".repeat(40_000)}; get ${paths}| head -c 3; pwd`;
    expect(await run(script)).toEqual({ code: 0, out: "/v\nxxx/\n", stderr: "" });
  });

  test("a live view ends when the command that reads it has ended", async () => {
    const script = "watch / | head -n 1; top | head -n 1; n = watch / | head -n 1; pwd";
    const { code, out, stderr } = await run(script);
    expect([code, stderr, out.split("\n")]).toEqual([
      0,
      "",
      [expect.stringMatching(/^current \/ /), expect.any(String), "/", ""],
    ]);
  });

  test("a line that fails after its command has ended is told all the same", async () => {
    expect(await run("wait-for /none exists -w 100ms | true; pwd")).toMatchObject({ code: 7 });
  });

  test("a slow command slows the line down: memory stays flat", async () => {
    const file = join(directory, "large");
    writeFileSync(file, "x".repeat(1_000_000));
    const script = `create /v @${file}; get ${"/v ".repeat(200)}| (sleep 1; wc -c; grep VmHWM /proc/$PPID/status)`;
    const { out, code } = await run(script);
    const [, bytes, memory] = /^\/v\n(\d+)\nVmHWM:\s+(\d+) kB\n$/.exec(out) ?? [];
    expect({ code, bytes }).toEqual({ code: 0, bytes: "200000000" });
    expect(Number(memory)).toBeLessThan(300_000);
  });

  test("a variable keeps a result, and is never taken apart", async () => {
    const script = `n = create -s -e /x- -- '--yes | cat'
      v = get $n
      set $n "<$v>"
      get $n
      w = get $n | tr a-z A-Z
      set $n $w
      get $n
      t = lock /l -- echo of the program
      set $n $t
      get $n`;
    const { out, code } = await run(script);
    expect(out).toBe("<--yes | cat><--YES | CAT>of the program");
    expect(code).toBe(0);
  });

  test("a variable in a line of txn is text, whatever it holds", async () => {
    const script = `create /x -- '@/etc/hostname'
      create /y
      v = get /x
      txn "set /y $v" "set /x 'a; $v'"
      get /y
      get /x
      set /x -- "old'; delete /y; set /x 'b"
      v = get /x
      txn "set /y '$v'" "set -v 2 /y <$v>"
      get /y
      create -- "/*"
      p = find / --name '[*]'
      txn "delete $p"
      ls /`;
    const { out, stderr, code } = await run(script, "-q");
    expect([stderr, code]).toEqual(["", 0]);
    const values = "@/etc/hostnamea; @/etc/hostname";
    expect(out).toContain(values);
    expect(out).toContain("<old'; delete /y; set /x 'b>");
    expect(out).toMatch(/delete\t\/\*\nx\ny\n/);
  });

  test.each([
    ["txn $v", "'@-' is not a line of a transaction"],
    ['txn "set -$v /a"', "the name of an option cannot come from a variable"],
    ['txn "$v /a"', "'@-' is not possible here"],
  ])("a variable is not the syntax of a line of txn: %s", async (line, message) => {
    const { code, stderr } = await run(`create /a -- @-; v = get /a; ${line}`);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  test.each(["cp -r / $v", "diff $v /a", "cp $v /b"])(
    "a variable names no file and no other server: %s",
    async (line) => {
      for (const place of ["file:/etc/hostname", "zk://127.0.0.1:1/x"]) {
        const { code, stderr } = await run(`create /a ${place}; v = get /a; ${line}`);
        const message = "a variable cannot name a file or another server";
        expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
      }
    },
  );

  test("$? and $_ are the code and the last word of the line before", async () => {
    const script = `create /e 0
      exists /none
      set /e $?
      get $_
      get /e
      get /none
      set /e "$?"
      get /e`;
    const { out } = await run(script, "--keep-going", "-q");
    // After set /e 1 the last word is 1, a path that does not exist: 3.
    expect(out).toMatch(/^\/e\n(?:false\n)?13$/);
  });

  test("a variable without a value is an error that names its place", async () => {
    expect(await run("ls / | cat > /dev/null; get /a$nope; pwd")).toEqual({
      code: 2,
      out: "",
      stderr: expect.stringMatching(/^-c:1: error: the variable nope has no value \(character 7/),
    });
  });

  test.each([
    [Buffer.from([0xff, 0xfe]), "the result for v is not UTF-8 text"],
    [Buffer.alloc(900_000, "x"), "the result for v is longer than 16 MB"],
  ])("a result that a variable cannot keep is an error", async (data, message) => {
    const file = join(directory, "data");
    writeFileSync(file, data);
    const { code, stderr } = await run(`create /d @${file}; v = get ${"/d ".repeat(19)}`);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) });
  });

  test("zkCli's lines know neither pipes nor variables", async () => {
    const file = join(directory, "zkcli");
    writeFileSync(file, "create /a $x|y\nget /a | cat\n");
    const server = (await SERVERS[name]?.()) ?? [];
    const { stdout } = await runZksh([...server, "-o", "zkcli", "-f", file]);
    expect(stdout.toString()).toContain("$x|y");
  });
});

test("a line of stdin may be piped, and nothing reads the rest of the script", async () => {
  const { stdout, code } = await runZksh(["--embedded"], { input: "ls / | cat\npwd\n" });
  expect({ out: stdout.toString(), code }).toEqual({ out: "zookeeper\n/\n", code: 0 });
});

test("arguments of zksh itself are never split at a |", async () => {
  const { stderr, code } = await runZksh(["--embedded", "get", "/", "|", "cat"]);
  expect({ stderr, code }).toMatchObject({ stderr: expect.stringContaining("|"), code: 8 });
});

test("a signal ends the line, its command and all that the command has started", async () => {
  const pids = join(directory, "pids");
  const command = `(sleep 300 & echo $$ $! > ${pids}; trap '' TERM; cat; wait)`;
  const zksh = startZksh(["--embedded", "-c", `watch / | ${command}`]);
  await eventually(() => existsSync(pids) && readFileSync(pids, "utf8").endsWith("\n"));
  const [shell = 0, sleep = 0] = readFileSync(pids, "utf8").split(/\s/).map(Number);
  expect([isRunning(shell), isRunning(sleep)]).toEqual([true, true]);
  zksh.kill("SIGTERM");
  expect((await zksh.result).code).toBe(143);
  await eventually(() => !isRunning(shell) && !isRunning(sleep));
});

describe("the prompt", () => {
  const open = async (): Promise<Terminal> => {
    // The shell around zksh gets Ctrl-C as well, and has to survive it to tell the exit code.
    const before = "trap : INT";
    const terminal = await terminals.open({ before, args: ["-q", "-s", await freshChroot()] });
    await terminal.endsWith("›");
    return terminal;
  };

  test("pipes a line, keeps a result, and repeats both from its history", async () => {
    const terminal = await open();
    await terminal.enter("n = create -s /job- 'ten of them'");
    await terminal.enter("get $n | wc -w");
    await terminal.shows(/^3$/m);
    await terminal.enter("!!");
    await terminal.shows(/^3\n(.|\n)*^3$/m);
    await terminal.press("Up");
    await terminal.press("Enter");
    await terminal.shows(/(^3$(.|\n)*){3}/m);
    await terminal.enter("redo 1");
    await terminal.shows(/(^3$(.|\n)*){4}/m);
    await terminal.enter("get $nope");
    await terminal.shows("error: the variable nope has no value");
    await terminal.enter("set $n code:$?");
    await terminal.enter("get $n");
    await terminal.shows(/^code:2$/m);
    await terminal.press("C-d");
    const left = await terminal.left();
    expect(left).toMatchObject({ code: 0, after: left.before });
  });

  test("lends the terminal to a command that reads keys", async () => {
    const terminal = await open();
    await terminal.enter("ls / | (cat > /dev/null; echo ready; read x < /dev/tty; echo got $x)");
    await terminal.shows(/^ready$/m);
    await terminal.enter("a key");
    await terminal.shows(/^got a key$/m);
    await terminal.endsWith("›");
    await terminal.enter("pwd");
    await terminal.shows(/^\/$/m);
  });

  test("a command that is killed in raw mode leaves no raw terminal", async () => {
    const terminal = await open();
    await terminal.enter("ls / | (stty raw -echo -isig < /dev/tty; kill -KILL $$)");
    await terminal.endsWith("›");
    await terminal.enter("ls / | (cat > /dev/null; stty -a < /dev/tty)");
    await terminal.shows(/\bopost\b/);
    expect(await terminal.screen()).toMatch(/(^|\s)isig icanon/);
    await terminal.endsWith("›");
    await terminal.press("C-d");
    const left = await terminal.left();
    expect(left).toMatchObject({ code: 0, after: left.before });
  });

  test("Ctrl-C ends the line and its command, and the prompt comes back", async () => {
    const terminal = await open();
    const pid = join(directory, "pid");
    await terminal.enter(`watch / | (echo $$ > ${pid}; echo begun; cat)`);
    await terminal.shows(/^begun$/m);
    await terminal.press("C-c");
    await terminal.endsWith("›");
    await eventually(() => !isRunning(Number(readFileSync(pid, "utf8"))));
    await terminal.enter("pwd");
    await terminal.shows(/^\/$/m);
    await terminal.press("C-d");
    const left = await terminal.left();
    expect(left).toMatchObject({ code: 0, after: left.before });
  });

  test("the second Ctrl-C ends a command that ignores the first", async () => {
    const terminal = await open();
    await terminal.enter(
      "ls / | (trap 'echo once' INT; cat > /dev/null; echo begun; while :; do sleep 0.1; done)",
    );
    await terminal.shows(/^begun$/m);
    await terminal.press("C-c");
    await terminal.shows(/^(\^C)?once$/m);
    await terminal.press("C-c");
    await terminal.endsWith("›");
    await terminal.enter("pwd");
    await terminal.shows(/^\/$/m);
  });
});
