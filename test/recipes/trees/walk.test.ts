import { describe, expect, test } from "vitest";
import { PermissionError } from "../../../src/errors.ts";
import { childPaths, type Visit, walk } from "../../../src/recipes/trees/walk.ts";
import { StubSession } from "../../commands/stub-session.ts";

interface Walked {
  visits: Visit[];
  groups: number;
  failures: string[];
}

async function walkAll(
  session: StubSession,
  root = "/",
  signal = new AbortController().signal,
): Promise<Walked> {
  const failures: string[] = [];
  const onFailure = (path: string, error: Error) => void failures.push(`${path}: ${error.message}`);
  const visits: Visit[] = [];
  let groups = 0;
  for await (const group of walk(session.asSession(), root, { signal, onFailure })) {
    groups += 1;
    for (const { path, children } of group) visits.push({ path, children });
  }
  return { visits, groups, failures };
}

/** A tree of `width` children on each of `depth` levels. */
function tree(width: number, depth: number): Record<string, string> {
  const paths: string[] = [];
  const grow = (parent: string, levels: number) => {
    for (let i = 0; i < width && levels > 0; i++) {
      paths.push(`${parent}/${i}`);
      grow(`${parent}/${i}`, levels - 1);
    }
  };
  grow("", depth);
  return Object.fromEntries(paths.map((path) => [path, ""]));
}

/** zkCli's order, the slow and certain way. */
function inZkcliOrder(paths: readonly string[], parent = ""): string[] {
  const children = paths.filter(
    (path) => path.startsWith(`${parent}/`) && !path.slice(parent.length + 1).includes("/"),
  );
  children.sort();
  return [...children, ...children.flatMap((child) => inZkcliOrder(paths, child))];
}

describe("walk", () => {
  test("visits an empty root", async () => {
    expect(await walkAll(new StubSession())).toEqual({
      visits: [{ path: "/", children: [] }],
      groups: 1,
      failures: [],
    });
  });

  test.each([
    { width: 1, depth: 60 },
    { width: 2, depth: 8 },
    { width: 3, depth: 5 },
    { width: 40, depth: 2 },
    { width: 1200, depth: 1 },
  ])("keeps zkCli's order in a tree $width wide and $depth deep", async ({ width, depth }) => {
    const given = tree(width, depth);
    const { visits } = await walkAll(new StubSession(given));
    expect(visits.flatMap(childPaths)).toEqual(inZkcliOrder(Object.keys(given)));
  });

  test("asks for each znode once, many at a time", async () => {
    const session = new StubSession(tree(40, 2));
    await walkAll(session);
    const [first, ...requests] = session.asked;
    const paths = requests.flatMap((request) => request.split(" ").slice(1));
    expect(first).toBe("getChildren /");
    expect([paths.length, new Set(paths).size]).toEqual([1640, 1640]);
    expect(requests.length).toBeLessThan(20);
  });

  test("asks for fewer at a time where znodes have many children, and for many where they have none", async () => {
    const session = new StubSession(tree(64, 1));
    const asked: number[] = [];
    session.multiRead = async (ops) => {
      asked.push(ops.length);
      const children = Array.from({ length: 4000 }, (_, i) => `leaf${i}`);
      return ops.map(({ path }) => ({
        op: "getChildren",
        path,
        children: path.includes("leaf") ? [] : [...children],
      }));
    };
    const options = { signal: new AbortController().signal, onFailure() {} };
    for await (const _ of walk(session.asSession(), "/", options)) if (asked.length >= 30) break;
    // Nothing is known at first; then, of the leaves, that they have no children.
    expect(asked.slice(0, 4)).toEqual([16, 16, 16, 16]);
    expect(asked.slice(4, 30)).toEqual(asked.slice(4, 30).toSorted((a, b) => a - b));
    expect(asked[29]).toBe(512);
  });

  test("expects znodes of one level to have similar numbers of children", async () => {
    const session = new StubSession(tree(256, 1));
    const parents: number[] = [];
    session.multiRead = async (ops) => {
      const isParent = (path: string) => !path.includes("leaf");
      parents.push(ops.filter(({ path }) => isParent(path)).length);
      const children = Array.from({ length: 4000 }, (_, i) => `leaf${i}`);
      return ops.map(({ path }) => ({
        op: "getChildren",
        path,
        children: isParent(path) ? [...children] : [],
      }));
    };
    const options = { signal: new AbortController().signal, onFailure() {} };
    for await (const _ of walk(session.asSession(), "/", options))
      if (parents.length >= 1000) break;
    expect(parents.filter((count) => count > 0).slice(4)).not.toEqual([]);
    expect(Math.max(...parents.slice(4))).toBeLessThanOrEqual(16);
  });

  test("keeps requests well below a server's limit, however long the paths", async () => {
    const names = Array.from({ length: 30 }, (_, i) => `/${"ü".repeat(50_000)}${i}`);
    const session = new StubSession(Object.fromEntries(names.map((path) => [path, ""])));
    const { visits } = await walkAll(session);
    expect(visits[0]?.children).toHaveLength(30);
    const requests = session.asked.filter((request) => request.startsWith("multiRead "));
    expect(Math.max(...requests.map((request) => Buffer.byteLength(request)))).toBeLessThan(
      1_000_000,
    );
    expect(requests.length).toBeGreaterThan(5);
  });

  test("goes down ten thousand levels without keeping or asking for more than the next", async () => {
    const session = new StubSession();
    let level = 0;
    session.getChildren = async () => ["0"];
    session.multiRead = async (ops) =>
      ops.map(({ path }) => ({ op: "getChildren", path, children: ++level < 10_000 ? ["0"] : [] }));
    const { visits } = await walkAll(session);
    expect([visits.length, level]).toEqual([10_000, 10_000]);
  });

  test("yields before everything is known", async () => {
    const { groups } = await walkAll(new StubSession(tree(3, 5)));
    expect(groups).toBeGreaterThan(2);
  });

  test("skips znodes that were deleted meanwhile, and goes on", async () => {
    const session = new StubSession({ "/a": "", "/b": "", "/b/c": "" });
    const answer = session.getChildren.bind(session);
    session.getChildren = async (path) => [...(await answer(path)), "ghost"];
    const { visits, failures } = await walkAll(session);
    expect(visits).toEqual([
      { path: "/", children: ["a", "b", "ghost"] },
      { path: "/b", children: ["c"] },
    ]);
    expect(failures).toEqual([]);
  });

  test("reports a znode without READ permission, and goes on", async () => {
    const refused = new PermissionError("no-auth", "not permitted", { code: -102, path: "/a" });
    const session = new StubSession(
      { "/a": "", "/a/x": "", "/b": "", "/b/c": "" },
      { "/a": refused },
    );
    const { visits, failures } = await walkAll(session);
    expect(visits.map(({ path }) => path)).toEqual(["/", "/b"]);
    expect(failures).toEqual(["/a: not permitted"]);
  });

  test("throws when the root is missing", async () => {
    await expect(walkAll(new StubSession(), "/nope")).rejects.toThrow(
      "no such znode: /nope (NoNode)",
    );
  });

  test("ends when its signal aborts", async () => {
    const controller = new AbortController();
    const session = new StubSession(tree(3, 5));
    const answer = session.multiRead.bind(session);
    session.multiRead = (ops, options) => {
      controller.abort(new Error("enough"));
      return answer(ops, options);
    };
    await expect(walkAll(session, "/", controller.signal)).rejects.toThrow("interrupted");
  });
});
