import { describe, expect, test } from "vitest";
import { isJsonContainer, isReadable, whyNotJson } from "../../src/text/readable.ts";

describe("isReadable", () => {
  test.each([
    { bytes: [], readable: true },
    { bytes: [...Buffer.from("päth\n\t\r\u001b[1m")], readable: true },
    { bytes: [0x61, 0x00], readable: false },
    { bytes: [0x61, 0x01], readable: false },
    { bytes: [0xff], readable: false },
    { bytes: [0xc3], readable: false },
  ])("$bytes: $readable", ({ bytes, readable }) => {
    expect(isReadable(Buffer.from(bytes))).toBe(readable);
  });
});

test.each([
  { text: ' {"a": 1}', isContainer: true },
  { text: "[]", isContainer: true },
  { text: "7", isContainer: false },
  { text: "{", isContainer: false },
  { text: `[${" ".repeat(5 * 1024 * 1024)}]`, isContainer: false },
])("isJsonContainer takes objects and arrays of a few megabytes", ({ text, isContainer }) => {
  expect(isJsonContainer(text)).toBe(isContainer);
});

test("whyNotJson gives the parser's reason, and none for JSON", () => {
  expect(whyNotJson("7")).toBeUndefined();
  expect(whyNotJson("{")).toMatch(/JSON/);
});
