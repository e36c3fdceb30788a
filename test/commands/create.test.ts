import { describe, expect, test } from "vitest";
import { ConflictError, NoNodeError, PermissionError } from "../../src/errors.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { refusal } from "./stub-session.ts";

const HASHED = "bob:fyVmFCwVbTJYrznoSu1koqYEYF0=";
const NOTE = "note: the session ends now, and the ephemeral znode is deleted with it\n";

const rows: Row[] = [
  { name: "writes the path to a pipe", argv: ["create", "/a"], stdout: "/a\n" },
  {
    name: "confirms on a terminal",
    argv: ["create", "/a", "x"],
    tty: true,
    stdout: "Created /a\n",
  },
  { name: "JSON has the path", argv: ["--json", "create", "/a"], stdout: '{"path":"/a"}\n' },
  {
    name: "zkCli confirms on stderr",
    argv: ["-o", "zkcli", "create", "/a"],
    stderr: "Created /a\n",
  },
  { name: "-s gives the real path", argv: ["create", "-s", "/a-"], stdout: "/a-0000000000\n" },
  {
    name: "-s may end with a slash",
    argv: ["create", "-s", "/a/"],
    given: { "/a": "" },
    stdout: "/a/0000000000\n",
  },
  {
    name: "-e says that it will not last",
    argv: ["create", "-e", "/a"],
    stdout: "/a\n",
    stderr: NOTE,
  },
  {
    name: "flags can be bundled",
    argv: ["create", "-es", "/a"],
    stdout: "/a0000000000\n",
    stderr: NOTE,
  },
  { name: "-q leaves the note out", argv: ["-q", "create", "-e", "/a"], stdout: "/a\n" },
  { name: "-p makes parents", argv: ["create", "-p", "/a/b/c"], stdout: "/a/b/c\n" },
  {
    name: "a missing parent leads to -p",
    argv: ["create", "/a/b"],
    stderr:
      "error: cannot create /a/b: its parent /a does not exist (NoNode)\n  create -p creates missing parents too\n",
    exit: 3,
  },
  {
    name: "a znode that exists is a conflict",
    argv: ["create", "/a"],
    given: { "/a": "" },
    stderr:
      "error: znode already exists: /a (NodeExists)\n  set replaces the data of an existing znode\n",
    exit: 5,
  },
  {
    name: "--if-missing creates a missing znode",
    argv: ["create", "--if-missing", "-p", "/a/b", "x"],
    stdout: "/a/b\n",
  },
  {
    name: "--if-missing accepts a znode that exists",
    argv: ["create", "--if-missing", "/a", "x"],
    given: { "/a": "" },
    stdout: "/a\n",
    stderr: "note: /a exists\n",
  },
  {
    name: "--if-missing with -p accepts a znode that exists",
    argv: ["-q", "create", "--if-missing", "-p", "/a/b"],
    given: { "/a": "", "/a/b": "" },
    stdout: "/a/b\n",
  },
  {
    name: "--if-missing says on a terminal that the znode exists",
    argv: ["create", "--if-missing", "-e", "/a"],
    given: { "/a": "" },
    tty: true,
    stdout: "/a exists, nothing changed\n",
  },
  {
    name: "--if-missing says in JSON that the znode existed",
    argv: ["--json", "create", "--if-missing", "/a"],
    given: { "/a": "" },
    stdout: '{"path":"/a","existed":true}\n',
  },
  {
    name: "--if-missing says as zkCli that the znode exists",
    argv: ["-o", "zkcli", "create", "--if-missing", "/a"],
    given: { "/a": "" },
    stderr: "/a exists\n",
  },
  {
    name: "--if-missing excludes -s",
    argv: ["create", "--if-missing", "-s", "/a"],
    stderr: "error: --if-missing cannot be combined with -s: each number is new\n",
    exit: 2,
  },
  {
    name: "-p does not hide that the znode exists",
    argv: ["create", "-p", "/a"],
    given: { "/a": "" },
    stderr:
      "error: znode already exists: /a (NodeExists)\n  set replaces the data of an existing znode\n",
    exit: 5,
  },
  {
    name: "-p reports the parent that could not be made",
    argv: ["create", "-p", "/a/b/c"],
    failures: {
      "/a": new PermissionError("no-auth", "not permitted: /a (NoAuth)", {
        code: -102,
        path: "/a",
      }),
    },
    stderr:
      "error: not permitted: /a (NoAuth)\n  authenticate with --auth SCHEME:CRED, or addauth at the prompt, or log in with --sasl digest:USER or --sasl gssapi; getAcl shows the permissions\n",
    exit: 4,
  },
  {
    name: "-p reports a parent that cannot have children",
    argv: ["create", "-p", "/e/b/c"],
    given: { "/e": "" },
    failures: {
      "/e/b": new ConflictError("no-children-for-ephemerals", "ephemerals have none: /e/b"),
    },
    stderr: "error: ephemerals have none: /e/b\n",
    exit: 5,
  },
  {
    name: "-p does not lead to -p",
    argv: ["create", "-p", "/a/b"],
    failures: {
      "/a/b": new NoNodeError("no-node", "no such znode: /a/b (NoNode)", {
        code: -101,
        path: "/a/b",
      }),
    },
    stderr:
      "error: no such znode: /a/b (NoNode)\n  a parent was deleted in the meantime, or the chroot does not exist\n",
    exit: 3,
  },
  {
    name: "ignores a slash at the end of the path",
    argv: ["create", "/a/"],
    stdout: "/a\n",
  },
  {
    name: "-c excludes -e and -s",
    argv: ["create", "-ce", "/a"],
    stderr:
      "error: -c cannot be combined with -s or -e. Containers cannot be ephemeral or sequential.\n",
    exit: 2,
  },
  {
    name: "-t excludes -e",
    argv: ["create", "-e", "-t", "5", "/a"],
    stderr: "error: TTLs cannot be used with Ephemeral znodes\n",
    exit: 2,
  },
  {
    name: "-t excludes -c",
    argv: ["create", "-c", "-t", "5", "/a"],
    stderr: "error: TTLs cannot be used with Container znodes\n",
    exit: 2,
  },
  {
    name: "a TTL has bounds",
    argv: ["create", "-t", "0", "/a"],
    stderr: "error: ttl must be positive and cannot be larger than: 1099511627775\n",
    exit: 2,
  },
  {
    name: "an ACL entry that zkCli would skip is an error",
    argv: ["create", "/a", "x", "bogus"],
    stderr:
      "error: bogus does not have the form scheme:id:perm\n" +
      "  use for example world:anyone:r or digest:USER:HASH:cdrwa; data with spaces needs quotes\n",
    exit: 2,
  },
  {
    name: "data in several words is too much",
    argv: ["create", "/a", "{k:", "1,", "l:", "2}"],
    stderr: "error: too many arguments\n  data with spaces needs quotes\n",
    exit: 2,
  },
  {
    name: "a server without TTLs is explained",
    argv: ["create", "-t", "5s", "/a"],
    failures: { "/a": refusal("unimplemented", -6, "/a") },
    stderr:
      "error: unimplemented: /a\n" +
      "  TTLs need zookeeper.extendedTypesEnabled=true on the servers; containers need ZooKeeper 3.5\n",
    exit: 1,
  },
];

