import { describe, expect, test } from "vitest";
import { OperationError, PermissionError } from "../../src/errors.ts";
import type { Acl, Identity } from "../../src/session/session.ts";
import { expected, outcome, type Row, run } from "./run.ts";
import { StubSession } from "./stub-session.ts";

const given = { "/a": "x", "/a/b": "y" };

/** The ACL of every znode, and what is known of the client. */
class Guarded extends StubSession {
  readonly #acl: readonly Acl[];
  readonly #isSilent: boolean;

  constructor(acl: readonly Acl[], { isSilent = false } = {}) {
    super(given);
    this.#acl = acl;
    this.#isSilent = isSilent;
  }

  override async getAcl(path: string) {
    const { stat } = await super.getAcl(path);
    return { acl: [...this.#acl], stat };
  }

  override async whoAmI(): Promise<Identity[]> {
    if (this.#isSilent) throw new OperationError("unimplemented", "whoAmI needs ZooKeeper 3.7");
    return super.whoAmI();
  }
}

const READ: readonly Acl[] = [{ perms: 1, scheme: "world", id: "anyone" }];
const HIDDEN: readonly Acl[] = [...READ, { perms: 2, scheme: "digest", id: "ann:x" }];
const LOCAL: readonly Acl[] = [{ perms: 31, scheme: "ip", id: "192.168.0.0/16" }];

const rows: Row[] = [
  {
    name: "names the entry that permits it",
    argv: ["can", "write", "/a"],
    given,
    tty: true,
    stdout: "yes: world:anyone:cdrwa of /a\n",
  },
  {
    name: "in a pipe, with tabs between answer, znode and entry",
    argv: ["can", "delete", "/a/b"],
    given,
    stdout: "yes\t/a\tworld:anyone:cdrwa\n",
  },
  {
    name: "a missing znode is created below the nearest parent",
    argv: ["can", "create", "/a/x/y"],
    given,
    tty: true,
    stdout: "yes: world:anyone:cdrwa of /a (the nearest existing parent of /a/x/y)\n",
  },
  {
    name: "says no with exit code 1",
    argv: ["can", "write", "/a"],
    session: new Guarded(READ),
    tty: true,
    stdout: "no: no entry of /a gives write permission to this session\n",
    exit: 1,
  },
  {
    name: "says no in a pipe",
    argv: ["can", "write", "/a"],
    session: new Guarded(READ),
    stdout: "no\t/a\t\n",
    exit: 1,
  },
  {
    name: "/ cannot be deleted",
    argv: ["can", "delete", "/"],
    given,
    tty: true,
    stdout: "no: / cannot be deleted\n",
    exit: 1,
  },
  {
    name: "a hidden hash cannot be told, with exit code 4",
    argv: ["--auth", "digest:ann:pw", "can", "write", "/a"],
    session: new Guarded(HIDDEN),
    stdout: "cannot tell\t/a\tdigest:ann:x:w\n",
    stderr:
      "note: digest:ann:x:w of /a may be this session's or not: hashes are shown only with admin permission\n",
    exit: 4,
  },
  {
    name: "an address that no server names is the local one, and that is said",
    argv: ["can", "write", "/a"],
    session: new Guarded(LOCAL, { isSilent: true }),
    tty: true,
    stdout:
      "yes: ip:192.168.0.0/16:cdrwa of /a permits it by the address of this end of the connection, " +
      "192.168.0.5; behind NAT the server sees another one\n",
  },
  {
    name: "JSON has null for what cannot be told",
    argv: ["--json", "can", "write", "/a"],
    session: new Guarded(HIDDEN),
    stdout:
      '{"path":"/a","permission":"write","can":null,"aclOf":"/a","entry":"digest:ann:x:w",' +
      '"reason":"digest:ann:x:w of /a may be this session\'s or not: hashes are shown only with admin permission"}\n',
    exit: 4,
  },
  {
    name: "JSON has the entry",
    argv: ["--json", "can", "read", "/a"],
    given,
    stdout:
      '{"path":"/a","permission":"read","can":true,"aclOf":"/a","entry":"world:anyone:cdrwa","reason":"world:anyone:cdrwa of /a"}\n',
  },
];

describe("can", () => {
  test.each(rows)("$name", async (row) => expect(await outcome(row)).toEqual(expected(row)));

  test("an ACL that is not shown refuses read and admin, and nothing else is known", async () => {
    const noAuth = new PermissionError("no-auth", "not permitted: /a (NoAuth)", { code: -102 });
    const exits: number[] = [];
    for (const permission of ["read", "write", "create", "delete", "admin"]) {
      const session = new StubSession({ ...given, "/a/b/c": "" });
      session.getAcl = async () => Promise.reject(noAuth);
      exits.push((await run(["can", permission, "/a/b/c"], { session })).exit);
    }
    expect(exits).toEqual([1, 4, 4, 4, 1]);
  });

  test("a super user may do everything", async () => {
    const session = new Guarded(READ);
    session.identities.push({ scheme: "super", id: "" });
    const { exit, stdout } = await run(["can", "admin", "/a"], { session, tty: true });
    expect([exit, stdout]).toEqual([
      0,
      "yes: the session is a super user, for whom no ACL counts\n",
    ]);
  });

  test.each([["read"], ["write"], ["delete"], ["admin"]])(
    "%s of a missing znode is exit code 3",
    async (permission) => expect((await run(["can", permission, "/x/y"], { given })).exit).toBe(3),
  );

  test("another word is a usage error", async () => {
    const { exit, stderr } = await run(["can", "fly", "/a"], { given });
    expect([exit, stderr]).toEqual([2, expect.stringContaining("unknown permission 'fly'")]);
  });
});
