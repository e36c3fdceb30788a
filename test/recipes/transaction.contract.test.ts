import { expect, test } from "vitest";
import {
  ConflictError,
  NoNodeError,
  OperationError,
  PermissionError,
  type ZkshError,
} from "../../src/errors.ts";
import { refusedIndex, transact, tryTransaction } from "../../src/recipes/transaction.ts";
import type { MultiOp, Session } from "../../src/session/session.ts";
import { onBothServers } from "../contract/on-both-servers.ts";
import { rejection } from "../support/open-session.ts";

const signal = new AbortController().signal;
const fine: MultiOp = { op: "create", path: "/n-", mode: "persistentSequential" };

const refusals: readonly { op: MultiOp; family: typeof OperationError; reason: string }[] = [
  { op: { op: "create", path: "/a" }, family: ConflictError, reason: "node-exists" },
  { op: { op: "create", path: "/none/b" }, family: NoNodeError, reason: "no-node" },
  {
    op: { op: "create", path: "/e/b" },
    family: ConflictError,
    reason: "no-children-for-ephemerals",
  },
  { op: { op: "setData", path: "/none", data: null }, family: NoNodeError, reason: "no-node" },
  {
    op: { op: "setData", path: "/a", data: null, version: 7 },
    family: ConflictError,
    reason: "bad-version",
  },
  { op: { op: "setData", path: "/shut", data: null }, family: PermissionError, reason: "no-auth" },
  { op: { op: "delete", path: "/a" }, family: ConflictError, reason: "not-empty" },
  { op: { op: "delete", path: "/shut/b" }, family: PermissionError, reason: "no-auth" },
  { op: { op: "delete", path: "/" }, family: OperationError, reason: "bad-arguments" },
  { op: { op: "check", path: "/none" }, family: NoNodeError, reason: "no-node" },
  { op: { op: "check", path: "/a", version: 3 }, family: ConflictError, reason: "bad-version" },
];

onBothServers((server) => {
  async function prepared(): Promise<Session> {
    const session = server.session(await server.chroot());
    await session.create("/a", null);
    await session.create("/a/b", null);
    await session.create("/e", null, { mode: "ephemeral" });
    await session.create("/shut", null, { acl: [{ perms: 5, scheme: "world", id: "anyone" }] });
    await session.create("/shut/b", null);
    return session;
  }

  test("all operations are carried out, with their paths and stats", async () => {
    const session = await prepared();
    const { results } = await transact(
      session,
      [
        { op: "create", path: "/c", data: Buffer.from("1") },
        { op: "setData", path: "/c", data: Buffer.from("2"), version: 0 },
        { op: "check", path: "/c", version: 1 },
        fine,
        { op: "delete", path: "/a/b" },
      ],
      { signal },
    );
    expect(results).toMatchObject([
      { op: "create", path: "/c" },
      { op: "setData", stat: { version: 1 } },
      { op: "check" },
      { op: "create", path: expect.stringMatching(/^\/n-\d{10}$/) },
      { op: "delete" },
    ]);
    expect(await session.exists("/a/b")).toBeUndefined();
  });

  test.each(refusals)("$op is refused with its index, and in a dry run too", async (row) => {
    const session = await prepared();
    const ops = [fine, row.op, fine];
    for (const run of [transact, tryTransaction]) {
      const error = await rejection(run(session, ops, { signal }));
      expect(error).toBeInstanceOf(row.family);
      expect((error as ZkshError).reason).toBe(row.reason);
      expect(refusedIndex(error, {})).toBe(1);
    }
    expect((await session.getChildren("/")).toSorted()).toEqual(["a", "e", "shut"]);
  });

  test("a dry run that would work changes nothing", async () => {
    const session = await prepared();
    const before = await session.exists("/");
    await tryTransaction(session, [fine, { op: "setData", path: "/a", data: null }], { signal });
    expect(await session.exists("/")).toEqual(before);
    expect(await session.exists("/a")).toMatchObject({ version: 0 });
  });

  test("a ticket that is gone refuses the transaction", async () => {
    const session = await prepared();
    const options = { signal, tickets: ["/e"] };
    await transact(session, [fine], options);
    const error = await rejection(transact(session, [fine, { op: "create", path: "/a" }], options));
    expect(refusedIndex(error, options)).toBe(1);
    await session.delete("/e");
    expect(await rejection(transact(session, [fine], options))).toMatchObject({
      reason: "lock-gone",
      path: "/e",
    });
  });
});