const modes = [
  { flags: [], mode: "persistent" },
  { flags: ["-s"], mode: "persistentSequential" },
  { flags: ["-e"], mode: "ephemeral" },
  { flags: ["-se"], mode: "ephemeralSequential" },
  { flags: ["-c"], mode: "container" },
  { flags: ["-t", "10s"], mode: "persistentWithTtl", ttlMs: 10_000 },
  { flags: ["-s", "-t=500"], mode: "persistentSequentialWithTtl", ttlMs: 500 },
];

const contents: {
  name: string;
  words: string[];
  stdin?: string;
  files?: Record<string, string>;
  data: string | null;
}[] = [
  { name: "none is null", words: [], data: null },
  { name: "text", words: ["x y"], data: "x y" },
  { name: "empty text", words: [""], data: "" },
  { name: "stdin", words: ["-"], stdin: "from\nstdin", data: "from\nstdin" },
  { name: "a file", words: ["@f"], files: { f: "from a file" }, data: "from a file" },
  { name: "text that starts with @", words: ["@@f"], data: "@f" },
  { name: "text that starts with a dash", words: ["--", "-x"], data: "-x" },
  { name: "a negative number", words: ["-5"], data: "-5" },
  { name: "base64", words: ["-b", "aGkh"], data: "hi!" },
  { name: "base64 from a file", words: ["-b", "@f"], files: { f: "aGkh\n" }, data: "hi!" },
  { name: "none, as base64", words: ["-b"], data: null },
];

