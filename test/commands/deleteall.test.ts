import { describe, expect, test } from "vitest";
import { PermissionError } from "../../src/errors.ts";
import { interruptedAt } from "./interrupted-at.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const given = { "/a": "", "/a/b": "", "/a/b/c": "", "/a/d": "", "/a/e": "", "/a/f": "", "/g": "" };
const noAuth = new PermissionError("no-auth", "not permitted: /a/b/c (NoAuth)", {
  code: -102,
  path: "/a/b/c",
});

const rows: Row[] = [
  {
    name: "prints its question without a terminal",
    argv: ["deleteall", "/a"],
    given,
    stderr:
      "error: deleteall needs confirmation, and there is no terminal; add --yes to go ahead\n" +
      "  the question: Delete /a and the 5 znodes below it (b, d, e, …)? (--dry-run shows what would happen)\n",
    exit: 9,
  },
  {
    name: "asks about a single znode too",
    argv: ["deleteall", "/g"],
    given,
    stderr:
      "error: deleteall needs confirmation, and there is no terminal; add --yes to go ahead\n" +
      "  the question: Delete /g? (--dry-run shows what would happen)\n",
    exit: 9,
  },
  { name: "is silent in a pipe", argv: ["-y", "deleteall", "/a"], given },
  {
    name: "confirms on a terminal",
    argv: ["-y", "deleteall", "/a"],
    given,
    tty: true,
    stdout: "Deleted /a and 5 below it\n",
  },
  { name: "is silent as zkCli", argv: ["-o", "zkcli", "-y", "deleteall", "/a"], given },
  {
    name: "JSON has a number",
    argv: ["--json", "-y", "deleteall", "/a"],
    given,
    stdout: '{"path":"/a","deleted":6}\n',
  },
  {
    name: "is called rmr, too",
    argv: ["--json", "-y", "rmr", "/a"],
    given,
    stdout: '{"path":"/a","deleted":6}\n',
  },
  {
    name: "--dry-run lists",
    argv: ["deleteall", "--dry-run", "/a"],
    given,
    stdout: "/a\n/a/b\n/a/b/c\n/a/d\n/a/e\n/a/f\n",
  },
  {
    name: "reports a missing znode with exit code 3",
    argv: ["-y", "deleteall", "/x"],
    stderr: "error: no such znode: /x (NoNode)\n",
    exit: 3,
  },
  {
    name: "reports a missing znode rather than asking",
    argv: ["deleteall", "/x"],
    stderr: "error: no such znode: /x (NoNode)\n",
    exit: 3,
  },
  {
    name: "names what it could not delete",
    argv: ["-y", "deleteall", "/a"],
    given,
    failures: { "/a/b/c": noAuth },
    stderr:
      "error: not permitted: /a/b/c (NoAuth)\nerror: 3 znodes deleted, 1 znode could not be deleted\n",
    exit: 8,
  },
  {
    name: "has zkCli's sentence for that",
    argv: ["-o", "zkcli", "-y", "deleteall", "/a"],
    given,
    failures: { "/a/b/c": noAuth },
    stderr: "Failed to delete some node(s) in the subtree!\n",
    exit: 8,
  },
  {
    name: "JSON has one object each",
    argv: ["--json", "-y", "deleteall", "/a"],
    given,
    failures: { "/a/b/c": noAuth },
    stderr:
      '{"error":{"reason":"no-auth","message":"not permitted: /a/b/c (NoAuth)","code":-102,"path":"/a/b/c"}}\n' +
      '{"error":{"reason":"partial","message":"3 znodes deleted, 1 znode could not be deleted","exitCode":8,"path":"/a/b/c"}}\n',
    exit: 8,
  },
  {
    name: "reports the reason itself if no znode could be deleted",
    argv: ["-y", "deleteall", "/a/b/c"],
    given,
    failures: { "/a/b/c": noAuth },
    stderr:
      "error: not permitted: /a/b/c (NoAuth)\n  authenticate with --auth SCHEME:CRED, or addauth at the prompt, or log in with --sasl digest:USER or --sasl gssapi; getAcl shows the permissions\n",
    exit: 4,
  },
  {
    name: "asks once for several trees, with the list",
    argv: ["deleteall", "/a", "/g", "/x"],
    given,
    stderr:
      "error: deleteall needs confirmation, and there is no terminal; add --yes to go ahead\n" +
      "  the question: Delete 3 trees: /a and the 5 znodes below it (b, d, e, …); /g; /x (does not exist)? " +
      "(--dry-run shows what would happen)\n",
    exit: 9,
  },
  {
    name: "confirms each of several trees on a terminal",
    argv: ["-y", "deleteall", "/a/b", "/g"],
    given,
    tty: true,
    stdout: "Deleted /a/b and 1 below it\nDeleted /g\n",
  },
  {
    name: "deletes the other trees where one is missing",
    argv: ["--json", "-y", "deleteall", "/x", "/g"],
    given,
    stdout: '{"path":"/g","deleted":1}\n',
    stderr:
      '{"error":{"reason":"no-node","message":"no such znode: /x (NoNode)","code":-101,"path":"/x"}}\n' +
      '{"error":{"reason":"partial","message":"1 znode deleted, 1 znode could not be deleted","exitCode":8,"path":"/x"}}\n',
    exit: 8,
  },
  {
    name: "several trees that are all missing have exit code 3",
    argv: ["-y", "deleteall", "/x", "/y"],
    given,
    stderr: "error: no such znode: /x (NoNode)\nerror: no such znode: /y (NoNode)\n",
    exit: 3,
  },
  {
    name: "deletes none of several trees if one is protected",
    argv: ["-y", "deleteall", "/g", "/zookeeper"],
    given,
    stderr:
      "error: deleteall refuses /zookeeper\n  the znodes below /zookeeper belong to the server\n",
    exit: 9,
  },
  {
    name: "--dry-run lists several trees",
    argv: ["deleteall", "--dry-run", "/g", "/a/b"],
    given,
    stdout: "/g\n/a/b\n/a/b/c\n",
  },
  {
    name: "ignores further words as zkCli",
    argv: ["-o", "zkcli", "-y", "deleteall", "/g", "/x"],
    given,
  },
  {
    name: "the batch size is a number",
    argv: ["-y", "deleteall", "/a", "-b", "x"],
    given,
    stderr: "error: -b argument must be an int value\n",
    exit: 2,
  },
  {
    name: "--max allows as many znodes",
    argv: ["--json", "-y", "deleteall", "/a", "--max", "6"],
    given,
    stdout: '{"path":"/a","deleted":6}\n',
  },
  ...[["-y"], [], ["-y", "--dry-run"]].map((flags) => ({
    name: `--max refuses more znodes: ${flags.join(" ")}`,
    argv: ["deleteall", "/a", "--max", "5", ...flags],
    given,
    stderr:
      "error: deleteall refuses: /a has 6 znodes, more than --max 5\n  nothing was deleted; delete a smaller tree, or raise --max\n",
    exit: 9,
  })),
  {
    name: "--max counts the znodes of several trees together, each once",
    argv: ["-y", "deleteall", "/a/b", "/a", "/g", "/x", "--max", "6"],
    given,
    stderr:
      "error: deleteall refuses: these 3 trees have 7 znodes, more than --max 6\n  nothing was deleted; delete a smaller tree, or raise --max\n",
    exit: 9,
  },
  {
    name: "--max needs a number",
    argv: ["-y", "deleteall", "/a", "--max", "few"],
    given,
    stderr: "error: bad limit 'few'\n  use a whole number of znodes\n",
    exit: 2,
  },
  ...["/", "/zookeeper", "/zookeeper/quota/a"].flatMap((path) =>
    [
      ["-y", "deleteall", path],
      ["deleteall", path],
      ["deleteall", "--dry-run", path],
    ].map((argv) => ({
      name: `refuses ${path}: ${argv.join(" ")}`,
      argv,
      stderr:
        path === "/"
          ? "error: deleteall refuses /\n  name the znodes below / one by one\n"
          : `error: deleteall refuses ${path}\n  the znodes below /zookeeper belong to the server\n`,
      exit: 9,
    })),
  ),
];

