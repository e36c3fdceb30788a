import { expect, test } from "vitest";
import { globMatcher } from "../../src/text/glob.ts";

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
