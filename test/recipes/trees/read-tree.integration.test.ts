import { describe, expect, test } from "vitest";
import { PermissionError } from "../../../src/errors.ts";
import { readTree, type TreeEntry, treePaths } from "../../../src/recipes/trees/read-tree.ts";
import type { Session } from "../../../src/session/session.ts";
import { StubSession } from "../../commands/stub-session.ts";
import { behindProxy } from "../../support/behind-proxy.ts";
import { openFresh } from "../../support/fresh-session.ts";

const signal = new AbortController().signal;

async function readAll(
  session: Session,
  root: string,
  options: { statsOnly?: boolean; maxDepth?: number } = {},
): Promise<{ entries: TreeEntry[]; failures: string[] }> {
  const failures: string[] = [];
  const onFailure = (path: string) => void failures.push(path);
  const entries: TreeEntry[] = [];
  for await (const piece of readTree(session, root, { signal, onFailure, ...options }))
    entries.push(...piece);
  return { entries, failures };
}

const TREE = { "/a": "1", "/a/b": "22", "/a/b/c": "333", "/a/b-c": "4444", "/d": null };

describe("readTree", () => {
  test("gives each znode with its data right before what is below it", async () => {
    const { entries } = await readAll(new StubSession(TREE).asSession(), "/");
    expect(entries.map(({ path, data }) => [path, data?.toString()])).toEqual([
      ["/", ""],
      ["/a", "1"],
      ["/a/b", "22"],
      ["/a/b/c", "333"],
      ["/a/b-c", "4444"],
      ["/d", undefined],
    ]);
  });

  test.each([
    { maxDepth: 0, paths: ["/"] },
    { maxDepth: 1, paths: ["/", "/a", "/d"] },
    { maxDepth: 2, paths: ["/", "/a", "/a/b", "/a/b-c", "/d"] },
    { maxDepth: 3, paths: ["/", "/a", "/a/b", "/a/b/c", "/a/b-c", "/d"] },
  ])("stops $maxDepth levels below the root", async ({ maxDepth, paths }) => {
    const session = new StubSession(TREE).asSession();
    const found: string[] = [];
    for await (const piece of treePaths(session, "/", { signal, onFailure() {}, maxDepth }))
      found.push(...piece);
    expect(found).toEqual(paths);
  });

  test("is an error where the root does not exist, also without what is below it", async () => {
    const session = new StubSession(TREE).asSession();
    await expect(readAll(session, "/none", { maxDepth: 0 })).rejects.toThrow(
      "no such znode: /none",
    );
  });

  test("does not ask for the children of the last level", async () => {
    const session = new StubSession(TREE);
    await readAll(session.asSession(), "/", { maxDepth: 1 });
    expect(session.asked).toEqual(["getChildren /", "multiRead / /a /d"]);
  });

  test("names a znode that cannot be read, and goes on", async () => {
    const failures = { "/a/b": new PermissionError("no-auth", "not permitted") };
    const session = new StubSession(TREE, failures).asSession();
    const read = await readAll(session, "/");
    expect(new Set(read.failures)).toEqual(new Set(["/a/b"]));
    expect(read.entries.map(({ path }) => path)).toEqual(["/", "/a", "/a/b-c", "/d"]);
  });

  test("reads data of a megabyte each in small batches", async () => {
    const session = await openFresh();
    const data = Buffer.alloc(900_000, "x");
    for (let i = 0; i < 40; i++) await session.create(`/big-${i}`, data);
    const { entries } = await readAll(session, "/");
    expect(entries.slice(1).map((entry) => entry.data?.length)).toEqual(Array(40).fill(900_000));
  });

  test("a reply over the limit is asked for again in halves", async () => {
    const session = await openFresh({ maxReplyBytes: 1_500_000 });
    for (let i = 0; i < 400; i++) await session.create(`/s-${1000 + i}`, Buffer.from("small"));
    for (let i = 0; i < 4; i++) await session.create(`/t-${i}`, Buffer.alloc(700_000, "x"));
    const { entries, failures } = await readAll(session, "/");
    expect([entries.length, failures]).toEqual([405, []]);
  });

  test("stats of large data come without the data", async () => {
    const session = await openFresh();
    for (let i = 0; i < 40; i++) await session.create(`/big-${i}`, Buffer.alloc(100_000, "x"));
    const { entries } = await readAll(session, "/", { statsOnly: true });
    expect(entries.slice(1).map(({ stat }) => stat.dataLength)).toEqual(Array(40).fill(100_000));
    expect(entries.filter(({ data }) => data === undefined).length).toBeGreaterThan(20);
  });

  test.each([3, 5, 8])(
    "misses nothing when the connection breaks with chunk number %i",
    async (every) => {
      const { session, other, proxy } = await behindProxy();
      const parents = Array.from({ length: 10 }, (_, i) => `/p${i}`);
      const children = parents.flatMap((parent) =>
        Array.from({ length: 300 }, (_, i) => `${parent}/${String(i).padStart(3, "0")}`),
      );
      const paths = [...parents, ...children];
      await other.multi(
        paths.map((path) => ({ op: "create", path, data: Buffer.from(path) }) as const),
      );
      let chunks = 0;
      let times = 2;
      proxy.onBytes = (direction) => {
        if (direction !== "to-client" || ++chunks % every !== 0 || times-- <= 0) return;
        proxy.drop();
      };
      const { entries } = await readAll(session, "/");
      expect(entries.map(({ path }) => path)).toEqual(["/", ...paths.sort()]);
      expect(entries.slice(1).filter(({ path, data }) => String(data) !== path)).toEqual([]);
      expect(proxy.accepted).toBeGreaterThan(1);
    },
  );
});
