import { describe, expect, test } from "vitest";
import { PermissionError } from "../../src/errors.ts";
import { interruptedAt } from "./interrupted-at.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { refusal, StubSession } from "./stub-session.ts";

const given = { "/a": "x" };
const tree = { "/a": "", "/a/b": "", "/a/b/c": "", "/a/d": "" };
const noAuth = (path: string) =>
  new PermissionError("no-auth", `not permitted: ${path} (NoAuth)`, { code: -102, path });

const rows: Row[] = [
  { name: "is silent in a pipe", argv: ["setAcl", "/a", "world:anyone:r"], given },
  {
    name: "confirms on a terminal",
    argv: ["setAcl", "/a", "world:anyone:r"],
    given,
    tty: true,
    stdout: "Changed the ACL of /a (version 1)\n",
  },
  { name: "is silent as zkCli", argv: ["-o", "zkcli", "setAcl", "/a", "world:anyone:r"], given },
  {
    name: "is silent as zkCli with -R",
    argv: ["-o", "zkcli", "-y", "setAcl", "-R", "/a", "world:anyone:r"],
    given,
  },
  { name: "honours -v", argv: ["setAcl", "-v", "0", "/a", "world:anyone:r"], given },
  {
    name: "refuses another version",
    argv: ["setAcl", "-v", "7", "/a", "world:anyone:r"],
    given,
    stderr: "error: the ACL of /a is at version 0, not 7 (BadVersion)\n",
    exit: 5,
  },
  {
    name: "honours a version as the last word",
    argv: ["setAcl", "/a", "world:anyone:r", "7"],
    given,
    stderr: "error: the ACL of /a is at version 0, not 7 (BadVersion)\n",
    exit: 5,
  },
  {
    name: "helps with an ACL that the server does not accept",
    argv: ["setAcl", "/a", "auth::r"],
    failures: { "/a": refusal("invalid-acl", -114, "/a") },
    stderr:
      "error: invalid-acl: /a\n" +
      "  auth:: needs an identity (addauth); a digest needs a hash (--hash-digests)\n",
    exit: 1,
  },
  {
    name: "has zkCli's words for it",
    argv: ["-o", "zkcli", "setAcl", "/a", "auth::r"],
    failures: { "/a": refusal("invalid-acl", -114, "/a") },
    stderr: "Acl is not valid : /a\n",
    exit: 1,
  },
  {
    name: "-R prints its question without a terminal",
    argv: ["setAcl", "-R", "/a", "world:anyone:r"],
    given: tree,
    stderr:
      "error: setAcl needs confirmation, and there is no terminal; add --yes to go ahead\n" +
      "  the question: Set the ACL of /a and the 3 znodes below it (b, d, …) to world:anyone:r? " +
      "(--dry-run shows what would happen)\n",
    exit: 9,
  },
  {
    name: "-R is silent in a pipe",
    argv: ["-y", "setAcl", "-R", "/a", "world:anyone:r"],
    given: tree,
  },
  {
    name: "-R confirms on a terminal",
    argv: ["-y", "setAcl", "-R", "/a", "world:anyone:r"],
    given: tree,
    tty: true,
    stdout: "Changed the ACL of /a and 3 below it\n",
  },
  {
    name: "-R has a number in JSON",
    argv: ["--json", "-y", "setAcl", "-R", "/a", "world:anyone:r"],
    given: tree,
    stdout: '{"path":"/a","changed":4}\n',
  },
  {
    name: "-R --dry-run lists",
    argv: ["setAcl", "-R", "--dry-run", "/a", "world:anyone:r"],
    given: tree,
    stdout: "/a\n/a/b\n/a/b/c\n/a/d\n",
  },
  {
    name: "--dry-run works only with -R",
    argv: ["setAcl", "--dry-run", "/a", "world:anyone:r"],
    given,
    stderr: "error: --dry-run works only with -R\n",
    exit: 2,
  },
  {
    name: "-R names what it could not change",
    argv: ["-y", "setAcl", "-R", "-v", "0", "/a", "world:anyone:r"],
    given: tree,
    failures: { "/a/d": noAuth("/a/d") },
    stderr:
      "error: not permitted: /a/d (NoAuth)\nerror: 3 znodes changed, 1 znode could not be changed\n",
    exit: 8,
  },
  {
    name: "-R as zkCli: one behind the other, on stdout",
    argv: ["-o", "zkcli", "-y", "setAcl", "-R", "-v", "7", "/a", "world:anyone:r"],
    given: tree,
    stdout: ["/a", "/a/b", "/a/d", "/a/b/c"]
      .map((path) => `KeeperErrorCode = BadVersion for ${path}`)
      .join(""),
    exit: 8,
  },
  ...["/", "/zookeeper", "/zookeeper/quota"].map((path) => ({
    name: `-R refuses ${path}, even with --yes`,
    argv: ["-y", "setAcl", "-R", path, "world:anyone:r"],
    stderr:
      path === "/"
        ? "error: setAcl -R refuses /\n  name the znodes below / one by one\n"
        : `error: setAcl -R refuses ${path}\n  the znodes below /zookeeper belong to the server\n`,
    exit: 9,
  })),
  {
    name: "-R reports a missing znode with exit code 3",
    argv: ["-y", "setAcl", "-R", "/a", "world:anyone:r"],
    stderr: "error: no such znode: /a (NoNode)\n",
    exit: 3,
  },
];

