import { describe, expect, test } from "vitest";
import { ConflictError } from "../../../src/errors.ts";
import type { NewZnode } from "../../../src/recipes/trees/new-znode.ts";
import { readTree } from "../../../src/recipes/trees/read-tree.ts";
import { TreeInterruptedError } from "../../../src/recipes/trees/tree-interrupted.ts";
import {
  type OnConflict,
  TreeWriter,
  type WrittenTree,
} from "../../../src/recipes/trees/write-tree.ts";
import { nextSequence } from "../../../src/session/node-kind.ts";
import { Permission, type Session } from "../../../src/session/session.ts";
import { behindProxy } from "../../support/behind-proxy.ts";
import { openFresh } from "../../support/fresh-session.ts";
import { rejection } from "../../support/open-session.ts";
import { Random } from "../../support/random.ts";

const signal = new AbortController().signal;
const READ_ONLY = [{ scheme: "world", id: "anyone", perms: Permission.read | Permission.admin }];

async function write(
  session: Session,
  znodes: readonly NewZnode[],
  onConflict: OnConflict = "fail",
): Promise<WrittenTree> {
  const writer = new TreeWriter(session, { signal, onConflict });
  await writer.add(znodes);
  return writer.finish();
}

async function contents(session: Session): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const entries of readTree(session, "/", { signal, onFailure() {} })) {
    for (const { path, data } of entries) if (path !== "/") found.set(path, String(data));
  }
  return found;
}

function randomTree(seed: number, count: number): NewZnode[] {
  const random = new Random(seed);
  const paths = ["/r"];
  while (paths.length < count) {
    const parent = paths[random.index(Math.min(paths.length, 50))] as string;
    paths.push(`${parent}/${random.index(1e9)}`);
  }
  return paths.sort().map((path) => ({ path, data: Buffer.from(`${path}=${random.index(1e6)}`) }));
}

function asMap(znodes: readonly NewZnode[]): Map<string, string> {
  return new Map(znodes.map(({ path, data }) => [path, String(data)]));
}

describe("a written tree", () => {
  test("has all znodes with their data", async () => {
    const session = await openFresh();
    const znodes = randomTree(1, 3_000);
    expect(await write(session, znodes)).toEqual({
      created: 3_000,
      overwritten: 0,
      unchanged: 0,
      skipped: 0,
      failures: [],
    });
    expect(await contents(session)).toEqual(asMap(znodes));
  });

  test("is unchanged when it is written again", async () => {
    const session = await openFresh();
    const znodes = randomTree(2, 1_200);
    await write(session, znodes.slice(0, 700));
    expect(await write(session, znodes)).toMatchObject({ created: 500, unchanged: 700 });
    expect(await contents(session)).toEqual(asMap(znodes));
  });

  test("takes znodes of nearly a megabyte", async () => {
    const session = await openFresh();
    const data = Buffer.alloc(1_000_000, "x");
    const znodes = Array.from({ length: 5 }, (_, i) => ({ path: `/big-${i}`, data }));
    expect(await write(session, znodes)).toMatchObject({ created: 5, failures: [] });
  });
});

describe("a znode that exists with other data", () => {
  const given = [
    { path: "/a", data: Buffer.from("new") },
    { path: "/a/b", data: Buffer.from("b") },
  ];

  test("stops the work with 'fail'", async () => {
    const session = await openFresh();
    await session.create("/a", Buffer.from("old"));
    const error = await rejection(write(session, given, "fail"));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ path: "/a", reason: "node-exists" });
    expect((await contents(session)).get("/a")).toBe("old");
  });

  test.each([
    { onConflict: "skip", a: "old", counts: { created: 1, skipped: 1, overwritten: 0 } },
    { onConflict: "overwrite", a: "new", counts: { created: 1, skipped: 0, overwritten: 1 } },
  ] as const)("is '$a' after '$onConflict'", async ({ onConflict, a, counts }) => {
    const session = await openFresh();
    await session.create("/a", Buffer.from("old"));
    expect(await write(session, given, onConflict)).toMatchObject(counts);
    expect(await contents(session)).toEqual(
      new Map([
        ["/a", a],
        ["/a/b", "b"],
      ]),
    );
  });
});

