/** What `can` says is what the server then does. */
import { expect, test } from "vitest";
import { NoNodeError, PermissionError } from "../../../src/errors.ts";
import {
  type Access,
  checkAccess,
  type PermissionName,
} from "../../../src/recipes/access/check-access.ts";
import { digestId } from "../../../src/session/hash-digests.ts";
import { type Acl, OPEN_ACL, type Session } from "../../../src/session/session.ts";
import { onBothServers } from "../../contract/on-both-servers.ts";
import { openFor, rejection } from "../../support/open-session.ts";
import { Random } from "../../support/random.ts";

const ROUNDS = 200;
const signal = new AbortController().signal;

const digest = (credential: string) => ({
  scheme: "digest",
  id: digestId(Buffer.from(credential)),
});
const LISTED: readonly Omit<Acl, "perms">[] = [
  { scheme: "world", id: "anyone" },
  digest("ann:pw"),
  digest("ann:other"),
  digest("bob:pw"),
  { scheme: "digest", id: "eve:AAAAAAAAAAAAAAAAAAAAAAAAAAA=" },
  { scheme: "ip", id: "127.0.0.1" },
  { scheme: "ip", id: "127.0.0.0/8" },
  { scheme: "ip", id: "10.0.0.0/8" },
];
const CREDENTIALS: readonly (readonly string[])[] = [
  [],
  ["ann:pw"],
  ["bob:pw"],
  ["bob:other"],
  ["ann:pw", "bob:pw"],
];

const tries: Readonly<
  Record<PermissionName, (session: Session, path: string) => Promise<unknown>>
> = {
  read: (session, path) => session.getData(path),
  write: (session, path) => session.setData(path, null),
  create: (session, path) => session.create(`${path}/new`, null),
  delete: (session, path) => session.delete(`${path}/child`),
  admin: async (session, path) => {
    const { acl } = await session.getAcl(path);
    // A hash that is hidden cannot be set again; who sees them may set them.
    if (acl.some(({ id }) => id.endsWith(":x"))) throw noAuth();
    await session.setAcl(path, acl);
  },
};

function noAuth(): PermissionError {
  return new PermissionError("no-auth", "not permitted");
}

async function isDone(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch (error) {
    if (error instanceof PermissionError && error.reason === "no-auth") return false;
    throw error;
  }
}

function randomAcl(random: Random): Acl[] {
  const entries = random.shuffled(LISTED).slice(0, 1 + random.index(3));
  return entries.map((entry) => ({ ...entry, perms: 1 + random.index(31) }));
}

const EXCUSES: readonly Access["why"][] = ["hidden-acl", "hidden-hash"];

onBothServers((server) => {
  test(`${ROUNDS} random ACLs permit what they are said to permit`, async () => {
    const chroot = await server.chroot();
    const owner = server.session(chroot);
    const sessions = CREDENTIALS.map((credentials) =>
      openFor(`${server.address}${chroot}`, {
        auth: credentials.map((text) => ({ scheme: "digest", credential: Buffer.from(text) })),
      }),
    );
    const random = new Random(11);
    const counted = { yes: 0, no: 0, unclear: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const path = `/r${round}`;
      const session = sessions[random.index(sessions.length)] as Session;
      const acl = randomAcl(random);
      await owner.create(path, null);
      await owner.create(`${path}/child`, null);
      await owner.setAcl(path, acl);
      for (const permission of ["read", "write", "create", "delete", "admin"] as const) {
        const about = permission === "delete" ? `${path}/child` : path;
        const { isPermitted, why } = await checkAccess(session, permission, about, { signal });
        const isReally = await isDone(tries[permission](session, path));
        if (isPermitted === undefined) {
          expect(EXCUSES).toContain(why);
          counted.unclear += 1;
          continue;
        }
        expect({ acl, permission, round, isPermitted }).toEqual({
          acl,
          permission,
          round,
          isPermitted: isReally,
        });
        counted[isPermitted ? "yes" : "no"] += 1;
      }
    }
    expect(counted.yes).toBeGreaterThan(ROUNDS);
    expect(counted.no).toBeGreaterThan(ROUNDS);
    expect(counted.unclear).toBeLessThan(2 * ROUNDS);
  }, 120_000);

  test("a missing znode is decided by the nearest existing parent, for create alone", async () => {
    const session = server.session(await server.chroot());
    await session.create("/a", null, { acl: [{ ...LISTED[0], perms: 1 } as Acl] });
    const found = await checkAccess(session, "create", "/a/b/c", { signal });
    expect(found).toMatchObject({ aclOf: "/a", isPermitted: false });
    for (const permission of ["read", "write", "delete", "admin"] as const) {
      const error = await rejection(checkAccess(session, permission, "/a/b/c", { signal }));
      expect(error).toBeInstanceOf(NoNodeError);
    }
  });

  test("/ cannot be deleted, and an ephemeral znode has no children", async () => {
    const session = server.session(await server.chroot());
    await session.create("/e", null, { mode: "ephemeral", acl: OPEN_ACL });
    const root = await checkAccess(session, "delete", "/", { signal });
    expect(root).toMatchObject({ isPermitted: false, why: "root" });
    const below = await checkAccess(session, "create", "/e", { signal });
    expect(below).toMatchObject({ isPermitted: false, why: "ephemeral" });
  });

  test("an identity that is added later counts", async () => {
    const session = server.session(await server.chroot());
    await session.create("/s", null, { acl: [{ ...digest("ann:pw"), perms: 31 }] });
    const before = await checkAccess(session, "write", "/s", { signal });
    expect(before).toMatchObject({ isPermitted: undefined, why: "hidden-acl" });
    await session.addAuth("digest", Buffer.from("ann:pw"));
    expect(await checkAccess(session, "write", "/s", { signal })).toMatchObject({
      isPermitted: true,
      entry: digest("ann:pw"),
    });
  });

  test("the ids of credentials have no passwords", async () => {
    const session = server.session(await server.chroot());
    await session.addAuth("digest", Buffer.from("ann:a password"));
    expect(await session.credentialIds()).toEqual([digest("ann:a password")]);
    expect(session.localAddress).toBe("127.0.0.1");
  });
});
