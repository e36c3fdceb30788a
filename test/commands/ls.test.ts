import { describe, expect, test } from "vitest";
import type { Context } from "../../src/commands/command.ts";
import { treePaths } from "../../src/commands/whole-tree.ts";
import { InterruptedError, PermissionError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

process.env.TZ = "UTC";

const TREE = { "/l": "", "/l/b": "", "/l/a": "", "/l/a/z": "", "/l/b/y": "" };
const noAuth = (path: string) =>
  new PermissionError("no-auth", `not permitted: ${path} (NoAuth)`, { code: -102, path });

const rows: Row[] = [
  {
    name: "writes one sorted name a line to a pipe",
    argv: ["ls", "/l"],
    given: TREE,
    stdout: "a\nb\n",
  },
  {
    name: "lists the root when no path is given",
    argv: ["ls"],
    given: { "/l": "" },
    stdout: "l\n",
  },
  {
    name: "writes nothing to a pipe where there are no children",
    argv: ["ls", "/l/a/z"],
    given: TREE,
    stdout: "",
  },
  {
    name: "says on a terminal that there are no children",
    argv: ["ls", "/l/a/z"],
    given: TREE,
    tty: true,
    stdout: "(no children)\n",
  },
  {
    name: "marks znodes with children on a terminal",
    argv: ["ls", "/l"],
    given: TREE,
    tty: true,
    stdout: "a/  b/\n",
  },
  {
    name: "uses columns on a terminal, from top to bottom",
    argv: ["ls", "/"],
    given: { "/aa": "", "/b": "", "/c": "", "/d": "" },
    tty: true,
    columns: 8,
    stdout: "aa  c\nb   d\n",
  },
  {
    name: "escapes names on a terminal",
    argv: ["ls", "/"],
    given: { "/\u009b2J": "" },
    tty: true,
    stdout: "\\x9b2J\n",
  },
  {
    name: "JSON is one object",
    argv: ["ls", "/l", "--json"],
    given: TREE,
    stdout: '{"path":"/l","children":["a","b"]}\n',
  },
  { name: "zkCli's brackets", argv: ["-o", "zkcli", "ls", "/l"], given: TREE, stdout: "[a, b]\n" },
  {
    name: "zkCli's empty brackets",
    argv: ["-o", "zkcli", "ls", "/l/a/z"],
    given: TREE,
    stdout: "[]\n",
  },
  {
    name: "-R writes absolute paths, each right before what is below it",
    argv: ["ls", "-R", "/l"],
    given: TREE,
    stdout: "/l\n/l/a\n/l/a/z\n/l/b\n/l/b/y\n",
  },
  {
    name: "-R starts with a root that has no children",
    argv: ["ls", "-R", "/l/a/z"],
    given: TREE,
    stdout: "/l/a/z\n",
  },
  {
    name: "-R as zkCli, in its order",
    argv: ["-o", "zkcli", "ls", "/l", "-R"],
    given: TREE,
    stdout: "/l\n/l/a\n/l/b\n/l/a/z\n/l/b/y\n",
  },
  {
    name: "-R as JSON is an object a line",
    argv: ["--json", "ls", "-R", "/l/a"],
    given: TREE,
    stdout: '{"path":"/l/a"}\n{"path":"/l/a/z"}\n',
  },
  {
    name: "-R goes on where it may not look, and ends with exit code 8",
    argv: ["ls", "-R", "/l"],
    given: TREE,
    failures: { "/l/a": noAuth("/l/a") },
    stdout: "/l\n/l/a\n/l/b\n/l/b/y\n",
    stderr: "error: could not list /l/a\n  not permitted: /l/a (NoAuth)\n",
    exit: 8,
  },
  {
    name: "-R reports a missing root with exit code 3",
    argv: ["ls", "-R", "/x"],
    stderr: "error: no such znode: /x (NoNode)\n",
    exit: 3,
  },
  {
    name: "-l writes tabs to a pipe",
    argv: ["ls", "-l", "/l"],
    given: { ...TREE, "/l/a": "data" },
    stdout:
      "4\t0\t1\t2026-11-16T04:42:11.000Z\t0x0\ta\n0\t0\t1\t2026-11-16T04:42:11.000Z\t0x0\tb\n",
  },
  {
    name: "-l is aligned on a terminal",
    argv: ["ls", "-l", "/l"],
    given: { ...TREE, "/l/a": "data" },
    tty: true,
    stdout:
      "   SIZE  VERSION  CHILDREN  MODIFIED             OWNER  NAME\n" +
      "      4        0         1  2026-11-16 04:42:11  -      a/\n" +
      "      0        0         1  2026-11-16 04:42:11  -      b/\n",
  },
  {
    name: "-l -R writes whole paths, and its titles once",
    argv: ["ls", "-lR", "/l"],
    given: TREE,
    tty: true,
    stdout:
      "   SIZE  VERSION  CHILDREN  MODIFIED             OWNER  NAME\n" +
      ["/l/", "/l/a/", "/l/a/z", "/l/b/", "/l/b/y"]
        .map(
          (name, i) =>
            `      0        0         ${[2, 1, 0, 1, 0][i]}  2026-11-16 04:42:11  -      ${name}\n`,
        )
        .join(""),
  },
  {
    name: "-l has an object a line as JSON",
    argv: ["--json", "ls", "-l", "/l/a"],
    given: TREE,
    stdout: `${JSON.stringify({
      path: "/l/a/z",
      stat: {
        czxid: "0x5",
        mzxid: "0x5",
        pzxid: "0x5",
        ctime: "2026-11-16T04:42:11.000Z",
        ctimeMs: 1794804131000,
        mtime: "2026-11-16T04:42:11.000Z",
        mtimeMs: 1794804131000,
        version: 0,
        cversion: 0,
        aversion: 0,
        ephemeralOwner: "0x0",
        dataLength: 0,
        numChildren: 0,
      },
    })}\n`,
  },
  {
    name: "-l says it too",
    argv: ["ls", "-l", "/l/a/z"],
    given: TREE,
    tty: true,
    stdout: "(no children)\n",
  },
  {
    name: "refuses to watch",
    argv: ["ls", "-w", "/"],
    stderr:
      "error: a one-shot command ends before a watch could fire\n  -w works only inside the shell; watch PATH keeps running\n",
    exit: 2,
  },
];

describe("ls", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("-s adds the stat, in the same request", async () => {
    const { stdout, session } = await run(["ls", "-s", "/l"], { given: TREE });
    expect(stdout).toMatch(/^a\nb\ncZxid = 0x2\n(.*\n){9}numChildren = 2\n$/);
    expect(session.asked.slice(0, 2)).toEqual(["getChildren2 /l", "close"]);
  });

  test("marks and colours ephemerals", async () => {
    const session = new StubSession({ "/e": "" });
    await session.create("/e/lock", null, { mode: "ephemeral" });
    const { stdout } = await run(["ls", "/e"], { session, tty: true, colorLevel: 1 });
    expect(stdout).toBe("\u001b[35mlock\u001b[39m*\n");
  });

  test("requests only the names in a pipe", async () => {
    const { session } = await run(["ls", "/l"], { given: TREE });
    expect(session.asked).toEqual(["getChildren /l", "close", "close"]);
  });

  test("requests the stats of all children together on a terminal", async () => {
    const { session } = await run(["ls", "/l"], { given: TREE, tty: true });
    expect(session.asked).toEqual(["getChildren /l", "exists /l/a", "exists /l/b", "close"]);
  });

  test("-R asks for many znodes at once", async () => {
    const { session } = await run(["ls", "-R", "/l"], { given: TREE });
    expect(session.asked).toEqual([
      "getChildren /l",
      "multiRead /l/a /l/b",
      "multiRead /l/a/z /l/b/y",
      "close",
    ]);
  });

  test("writes many children piece by piece, and stops between two when interrupted", async () => {
    const controller = new AbortController();
    const session = new StubSession();
    session.getChildren = async () =>
      Array.from({ length: 10_000 }, (_, i) => String(i).padStart(5, "0"));
    const context = {
      session: () => session.asSession(),
      signal: controller.signal,
      output: { isZkcli: true },
    } as Partial<Context> as Context;
    const pieces = treePaths(context, "/");
    const { value: first } = await pieces.next();
    expect([first?.paths.slice(0, 2), (first?.paths.length ?? 0) < 10_000]).toEqual([
      ["/", "/00000"],
      true,
    ]);
    controller.abort(new InterruptedError());
    await expect(pieces.next()).rejects.toThrow("interrupted");
  });
});
