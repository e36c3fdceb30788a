import { describe, expect, test } from "vitest";
import { globMatcher, hasGlob, literalGlob, unescapeGlob } from "../../src/text/glob.ts";

test.each([
  ["*", "anything", true],
  ["*.json", "a.json", true],
  ["*.json", "a.json.bak", false],
  ["a*b*c", "aXbYbc", true],
  ["a*b*c", "aXbYb", false],
  ["?", "ä", true],
  ["?", "ab", false],
  ["job-[0-9]*", "job-7x", true],
  ["job-[!0-9]*", "job-7x", false],
  ["[]]", "]", true],
  ["[a", "[a", true],
  ["\\*", "*", true],
  ["\\*", "x", false],
  ["", "", true],
  ["(a|b)+", "(a|b)+", true],
])("'%s' and '%s': %s", (pattern, name, isMatch) => {
  expect(globMatcher(pattern)(name)).toBe(isMatch);
});

test("a pattern of many stars is matched against a long name without backtracking for ever", () => {
  const matches = globMatcher(`${"*a".repeat(50)}b`);
  expect(matches("a".repeat(50_000))).toBe(false);
});

describe("whether a path is a glob", () => {
  test.each(["*", "a?", "[a]", "x[!a-z]", "[]]", "\\\\*"])("%s is one", (pattern) => {
    expect(hasGlob(pattern)).toBe(true);
  });

  test.each(["", "a", "[", "a]", "[]", "\\*", "\\[a]", "a\\?b"])("%s is none", (pattern) => {
    expect(hasGlob(pattern)).toBe(false);
  });

  test("a literal glob matches its own text alone", () => {
    for (const text of ["*", "a[b]?", "\\", "x\\*"]) {
      expect(hasGlob(literalGlob(text))).toBe(false);
      expect(unescapeGlob(literalGlob(text))).toBe(text);
      expect(globMatcher(literalGlob(text))(text)).toBe(true);
      expect(globMatcher(literalGlob(text))("other")).toBe(false);
    }
  });
});