describe("ACLs", () => {
  test("that forbid to create children are set when the children are there", async () => {
    const session = await openFresh();
    const znodes: NewZnode[] = [
      { path: "/a", data: null, acl: READ_ONLY },
      { path: "/a/b", data: Buffer.from("b"), acl: READ_ONLY },
      { path: "/a/b/c", data: null },
      { path: "/a/d", data: null, acl: READ_ONLY },
    ];
    expect(await write(session, znodes)).toMatchObject({ created: 4, failures: [] });
    for (const path of ["/a", "/a/b", "/a/d"])
      expect((await session.getAcl(path)).acl).toEqual(READ_ONLY);
    expect((await session.getAcl("/a/b/c")).acl[0]?.perms).toBe(Permission.all);
  });

  test("of znodes that existed are set too", async () => {
    const session = await openFresh();
    await session.create("/a", Buffer.from("same"));
    await write(session, [{ path: "/a", data: Buffer.from("same"), acl: READ_ONLY }]);
    expect((await session.getAcl("/a")).acl).toEqual(READ_ONLY);
  });
});

describe("sequence counters", () => {
  test("continue where those of the source were", async () => {
    const session = await openFresh();
    const next = 2_345;
    const znodes: NewZnode[] = [
      { path: "/q", data: null, nextSequence: next },
      { path: "/q/job-0000000007", data: null },
    ];
    expect(await write(session, znodes)).toMatchObject({ failures: [] });
    expect(await session.create("/q/job-", null, { mode: "persistentSequential" })).toBe(
      "/q/job-0000002345",
    );
    expect((await session.getChildren("/q")).sort()).toEqual(["job-0000000007", "job-0000002345"]);
  });

  test("that are ahead already are named", async () => {
    const session = await openFresh();
    for (const name of ["a", "b", "c"]) await session.create(`/q${name}`, null);
    await session.create("/q", null);
    for (const name of ["a", "b", "c"]) await session.create(`/q/${name}`, null);
    const { failures } = await write(session, [{ path: "/q", data: null, nextSequence: 1 }]);
    expect(failures.map(({ error }) => error.message)).toEqual([
      "the sequence counter of /q is 3, not 1",
    ]);
  });
});

describe("a write that is disturbed", () => {
  test("names a znode without a parent, and writes the others", async () => {
    const session = await openFresh();
    const { created, failures } = await write(session, [
      { path: "/a", data: null },
      { path: "/missing/b", data: null },
      { path: "/c", data: null },
    ]);
    expect([created, failures.map(({ path }) => path)]).toEqual([2, ["/missing/b"]]);
  });

  test.each([
    { seed: 11, direction: "to-server", every: 3 },
    { seed: 12, direction: "to-server", every: 6 },
    { seed: 13, direction: "to-client", every: 2 },
    { seed: 14, direction: "to-client", every: 5 },
  ] as const)(
    "writes everything once when the connection breaks with chunk $every $direction",
    async ({ seed, direction, every }) => {
      const { session, other, proxy } = await behindProxy();
      const znodes = randomTree(seed, 4_000).map((znode) =>
        znode.path === "/r" ? { ...znode, nextSequence: 5_000 } : znode,
      );
      let chunks = 0;
      let times = 2;
      proxy.onBytes = (towards) => {
        if (towards !== direction || ++chunks % every !== 0 || times-- <= 0) return;
        proxy.drop();
      };
      const written = await write(session, znodes);
      expect(written).toMatchObject({ created: 4_000, unchanged: 0, failures: [] });
      expect(await contents(other)).toEqual(asMap(znodes));
      const stat = await other.exists("/r");
      expect(stat && nextSequence(stat)).toBe(5_000);
      expect(proxy.accepted).toBeGreaterThan(1);
    },
  );

  test("says how many znodes were written when it is interrupted", async () => {
    const session = await openFresh();
    const controller = new AbortController();
    const writer = new TreeWriter(session, {
      signal: controller.signal,
      onConflict: "fail",
      onProgress: () => controller.abort(),
    });
    const error = await rejection(writer.add(randomTree(3, 8_000)).then(() => writer.finish()));
    expect(error).toBeInstanceOf(TreeInterruptedError);
    const { done, isExact } = error as TreeInterruptedError;
    expect([done, isExact]).toEqual([(await contents(session)).size, true]);
  });
});
