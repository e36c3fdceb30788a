import { describe, expect, test } from "vitest";
import {
  type ComparedZnode,
  comparePaths,
  type DiffOptions,
  diffTrees,
} from "../../../src/recipes/trees/diff-trees.ts";
import { Random } from "../../support/random.ts";

type Side = Readonly<Record<string, string>>;

/** In pieces of random length. */
async function* side(znodes: Side, random: Random): AsyncGenerator<ComparedZnode[]> {
  let piece: ComparedZnode[] = [];
  for (const path of Object.keys(znodes).sort(comparePaths)) {
    piece.push({ path, data: Buffer.from(znodes[path] as string) });
    if (random.index(3) > 0) continue;
    yield piece;
    piece = [];
  }
  yield piece;
}

async function differences(
  left: Side,
  right: Side,
  options: DiffOptions = { data: true, acl: true },
  random = new Random(1),
): Promise<string[]> {
  const found: string[] = [];
  for await (const { kind, path } of diffTrees(side(left, random), side(right, random), options))
    found.push(`${kind} ${path}`);
  return found;
}

describe("comparePaths", () => {
  test("puts a znode right before what is below it", () => {
    const paths = ["/a-b", "/a/b", "/a", "", "/a/b/c", "/a.", "/b"];
    expect(paths.sort(comparePaths)).toEqual(["", "/a", "/a/b", "/a/b/c", "/a-b", "/a.", "/b"]);
  });
});

describe("diffTrees", () => {
  test("finds nothing between equal trees", async () => {
    expect(await differences({ "": "", "/a": "1" }, { "": "", "/a": "1" })).toEqual([]);
  });

  test("names what one side lacks and what has other data", async () => {
    const left = { "": "", "/a": "1", "/a/b": "2", "/c": "3" };
    const right = { "": "", "/a": "1", "/a-b": "2", "/c": "4", "/d": "5" };
    expect(await differences(left, right)).toEqual([
      "only-left /a/b",
      "only-right /a-b",
      "data /c",
      "only-right /d",
    ]);
    expect(await differences(left, right, { data: false, acl: true })).toEqual([
      "only-left /a/b",
      "only-right /a-b",
      "only-right /d",
    ]);
  });

  test("compares ACLs whatever the order of their entries", async () => {
    const acl = [
      { scheme: "world", id: "anyone", perms: 1 },
      { scheme: "digest", id: "a:x", perms: 31 },
    ];
    async function* one(list: readonly (typeof acl)[number][]) {
      yield [{ path: "", data: null, acl: list }];
    }
    const kinds = async (other: typeof acl) => {
      const found: string[] = [];
      for await (const { kind } of diffTrees(one(acl), one(other), { data: true, acl: true }))
        found.push(kind);
      return found;
    };
    expect(await kinds(acl.toReversed())).toEqual([]);
    expect(await kinds(acl.slice(1))).toEqual(["acl"]);
  });

  test.each([1, 2, 3, 4, 5])("agrees with the slow way on random trees (%i)", async (seed) => {
    const random = new Random(seed);
    const names = ["a", "a-", "b", "a.b", "0"];
    const randomSide = (): Side => {
      const paths = [""];
      for (let i = 0; i < 60; i++)
        paths.push(`${paths[random.index(paths.length)]}/${names[random.index(names.length)]}`);
      return Object.fromEntries(paths.map((path) => [path, String(random.index(2))]));
    };
    const left = randomSide();
    const right = randomSide();
    const expected = [...new Set([...Object.keys(left), ...Object.keys(right)])]
      .sort(comparePaths)
      .flatMap((path) => {
        if (right[path] === undefined) return [`only-left ${path}`];
        if (left[path] === undefined) return [`only-right ${path}`];
        return left[path] === right[path] ? [] : [`data ${path}`];
      });
    expect(expected.length).toBeGreaterThan(10);
    expect(await differences(left, right, { data: true, acl: true }, random)).toEqual(expected);
  });
});
