import { describe, expect, test } from "vitest";
import {
  DepthFirstOrder,
  type PathOrder,
  WalkOrder,
} from "../../../src/recipes/trees/path-order.ts";
import { walk } from "../../../src/recipes/trees/walk.ts";
import type { Session } from "../../../src/session/session.ts";
import { StubSession } from "../../commands/stub-session.ts";
import { Random } from "../../support/random.ts";

async function listed(session: StubSession, order: PathOrder, root = "/"): Promise<string[][]> {
  const pieces: string[][] = [];
  const options = { signal: new AbortController().signal, onFailure() {} };
  for await (const visits of walk(session.asSession(), root, options))
    pieces.push(...order.add(visits));
  return [...pieces, ...order.end()];
}

/** Parents first, with names in no order. */
function randomTree(seed: number, count: number): Record<string, string> {
  const random = new Random(seed);
  const paths = ["/r"];
  while (paths.length < count) {
    const parent = paths[random.index(paths.length)] as string;
    paths.push(`${parent}/${random.index(1e9)}`);
  }
  return Object.fromEntries(paths.map((path) => [path, ""]));
}

/** Depth first, the slow and certain way. */
function depthFirst(paths: readonly string[], parent: string): string[] {
  const children = paths.filter((path) => path.slice(0, path.lastIndexOf("/")) === parent).sort();
  return children.flatMap((child) => [child, ...depthFirst(paths, child)]);
}

describe("the order of a tree's paths", () => {
  test.each([1, 2, 3, 4, 5])(
    "depth first writes each znode right before what is below it (tree %i)",
    async (seed) => {
      const given = randomTree(seed, 1_500);
      const pieces = await listed(new StubSession(given), new DepthFirstOrder(), "/r");
      expect(pieces.flat()).toEqual(["/r", ...depthFirst(Object.keys(given), "/r")]);
    },
  );

  test.each([
    { name: "depth first", order: () => new DepthFirstOrder() },
    { name: "zkCli's order", order: () => new WalkOrder() },
  ])("$name begins with a root without children", async ({ order }) => {
    expect(await listed(new StubSession({ "/a": "" }), order(), "/a")).toEqual([["/a"]]);
  });

  test("depth first writes children of a wide znode as soon as they are known", async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => String(i).padStart(5, "0"));
    const below: Record<string, string[]> = { "/w": names, "/w/00000": ["x"] };
    let asked = 0;
    const session = {
      getChildren: async (path: string) => [...(below[path] ?? [])],
      async multiRead(ops: readonly { path: string }[]) {
        asked += ops.length;
        return ops.map(({ path }) => ({
          op: "getChildren",
          path,
          children: [...(below[path] ?? [])],
        }));
      },
    };
    const order = new DepthFirstOrder();
    const options = { signal: new AbortController().signal, onFailure() {} };
    let written = 0;
    let behind = 0;
    for await (const visits of walk(session as unknown as Session, "/w", options)) {
      for (const piece of order.add(visits)) written += piece.length;
      behind = Math.max(behind, asked - written);
    }
    // Four requests of at most 512 znodes are under way.
    expect([asked, behind < 5 * 512]).toEqual([20_001, true]);
  });
});
