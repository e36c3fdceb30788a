import { describe, expect, test } from "vitest";
import { newZnodePath, Outside, ttl, znodePath } from "../../src/commands/arguments.ts";
import { data, decodeBase64 } from "../../src/commands/data.ts";

const at = { cwd: "/w" };

describe("znodePath", () => {
  test.each([
    { word: "/", path: "/" },
    { word: "/a/b", path: "/a/b" },
    { word: "a/b", path: "/w/a/b" },
    { word: "..", path: "/" },
    { word: "../..", path: "/" },
    { word: "./a/../b", path: "/w/b" },
    { word: "/a/", path: "/a" },
    { word: "a/b/", path: "/w/a/b" },
    { word: "../", path: "/" },
    { word: "/a/..b/c..", path: "/a/..b/c.." },
  ])("$word", ({ word, path }) => {
    expect(znodePath(word, at)).toBe(path);
  });

  test.each(["", "/a//b", "/a//", "a//b", "/a/../b", "/a/.", "a\u0000"])("refuses %j", (word) => {
    expect(() => znodePath(word, at)).toThrow(expect.objectContaining({ reason: "bad-path" }));
  });
});

test("as zkCli a path must not end with a slash", () => {
  const where = { cwd: "/", isVerbatim: true };
  expect(() => znodePath("/a/", where)).toThrow("Path must not end with / character");
  expect(() => znodePath("/a/../b", where)).toThrow(
    'Invalid path string "/a/../b" caused by relative paths not allowed @4',
  );
});

test("the error for an absolute path with .. names the reason", () => {
  expect(() => znodePath("/a/../b", at)).toThrow('/a/../b: ".." only works in relative paths');
});

describe("newZnodePath", () => {
  test.each([
    { word: "/a/", path: "/a/" },
    { word: "a/", path: "/w/a/" },
    { word: "n-", path: "/w/n-" },
  ])("$word of a sequential znode", ({ word, path }) => {
    expect(newZnodePath(word, { ...at, isSequential: true })).toBe(path);
  });

  test("a slash at the end of other paths is ignored", () => {
    expect(newZnodePath("/a/", at)).toBe("/a");
  });

  test("refuses an empty name", () => {
    expect(() => newZnodePath("/a//", { ...at, isSequential: true })).toThrow(
      expect.objectContaining({ reason: "bad-path" }),
    );
  });
});

describe("ttl", () => {
  test.each([
    { word: "1", ms: 1 },
    { word: "10s", ms: 10_000 },
    { word: "1099511627775", ms: 1_099_511_627_775 },
  ])("$word", ({ word, ms }) => {
    expect(ttl(word, at)).toBe(ms);
  });

  test.each(["0", "-5", "1099511627776"])("refuses %s", (word) => {
    expect(() => ttl(word, at)).toThrow(
      "ttl must be positive and cannot be larger than: 1099511627775",
    );
  });
});

describe("data", () => {
  const reader = {
    stdin: async () => Buffer.from("stdin"),
    file: async (path: string) => Buffer.from(`file ${path}`),
    paths: async () => [],
    lines: async () => [],
  };
  test.each([
    { word: "", text: "" },
    { word: "é", text: "é" },
    { word: "-", text: "stdin" },
    { word: "--", text: "--" },
    { word: "@a/b", text: "file a/b" },
    { word: "@@a", text: "@a" },
  ])("$word", async ({ word, text }) => {
    const value = data(word, at);
    const bytes = value instanceof Outside ? await value.read(reader) : value;
    expect(bytes.toString()).toBe(text);
  });
});

describe("decodeBase64", () => {
  test.each([
    { text: "", bytes: "" },
    { text: "aGkh", bytes: "hi!" },
    { text: "aGk=", bytes: "hi" },
    { text: "aGk", bytes: "hi" },
    { text: "aA==\n", bytes: "h" },
  ])("$text", ({ text, bytes }) => {
    expect(decodeBase64(Buffer.from(text)).toString()).toBe(bytes);
  });

  test.each(["a", "a?", "aGkh=", "=", "aGk-"])("refuses %s", (text) => {
    expect(() => decodeBase64(Buffer.from(text))).toThrow("the data is not valid base64");
  });
});