describe("deleteall", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("deletes the tree and nothing else, in transactions", async () => {
    const { session } = await run(["-y", "deleteall", "-b", "4", "/a"], { given });
    expect(session.paths()).toEqual(["/", "/g"]);
    expect(session.asked.filter((request) => request.startsWith("multi "))).toEqual([
      "multi delete /a/b/c, delete /a/b, delete /a/d, delete /a/e",
      "multi delete /a/f, delete /a",
    ]);
  });

  test("-b 0 does without transactions", async () => {
    const { session } = await run(["-y", "deleteall", "-b", "0", "/a"], { given });
    expect(session.paths()).toEqual(["/", "/g"]);
    expect(session.asked.filter((request) => request.startsWith("multi "))).toEqual([]);
  });

  test("Ctrl-C says how much was deleted, requests under way included", async () => {
    const session = new StubSession(
      Object.fromEntries(["/a", ..."0123456789"].map((n) => [n === "/a" ? n : `/a/${n}`, ""])),
    );
    const { stderr, exit } = await interruptedAt(session, "multi", 2, [
      "-y",
      "deleteall",
      "-b",
      "2",
      "/a",
    ]);
    expect([exit, stderr]).toEqual([
      130,
      "interrupted: 4 znodes deleted below /a; the rest is still there\n",
    ]);
    expect(session.paths()).toHaveLength(8);
  });

  test("Ctrl-C without transactions says it too", async () => {
    const session = new StubSession(given);
    const { stderr, exit } = await interruptedAt(session, "delete", 3, [
      "-y",
      "deleteall",
      "-b",
      "0",
      "/a",
    ]);
    expect([exit, stderr]).toEqual([
      130,
      "interrupted: 3 znodes deleted below /a; the rest is still there\n",
    ]);
  });

  test("--dry-run deletes nothing and asks no question", async () => {
    const { session } = await run(["deleteall", "--dry-run", "/a"], { given });
    expect(session.paths()).toEqual(["/", ...Object.keys(given)]);
  });

  test("--max deletes nothing where it refuses", async () => {
    const { session } = await run(["-y", "deleteall", "/a", "--max", "5"], { given });
    expect(session.paths()).toEqual(["/", ...Object.keys(given)]);
  });

  test("--yes does not even count", async () => {
    const { session } = await run(["-y", "deleteall", "/a"], { given });
    expect(session.asked[0]).toBe("getChildren /a");
  });
});