describe("setAcl", () => {
  test("-R: Ctrl-C says how much was changed, requests under way included", async () => {
    const session = new StubSession({ "/a": "", "/a/b": "", "/a/c": "", "/a/d": "" });
    const argv = ["-y", "setAcl", "-R", "/a", "world:anyone:r"];
    const { stderr, exit } = await interruptedAt(session, "setAcl", 3, argv);
    expect([exit, stderr]).toEqual([
      130,
      "interrupted: 3 znodes changed below /a; the rest keeps its old ACL\n",
    ]);
  });

  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("changes the ACL, and with -R that of everything below", async () => {
    const { session } = await run(["-y", "setAcl", "-R", "/a", "world:anyone:r"], {
      given: { ...tree, "/e": "" },
    });
    const acls = [...Object.keys(tree), "/e"].map((path) => session.aclOf(path)?.[0]?.perms);
    expect(acls).toEqual([1, 1, 1, 1, 31]);
  });

  test("--hash-digests hashes passwords and nothing else", async () => {
    const acl = "digest:bob:secret:r,world:anyone:r";
    const { session } = await run(["setAcl", "--hash-digests", "/a", acl], { given });
    expect(session.aclOf("/a")).toEqual([
      { scheme: "digest", id: "bob:fyVmFCwVbTJYrznoSu1koqYEYF0=", perms: 1 },
      { scheme: "world", id: "anyone", perms: 1 },
    ]);
  });

  test("leaves hashes alone without it", async () => {
    const hashed = "bob:fyVmFCwVbTJYrznoSu1koqYEYF0=";
    const { session, exit } = await run(["setAcl", "/a", `digest:${hashed}:r`], { given });
    expect([exit, session.aclOf("/a")]).toEqual([0, [{ scheme: "digest", id: hashed, perms: 1 }]]);
  });

  test.each([
    { words: ["setAcl", "/a"] },
    { words: ["-o", "zkcli", "setAcl", "/a"] },
    { words: ["-y", "setAcl", "-R", "/a"] },
    { words: ["setAcl", "-R", "--dry-run", "/a"] },
  ])(
    "$words refuses a password where a hash belongs, and does not repeat it",
    async ({ words }) => {
      for (const id of [
        "ann:secret",
        "ann:",
        "ann:x",
        "ann:fyVmFCwVbTJYrznoSu1koqYEYF0",
        "ann:sec:ret",
      ]) {
        const { session, stderr, exit } = await run([...words, `digest:${id}:cdrwa`], { given });
        expect([exit, stderr]).toEqual([
          2,
          expect.stringContaining("the digest of 'ann' is not a hash"),
        ]);
        expect(stderr).not.toContain("secret");
        expect(session.aclOf("/a")?.[0]).toMatchObject({ scheme: "world" });
      }
    },
  );

  test("-s writes the new stat", async () => {
    const { stdout } = await run(["setAcl", "-s", "/a", "world:anyone:r"], { given });
    expect(stdout).toContain("\naclVersion = 1\n");
  });

  test("says goodbye in the same flight as its request, but not with -R", async () => {
    const { session } = await run(["setAcl", "/a", "world:anyone:r"], { given });
    expect(session.asked.slice(0, 2)).toEqual(["setAcl /a", "close"]);
    const { session: other } = await run(["-y", "setAcl", "-R", "/a", "world:anyone:r"], { given });
    expect(other.asked).toEqual(["getChildren /a", "setAcl /a", "close"]);
  });
});
