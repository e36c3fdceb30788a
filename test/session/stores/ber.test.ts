import { expect, test } from "vitest";
import { Ber, MalformedBerError } from "../../../src/session/stores/ber.ts";

const read = (hex: string) => Ber.read(Buffer.from(hex.replaceAll(" ", ""), "hex"));

test("object identifiers are read as dotted numbers", () => {
  expect(read("06 09 2a864886f70d010701").oid).toBe("1.2.840.113549.1.7.1");
  expect(read("06 0b 6086480186f9666d1e8301").oid).toMatch(/^2\.16\.840\.1\./);
  expect(read("06 03 883703").oid).toBe("2.999.3");
});

test("lengths of one and of several bytes are read", () => {
  expect(
    read("30 06 020101 020103")
      .parts()
      .map(({ number }) => number),
  ).toEqual([1, 3]);
  expect(read("30 820003 020109").parts()[0]?.number).toBe(9);
});

test("values without a length end at their end mark, also in one another", () => {
  const value = read("30 80 a0 80 24 80 04 02 4142 04 01 43 0000 0000 020105 0000 ff");
  const [outer, number] = value.parts();
  expect(outer?.inner.octets.toString()).toBe("ABC");
  expect(number?.number).toBe(5);
});

test.each([
  ["an empty input", ""],
  ["a length that reaches behind the end", "30 05 0201"],
  ["a length of eight bytes", "30 88 0000000000000001 00"],
  ["a missing end mark", "30 80 020101"],
  ["a primitive value without a length", "04 80 0000"],
  ["a tag of several bytes", "1f 8101 00"],
])("%s is malformed", (_, hex) => {
  expect(() => read(hex)).toThrow(MalformedBerError);
});

test("values that nest without end are malformed, and cost no stack", () => {
  const deep = `${"3080".repeat(100_000)}`;
  expect(() => read(deep)).toThrow("nested too deeply");
});

test.each([
  ["negative", "02 01 80"],
  ["longer than five bytes", "02 06 010203040506"],
  ["empty", "02 00"],
])("a number that is %s is refused", (_, hex) => {
  expect(() => read(hex).number).toThrow(MalformedBerError);
});