describe("create", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test.each(modes)("$flags makes a $mode znode", async ({ flags, mode, ttlMs }) => {
    const { session } = await run(["create", ...flags, "/a"]);
    const { signal: _, ...options } = session.creates[0] ?? {};
    expect(options).toEqual({ mode, ...(ttlMs && { ttlMs }) });
  });

  test.each(contents)("data: $name", async ({ words, data, ...io }) => {
    const { session, exit } = await run(["create", "/a", ...words], io);
    expect({ exit, data: session.dataOf("/a") }).toEqual({ exit: 0, data });
  });

  test.each([
    ["--", "@/etc/passwd", "world:anyone:r"],
    ["@/etc/passwd", "--literal"],
    ["-s", "--literal", "@/etc/passwd"],
  ])("%s %s %s: the data is text", async (...words) => {
    const { session, exit } = await run(["create", "/a", ...words]);
    expect([exit, session.dataOf(words[0] === "-s" ? "/a0000000000" : "/a")]).toEqual([
      0,
      "@/etc/passwd",
    ]);
  });

  test("passes the ACL on, to parents too", async () => {
    const { session } = await run(["create", "-p", "/a/b", "x", `digest:${HASHED}:rw`]);
    expect(session.creates.map(({ acl }) => acl)).toEqual(
      Array(3).fill([{ scheme: "digest", id: HASHED, perms: 3 }]),
    );
  });

  test("a password where a hash belongs is refused, and not repeated", async () => {
    const { session, stderr, exit } = await run([
      "create",
      "/a",
      "x",
      "world:anyone:r,digest:bob:secret:cdrwa",
    ]);
    expect([stderr.split("\n")[0], exit]).toEqual([
      "error: the digest of 'bob' is not a hash (28 characters of base64)",
      2,
    ]);
    expect([stderr.includes("secret"), session.creates]).toEqual([false, []]);
  });

  test("--hash-digests hashes passwords", async () => {
    const { session } = await run(["create", "--hash-digests", "/a", "x", "digest:bob:secret:r"]);
    expect(session.creates[0]?.acl).toEqual([{ scheme: "digest", id: HASHED, perms: 1 }]);
  });

  test("--hash-digests needs a password, and does not repeat what it was given", async () => {
    const { stderr, exit } = await run(["create", "--hash-digests", "/a", "x", "digest:secret:r"]);
    expect([stderr, exit]).toEqual([
      "error: the id of a digest to hash must be USER:PASSWORD\n  use for example digest:USER:PASSWORD:cdrwa\n",
      2,
    ]);
  });

  test("says goodbye in the same flight as its request", async () => {
    const { session } = await run(["create", "/a"]);
    expect(session.asked.slice(0, 2)).toEqual(["create /a", "close"]);
  });

  test("-p tries the znode alone, then everything in one flight, and only then says goodbye", async () => {
    const { session } = await run(["create", "-p", "/a/b/c"]);
    expect(session.asked).toEqual([
      "create /a/b/c",
      "create /a",
      "create /a/b",
      "create /a/b/c",
      "close",
    ]);
  });
});
