import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { OperationError, PermissionError } from "../../src/errors.ts";
import { type Acl, OPEN_ACL, Permission, type StateChange } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { openFresh } from "../support/fresh-session.ts";
import { openFor, rejection } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";

const ALICE = Buffer.from("alice:wonder");
const ALICE_ID = `alice:${createHash("sha1").update(ALICE).digest("base64")}`;
const ONLY_ALICE: Acl[] = [{ perms: Permission.all, scheme: "digest", id: ALICE_ID }];
const CREATOR: Acl[] = [{ perms: Permission.all, scheme: "auth", id: "" }];

test("addAuth opens what others cannot read, and getAcl and setAcl tell and change who may", async () => {
  const chroot = await freshChroot();
  const [alice, stranger] = [openFor(chroot), openFor(chroot)];
  await alice.addAuth("digest", ALICE);
  await alice.create("/n", Buffer.from("secret"), { acl: CREATOR });
  expect((await alice.getAcl("/n")).acl).toEqual(ONLY_ALICE);
  expect((await alice.getData("/n")).data?.toString()).toBe("secret");

  const denied = await rejection(stranger.getData("/n"));
  expect(denied).toBeInstanceOf(PermissionError);
  expect(denied).toMatchObject({
    reason: "no-auth",
    path: "/n",
    code: -102,
    name: "PermissionError",
  });
  expect(await rejection(stranger.setAcl("/n", OPEN_ACL))).toMatchObject({
    reason: "no-auth",
    path: "/n",
  });

  const shared = [...ONLY_ALICE, { perms: Permission.read, scheme: "world", id: "anyone" }];
  await alice.setAcl("/n", shared);
  expect((await alice.getAcl("/n")).acl).toEqual(shared);
  // Servers do not show digests to those who may not change them.
  expect((await stranger.getAcl("/n")).acl).toEqual([
    { ...ONLY_ALICE[0], id: "alice:x" },
    shared[1],
  ]);
  expect((await stranger.getData("/n")).data?.toString()).toBe("secret");
  expect(await rejection(stranger.setData("/n", null))).toMatchObject({
    reason: "no-auth",
    path: "/n",
  });
});

test("whoAmI tells every identity that was proved", async () => {
  const session = await openFresh();
  expect(await session.whoAmI()).toEqual([{ scheme: "ip", id: "127.0.0.1" }]);
  await session.addAuth("digest", ALICE);
  await session.addAuth("digest", Buffer.from("bob:builder"));
  expect(await session.whoAmI()).toEqual(
    expect.arrayContaining([
      { scheme: "ip", id: "127.0.0.1" },
      { scheme: "digest", id: "alice" },
      { scheme: "digest", id: "bob" },
    ]),
  );
});

test("a session opened with credentials has them before its first request", async () => {
  const chroot = await freshChroot();
  const auth = [{ scheme: "digest", credential: ALICE }];
  const first = openFor(chroot, { auth });
  await first.create("/n", Buffer.from("secret"), { acl: CREATOR });
  expect((await openFor(chroot, { auth }).getData("/n")).data?.toString()).toBe("secret");
});

test("an unknown scheme is refused, and the session lives on with what it had", async () => {
  const session = await openFresh();
  await session.addAuth("digest", ALICE);
  await session.create("/n", null, { acl: CREATOR });
  await session.create("/e", null, { mode: "ephemeral" });
  const { id } = session;
  const refused = await rejection(session.addAuth("no-such-scheme", ALICE));
  expect(refused).toBeInstanceOf(PermissionError);
  expect(refused).toMatchObject({ reason: "auth-failed", code: -115, name: "PermissionError" });
  // The server hangs up after the refusal; the next connection must not be refused again.
  expect((await session.getData("/n")).data).toBeNull();
  expect(await session.exists("/e")).toMatchObject({ ephemeralOwner: id });
  expect([session.state, session.id]).toEqual(["connected", id]);
  expect(await session.whoAmI()).toContainEqual({ scheme: "digest", id: "alice" });
});

test("a session opened with an unknown scheme ends as auth-failed", async () => {
  const session = await openFresh({ auth: [{ scheme: "no-such-scheme", credential: ALICE }] });
  const changes: StateChange[] = [];
  session.onState((change) => changes.push(change));
  const first = await rejection(session.create("/n", null));
  expect(first).toBeInstanceOf(PermissionError);
  expect(first).toMatchObject({ reason: "auth-failed", name: "PermissionError" });
  await eventually(() => session.state === "lost");
  expect(changes.at(-1)).toEqual({ state: "lost", reason: "auth-failed" });
  expect(await rejection(session.exists("/"))).toMatchObject({
    reason: "auth-failed",
    name: "PermissionError",
  });
  expect(await rejection(session.addAuth("digest", ALICE))).toMatchObject({
    reason: "auth-failed",
  });
});

test("an access list that the server does not accept is an error of its own", async () => {
  const session = await openFresh();
  for (const acl of [[], CREATOR, [{ perms: Permission.all, scheme: "no-such-scheme", id: "x" }]]) {
    const refused = await rejection(session.create("/n", null, { acl }));
    expect(refused).toBeInstanceOf(OperationError);
    expect(refused).toMatchObject({
      reason: "invalid-acl",
      path: "/n",
      code: -114,
      name: "OperationError",
    });
  }
});
