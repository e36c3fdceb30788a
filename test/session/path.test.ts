import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/errors.ts";
import {
  ancestors,
  baseName,
  joinPath,
  parentPath,
  resolvePath,
  validatePath,
} from "../../src/session/path.ts";

function refusal(path: string, options?: { sequential: boolean }): UsageError {
  try {
    validatePath(path, options);
  } catch (error) {
    return error as UsageError;
  }
  throw new Error(`${JSON.stringify(path)} was accepted`);
}

describe("validatePath", () => {
  test.each([
    "/",
    "/a",
    "/a/b",
    "/.a",
    "/a.",
    "/...",
    "/a/..b/c..",
    "/a b",
    "/~",
    "/\u00a0",
    "/ä€\ud7ff\uf900\uffef",
    "/zookeeper/quota",
  ])("accepts %j", (path) => {
    expect(() => validatePath(path)).not.toThrow();
  });

  test.each([
    ["", "Path length must be > 0"],
    ["a", "Path must start with / character"],
    ["a/", "Path must start with / character"],
    ["/a/", "Path must not end with / character"],
    ["//", "Path must not end with / character"],
    ["//x", 'Invalid path string "//x" caused by empty node name specified @1'],
    ["/a//b", 'Invalid path string "/a//b" caused by empty node name specified @3'],
    ["/.", 'Invalid path string "/." caused by relative paths not allowed @1'],
    ["/..", 'Invalid path string "/.." caused by relative paths not allowed @2'],
    ["/a/./b", 'Invalid path string "/a/./b" caused by relative paths not allowed @3'],
    ["/a/../b", 'Invalid path string "/a/../b" caused by relative paths not allowed @4'],
    ["/a/b/..", 'Invalid path string "/a/b/.." caused by relative paths not allowed @6'],
    ["/a\0b", 'Invalid path string "/a\0b" caused by null character not allowed @2'],
    ...["\u0001", "\u001f", "\u007f", "\u009f", "\ud800", "\uf8ff", "\ufff0", "\uffff", "😀"].map(
      (character) => [
        `/a${character}`,
        `Invalid path string "/a${character}" caused by invalid character @2`,
      ],
    ),
  ] as [string, string][])("refuses %j", (path, message) => {
    const error = refusal(path);
    expect(error).toBeInstanceOf(UsageError);
    expect(error).toMatchObject({ message, reason: "bad-path", path, name: "UsageError" });
  });

  test("lets the name of a sequential znode be nothing but its number", () => {
    for (const path of ["/", "/a/", "/a", "/a/.", "/a/.."]) {
      expect(() => validatePath(path, { sequential: true })).not.toThrow();
    }
    expect(refusal("/a//", { sequential: true }).message).toContain("empty node name specified @3");
    expect(refusal("/./a", { sequential: true }).message).toContain(
      "relative paths not allowed @1",
    );
    expect(refusal("a", { sequential: true }).message).toBe("Path must start with / character");
    expect(refusal("", { sequential: true }).message).toBe("Path length must be > 0");
  });
});

test.each([
  ["/", "/", ""],
  ["/a", "/", "a"],
  ["/a/b", "/a", "b"],
  ["/a/b/c", "/a/b", "c"],
])("%s has the parent %s and the name '%s'", (path, parent, name) => {
  expect([parentPath(path), baseName(path)]).toEqual([parent, name]);
  if (name !== "") expect(joinPath(parent, name)).toBe(path);
});

test("ancestors come from the top down, without the root", () => {
  expect([ancestors("/a/b/c"), ancestors("/a"), ancestors("/")]).toEqual([["/a", "/a/b"], [], []]);
});

test.each([
  ["b", "/", "/b"],
  ["b/c", "/a", "/a/b/c"],
  ["..", "/a/b", "/a"],
  ["../..", "/a", "/"],
  ["./b", "/a", "/a/b"],
  ["b/", "/a", "/a/b/"],
  ["/x/../y", "/a", "/x/../y"],
  ["", "/a", ""],
])("%j seen from %s is %j", (text, cwd, path) => {
  expect(resolvePath(text, cwd)).toBe(path);
});
