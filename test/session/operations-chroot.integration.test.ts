import { beforeEach, expect, test } from "vitest";
import type { Session, WatchEvent } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { openFor, rejection } from "../support/open-session.ts";
import { freshChroot, sharedServer } from "../support/shared-server.ts";

let chroot: string;
let inside: Session;
/** The same server, seen from its root. */
let outside: Session;

beforeEach(async () => {
  const connectString = await freshChroot();
  chroot = connectString.slice(connectString.indexOf("/"));
  inside = openFor(connectString);
  outside = openFor(sharedServer());
});

test("every path of the session is below the chroot", async () => {
  expect(await inside.create("/a", Buffer.from("x"))).toBe("/a");
  expect(await inside.create("/a/s-", null, { mode: "persistentSequential" })).toBe(
    "/a/s-0000000000",
  );
  expect((await inside.create2("/b", null)).path).toBe("/b");
  const { results } = await inside.multi([
    { op: "create", path: "/c-", mode: "persistentSequential" },
    { op: "check", path: "/a" },
  ]);
  expect(results).toEqual([{ op: "create", path: "/c-0000000002" }, { op: "check" }]);
  const names = ["a", "b", "c-0000000002"];
  expect((await inside.getChildren("/")).sort()).toEqual(names);
  expect((await outside.getChildren(chroot)).sort()).toEqual(names);
  expect((await outside.getData(`${chroot}/a`)).data?.toString()).toBe("x");
  expect(await inside.exists("/")).toEqual(await outside.exists(chroot));
  expect(await inside.getAllChildrenNumber("/")).toBe(4);
  await inside.sync("/");
  await inside.delete("/b");
  expect(await outside.exists(`${chroot}/b`)).toBeUndefined();
});

test("delete / refuses to delete, and never means the chroot itself", async () => {
  expect(await rejection(inside.delete("/"))).toMatchObject({ reason: "bad-arguments", path: "/" });
  const alone = rejection(inside.multi([{ op: "delete", path: "/" }]));
  expect(await alone).toMatchObject({ reason: "bad-arguments", path: "/" });
  const among = rejection(
    inside.multi([
      { op: "delete", path: "/" },
      { op: "check", path: "/" },
    ]),
  );
  expect(await among).toMatchObject({ reason: "bad-arguments", path: "/" });
  expect(await outside.exists(chroot)).toBeDefined();
});

test("multiRead and errors speak of the session's own paths", async () => {
  await inside.create("/a", null);
  const results = await inside.multiRead([
    { op: "getChildren", path: "/" },
    { op: "getData", path: "/no" },
  ]);
  expect(results).toEqual([
    { op: "getChildren", path: "/", children: ["a"] },
    {
      op: "error",
      path: "/no",
      error: expect.objectContaining({ reason: "no-node", path: "/no" }),
    },
  ]);
  const failures = [
    { call: inside.getData("/no"), path: "/no" },
    { call: inside.create("/a", null), path: "/a" },
    { call: inside.multi([{ op: "delete", path: "/no" }]), path: "/no" },
  ];
  for (const { call, path } of failures) {
    const error = await rejection(call);
    expect(error).toMatchObject({ path });
    expect((error as Error).message).not.toContain(chroot);
  }
});

test("getEphemerals gives the session's own paths", async () => {
  await inside.create("/a", null);
  await inside.create("/a/e", null, { mode: "ephemeral" });
  await inside.create("/f", null, { mode: "ephemeral" });
  expect((await inside.getEphemerals()).sort()).toEqual(["/a/e", "/f"]);
  expect(await inside.getEphemerals("/a")).toEqual(["/a/e"]);
});

test("events of every kind of watch carry the session's own paths", async () => {
  const events: WatchEvent[] = [];
  const watch = (event: WatchEvent) => events.push(event);
  const heard = async (...expected: string[]) => {
    await eventually(
      () => expect(events.map(({ type, path }) => `${type} ${path}`)).toEqual(expected),
      {
        timeoutMs: 3_000,
      },
    );
    events.length = 0;
  };
  await inside.exists("/a", { watch });
  await outside.create(`${chroot}/a`, null);
  await heard("created /a");
  await inside.getChildren("/", { watch });
  await outside.create(`${chroot}/b`, null);
  await heard("children-changed /");
  await inside.getData("/", { watch });
  await outside.setData(chroot, null);
  await heard("data-changed /");
  await inside.addWatch("/", "recursive", watch);
  await outside.create(`${chroot}/a/x`, null);
  await heard("created /a/x");
  await inside.removeWatch("/", watch);
  await inside.addWatch("/b", "persistent", watch);
  await outside.delete(`${chroot}/b`);
  await heard("deleted /b");
});

test("a znode that only begins like the chroot is not below it", async () => {
  const neighbour = `${chroot}-neighbour`;
  await outside.create(neighbour, null);
  expect(await inside.exists("/-neighbour")).toBeUndefined();
  await outside.delete(neighbour);
});

test("getConfig is the ensemble's under every chroot", async () => {
  expect((await inside.getConfig()).stat).toEqual((await outside.getConfig()).stat);
});

test("a chroot that is not there fails every operation but exists and sync, until it is created", async () => {
  const session = openFor(`${sharedServer()}${chroot}/missing`);
  expect(await session.exists("/")).toBeUndefined();
  expect(await session.exists("/a")).toBeUndefined();
  await session.sync("/");
  expect(await rejection(session.getChildren("/"))).toMatchObject({
    reason: "no-node",
    path: "/",
    name: "NoNodeError",
  });
  expect(await rejection(session.create("/a", null))).toMatchObject({
    reason: "no-node",
    path: "/a",
    name: "NoNodeError",
  });
  await outside.create(`${chroot}/missing`, null);
  expect(await session.create("/a", null)).toBe("/a");
});
