import { expect, test } from "vitest";
import { mergeTreeFile } from "../../../src/recipes/trees/merge-tree-file.ts";

const HEADER = '{"zksh":1}\n';
const line = (path: string, data = "old") => `${JSON.stringify({ path, data })}\n`;
const FILE = HEADER + ["/", "/a", "/a/b", '/q"', "/z"].map((path) => line(path)).join("");

/** What a file becomes when it is read in pieces of `size` bytes. */
async function merged(replaced: Iterable<[string, string | undefined]>, size = 7) {
  const pieces = async function* () {
    for (let at = 0; at < FILE.length; at += size) yield Buffer.from(FILE.slice(at, at + size));
  };
  let [text, znodes] = ["", 0];
  for await (const piece of mergeTreeFile("f", pieces(), new Map(replaced))) {
    text += piece.text;
    znodes += piece.znodes;
  }
  return { text, znodes };
}

test("a file without new lines stays as it is", async () => {
  expect(await merged([])).toEqual({ text: FILE, znodes: 5 });
});

test("a new line takes the place of the old one, also of a path with a quote", async () => {
  const { text, znodes } = await merged([
    ["/a", line("/a", "new")],
    ['/q"', line('/q"', "new")],
  ]);
  expect(znodes).toBe(5);
  expect(text).toBe(
    FILE.replace(line("/a"), line("/a", "new")).replace(line('/q"'), line('/q"', "new")),
  );
});

test("a znode that is gone has no line, and new ones come at their places and at the end", async () => {
  const { text, znodes } = await merged([
    ["/zz", line("/zz")],
    ["/a/b", undefined],
    ["/a/c", line("/a/c")],
  ]);
  expect(znodes).toBe(6);
  expect(text).toBe(
    HEADER + ["/", "/a", "/a/c", '/q"', "/z", "/zz"].map((path) => line(path)).join(""),
  );
});
