import { beforeEach, describe, expect, test } from "vitest";
import { ConflictError, UsageError } from "../../src/errors.ts";
import { type MultiOp, Permission, type Session } from "../../src/session/session.ts";
import { openFresh } from "../support/fresh-session.ts";
import { rejection } from "../support/open-session.ts";

const HOUR_MS = 3_600_000;

let session: Session;

beforeEach(async () => {
  session = await openFresh();
});

describe("multi", () => {
  beforeEach(async () => {
    await Promise.all(["/set", "/checked", "/gone"].map((path) => session.create(path, null)));
  });

  test("does every kind of step at once", async () => {
    const { results, zxid } = await session.multi([
      { op: "check", path: "/checked", version: 0 },
      { op: "create", path: "/made", data: Buffer.from("x") },
      { op: "setData", path: "/set", data: Buffer.from("abc"), version: 0 },
      { op: "delete", path: "/gone", version: 0 },
      { op: "check", path: "/set", version: 1 },
    ]);
    const [made, set] = [await session.getData("/made"), await session.getData("/set")];
    expect(results).toEqual([
      { op: "check" },
      { op: "create", path: "/made" },
      { op: "setData", stat: set.stat },
      { op: "delete" },
      { op: "check" },
    ]);
    expect([made.data?.toString(), made.stat.czxid]).toEqual(["x", zxid]);
    expect([set.data?.toString(), set.stat.mzxid, set.stat.version]).toEqual(["abc", zxid, 1]);
    expect(await session.exists("/gone")).toBeUndefined();
  });

  test("creates in every mode, with an access list", async () => {
    const acl = [{ perms: Permission.read, scheme: "world", id: "anyone" }];
    const modes = [
      { mode: "persistent" },
      { mode: "ephemeral" },
      { mode: "persistentSequential" },
      { mode: "ephemeralSequential" },
      { mode: "container" },
      { mode: "persistentWithTtl", ttlMs: HOUR_MS },
      { mode: "persistentSequentialWithTtl", ttlMs: HOUR_MS },
      // A TTL says nothing to other modes, and does not get in their way.
      { mode: "persistent", ttlMs: HOUR_MS },
    ] as const;
    const ops = modes.map(
      (mode, index): MultiOp => ({ op: "create", path: `/made${index}-`, acl, ...mode }),
    );
    const { results, zxid } = await session.multi(ops);
    const paths = results.map((result) => (result.op === "create" ? result.path : undefined));
    expect(paths).toEqual([
      "/made0-",
      "/made1-",
      expect.stringMatching(/^\/made2-\d{10}$/),
      expect.stringMatching(/^\/made3-\d{10}$/),
      "/made4-",
      "/made5-",
      expect.stringMatching(/^\/made6-\d{10}$/),
      "/made7-",
    ]);
    for (const [index, path = ""] of paths.entries()) {
      const { acl: found, stat } = await session.getAcl(path);
      expect([found, stat.czxid]).toEqual([acl, zxid]);
      expect(stat.ephemeralOwner).toBe(index === 1 || index === 3 ? session.id : 0n);
    }
  });

  test.each([
    { what: "a check", step: { op: "check", path: "/checked", version: 1 }, reason: "bad-version" },
    { what: "a check of nothing", step: { op: "check", path: "/no" }, reason: "no-node" },
    { what: "a create", step: { op: "create", path: "/checked" }, reason: "node-exists" },
    {
      what: "a setData",
      step: { op: "setData", path: "/checked", data: null, version: 7 },
      reason: "bad-version",
    },
    { what: "a delete", step: { op: "delete", path: "/no" }, reason: "no-node" },
  ] as const)(
    "changes nothing and names the culprit when $what fails",
    async ({ step, reason }) => {
      const failed = session.multi([
        { op: "create", path: "/made" },
        { op: "setData", path: "/set", data: Buffer.from("x") },
        step,
        { op: "delete", path: "/gone" },
      ]);
      expect(await rejection(failed)).toMatchObject({ reason, path: step.path, opIndex: 2 });
      expect((await session.getChildren("/")).sort()).toEqual(["checked", "gone", "set"]);
      expect((await session.getData("/set")).stat.version).toBe(0);
    },
  );

  test("fails with an error of the culprit's family", async () => {
    const failed = await rejection(session.multi([{ op: "delete", path: "/set", version: 3 }]));
    expect(failed).toBeInstanceOf(ConflictError);
    expect(failed).toMatchObject({ name: "ConflictError", code: -103 });
  });

  test.each<MultiOp>([
    { op: "create", path: "/set" },
    { op: "delete", path: "/set", version: 3 },
    { op: "check", path: "/set", version: 3 },
  ])("names the only operation, a $op", async (only) => {
    expect(await rejection(session.multi([only]))).toMatchObject({ opIndex: 0, path: "/set" });
  });

  test("names none of its operations when the connection is over", async () => {
    await session.close();
    const failed = session.multi([{ op: "delete", path: "/set" }]);
    expect(await rejection(failed)).toMatchObject({ opIndex: undefined });
  });

  test("takes any version when none is given", async () => {
    await session.setData("/set", null);
    await session.setData("/gone", null);
    await session.multi([
      { op: "check", path: "/set" },
      { op: "setData", path: "/set", data: null },
      { op: "delete", path: "/gone" },
    ]);
    expect((await session.exists("/set"))?.version).toBe(2);
  });

  test("does nothing with a bad path, and nothing when there is nothing to do", async () => {
    const bad = session.multi([
      { op: "delete", path: "/set" },
      { op: "delete", path: "set" },
    ]);
    expect(await rejection(bad)).toBeInstanceOf(UsageError);
    expect(await session.exists("/set")).toBeDefined();
    expect((await session.multi([])).results).toEqual([]);
  });
});

describe("multiRead", () => {
  test("reads data and children, and each read fails alone", async () => {
    await session.create("/n", Buffer.from("x"));
    await session.create("/n/a", null);
    await session.create("/secret", null, {
      acl: [{ perms: Permission.write, scheme: "world", id: "anyone" }],
    });
    const results = await session.multiRead([
      { op: "getData", path: "/n" },
      { op: "getData", path: "/no" },
      { op: "getChildren", path: "/n" },
      { op: "getChildren", path: "/secret" },
      { op: "getData", path: "/n/a" },
    ]);
    expect(results).toEqual([
      { op: "getData", path: "/n", data: Buffer.from("x"), stat: await session.exists("/n") },
      {
        op: "error",
        path: "/no",
        error: expect.objectContaining({ reason: "no-node", path: "/no", name: "NoNodeError" }),
      },
      { op: "getChildren", path: "/n", children: ["a"] },
      {
        op: "error",
        path: "/secret",
        error: expect.objectContaining({ reason: "no-auth", name: "PermissionError" }),
      },
      { op: "getData", path: "/n/a", data: null, stat: await session.exists("/n/a") },
    ]);
  });

  test("reads nothing when there is nothing to read, and nothing with a bad path", async () => {
    expect(await session.multiRead([])).toEqual([]);
    expect(await rejection(session.multiRead([{ op: "getData", path: "no" }]))).toBeInstanceOf(
      UsageError,
    );
  });
});
