import { describe, expect, test } from "vitest";
import {
  type JsonNode,
  parseJsonWithComments,
} from "../../../src/config/file/json-with-comments.ts";

/** The values alone, as JSON.parse returns them. */
function plain({ value }: JsonNode): unknown {
  if (value instanceof Map)
    return Object.fromEntries(Array.from(value, ([name, node]) => [name, plain(node)]));
  return Array.isArray(value) ? value.map(plain) : value;
}

const read = (text: string) => plain(parseJsonWithComments(text, "f"));

describe("parseJsonWithComments", () => {
  test.each([
    '{"a": [1, -2.5e3, true, null, "x\\u00e9\\n"], "b": {}}',
    "[]",
    '"text"',
    " [ [ ] , { } ] ",
  ])("reads %s as JSON.parse does", (text) => {
    expect(read(text)).toEqual(JSON.parse(text));
  });

  test("reads comments and trailing commas", () => {
    const text = '\uFEFF// one\n{ /* two\n*/ "a": 1, // "b": 2,\n "c": [1, 2,], }\n// end';
    expect(read(text)).toEqual({ a: 1, c: [1, 2] });
  });

  test("keeps a member called __proto__", () => {
    const { value } = parseJsonWithComments('{"__proto__": 1}', "f");
    expect([...(value as ReadonlyMap<string, unknown>).keys()]).toEqual(["__proto__"]);
  });

  test.each([
    ['{"a" 1}', 'f:1:6: expected ":", found "1"'],
    ['{\n  "a": 1\n  "b": 2\n}', 'f:3:3: expected "," or "}", found "\\""'],
    ['{"a": 1', 'f:1:8: expected "," or "}", found the end of the file'],
    ["{a: 1}", 'f:1:2: expected a name in double quotes or "}", found "a"'],
    ['{"a": tru}', 'f:1:7: expected a value, found "t"'],
    ['{"a": 01}', 'f:1:7: expected a value, found "0"'],
    ['{"a": "é', 'f:1:7: expected a value, found "\\""'],
    ['{"ä€": ]', 'f:1:8: expected a value, found "]"'],
    ["{} x", 'f:1:4: expected the end of the file, found "x"'],
    ["{ /* open", "f:1:3: the comment has no end"],
    ['{"a": 1, "a": 2}', 'f:1:10: "a" is there twice'],
    ["", "f:1:1: expected a value, found the end of the file"],
    [",", 'f:1:1: expected a value, found ","'],
  ])("names line and column of the mistake in %j", (text, message) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ name: "UsageError", message }));
  });

  test("refuses deep nesting instead of overflowing the stack", () => {
    expect(() => read("[".repeat(100_000))).toThrow("f:1:22: values are nested too deeply");
  });

  test("reads a megabyte of blanks and comments in a second", () => {
    const start = performance.now();
    expect(read(`${" \n// x /* \n".repeat(90_000)}{}`)).toEqual({});
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});
