import { describe, expect, test } from "vitest";
import {
  ConflictError,
  ConnectionError,
  NoNodeError,
  OperationError,
  PermissionError,
  UsageError,
  type ZkshError,
} from "../../src/errors.ts";
import { OPEN_ACL, type Session } from "../../src/session/session.ts";
import { openFresh } from "../support/fresh-session.ts";
import { rejection } from "../support/open-session.ts";

const TOO_LONG = Buffer.alloc(2 * 1024 * 1024);

describe("a request longer than the server's jute.maxbuffer", () => {
  test("is reported as lost with a hint, and the session survives it", async () => {
    const session = await openFresh();
    await session.create("/n", Buffer.from("before"));
    await session.create("/e", null, { mode: "ephemeral" });
    const { id } = session;
    const [error, read] = await Promise.all([
      rejection(session.setData("/n", TOO_LONG)),
      // Its connection breaks under it, but reading twice does no harm.
      session.getData("/n"),
    ]);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      reason: "connection-loss",
      path: "/n",
      code: -4,
      sent: true,
    });
    expect(error).toHaveProperty("hint", expect.stringMatching(/209\d{4} bytes.*jute\.maxbuffer/));
    expect(read.data?.toString()).toBe("before");
    expect(await session.exists("/e")).toMatchObject({ ephemeralOwner: id });
    expect([session.state, session.id]).toEqual(["connected", id]);
  });

  test("is reported in the same way when it creates", async () => {
    const session = await openFresh();
    for (const create of [session.create("/n", TOO_LONG), session.create2("/n", TOO_LONG)]) {
      expect(await rejection(create)).toMatchObject({
        reason: "connection-loss",
        hint: expect.stringContaining("jute.maxbuffer"),
      });
    }
    const multi = session.multi([{ op: "create", path: "/n", data: TOO_LONG }]);
    expect(await rejection(multi)).toMatchObject({
      reason: "connection-loss",
      hint: expect.stringContaining("jute.maxbuffer"),
    });
    expect(await session.getChildren("/")).toEqual([]);
  });
});

describe("a closed session", () => {
  const calls: Record<string, (session: Session) => Promise<unknown>> = {
    create: (session) => session.create("/n", null),
    create2: (session) => session.create2("/n", null),
    delete: (session) => session.delete("/n"),
    exists: (session) => session.exists("/n"),
    getData: (session) => session.getData("/n"),
    setData: (session) => session.setData("/n", null),
    getAcl: (session) => session.getAcl("/n"),
    setAcl: (session) => session.setAcl("/n", OPEN_ACL),
    getChildren: (session) => session.getChildren("/"),
    getChildren2: (session) => session.getChildren2("/"),
    sync: (session) => session.sync("/"),
    multi: (session) => session.multi([{ op: "create", path: "/n" }]),
    multiRead: (session) => session.multiRead([{ op: "getData", path: "/n" }]),
    addAuth: (session) => session.addAuth("digest", Buffer.from("a:b")),
    addWatch: (session) => session.addWatch("/", "persistent", () => {}),
    getEphemerals: (session) => session.getEphemerals(),
    getAllChildrenNumber: (session) => session.getAllChildrenNumber("/"),
    whoAmI: (session) => session.whoAmI(),
    getConfig: (session) => session.getConfig(),
    reconfig: (session) => session.reconfig({ leaving: "1" }),
    connected: (session) => session.connected(),
  };

  test("refuses every call, and says that nothing was sent", async () => {
    const session = await openFresh();
    await session.connected();
    await session.close();
    expect(session.state).toBe("lost");
    for (const [name, call] of Object.entries(calls)) {
      const error = await rejection(call(session));
      expect(error, name).toBeInstanceOf(ConnectionError);
      expect(error, name).toMatchObject({ reason: "session-closed", sent: false });
    }
    // There is nothing left to remove.
    await session.removeWatch("/", () => {});
  });

  test("refuses calls that are made while it closes, and finishes those made before", async () => {
    const session = await openFresh();
    await session.connected();
    const before = session.create("/n", null);
    const closed = session.close();
    const after = session.create("/late", null);
    expect(await rejection(after)).toMatchObject({
      reason: "session-closed",
      path: "/late",
      sent: false,
    });
    expect(await before).toBe("/n");
    await closed;
  });
});

describe("errors", () => {
  interface Row {
    readonly family: new (...args: never[]) => ZkshError;
    readonly reason: string;
    readonly code?: number;
    readonly path: string;
    readonly says: RegExp;
    readonly call: (session: Session) => Promise<unknown>;
  }
  const rows: Row[] = [
    {
      family: NoNodeError,
      reason: "no-node",
      code: -101,
      path: "/no",
      says: /^no such znode: \/no \(NoNode\)$/,
      call: (session) => session.getAcl("/no"),
    },
    {
      family: ConflictError,
      reason: "not-empty",
      code: -111,
      path: "/n",
      says: /^znode has children: \/n \(NotEmpty\)$/,
      call: (session) => session.delete("/n"),
    },
    {
      family: PermissionError,
      reason: "no-auth",
      code: -102,
      path: "/closed",
      says: /^not permitted: \/closed \(NoAuth\)$/,
      call: (session) => session.getData("/closed"),
    },
    {
      family: OperationError,
      reason: "invalid-acl",
      code: -114,
      path: "/n",
      says: /^the ACL is not valid: \/n \(InvalidACL\)$/,
      call: (session) => session.setAcl("/n", []),
    },
    {
      family: UsageError,
      reason: "bad-path",
      path: "/n/",
      says: /^Path must not end with \/ character$/,
      call: (session) => session.exists("/n/"),
    },
    {
      family: UsageError,
      reason: "usage",
      path: "/n",
      says: /^the request cannot be encoded: 4294967296 is not a 32-bit integer$/,
      call: (session) => session.setAcl("/n", [{ perms: 2 ** 32, scheme: "world", id: "anyone" }]),
    },
  ];

  test.each(rows)("are told apart by class and reason: $family.name $reason", async (row) => {
    const session = await openFresh();
    await session.create("/n", null);
    await session.create("/n/a", null);
    await session.create("/closed", null, { acl: [{ perms: 2, scheme: "world", id: "anyone" }] });
    const error = await rejection(row.call(session));
    expect(error).toBeInstanceOf(row.family);
    const { reason, code, path } = row;
    expect(error).toMatchObject({
      reason,
      code,
      path,
      message: expect.stringMatching(row.says),
    });
    expect(session.state).toBe("connected");
  });
});
