import { describe, expect, test } from "vitest";
import { parseJavaString } from "../../../src/text/stored/java-string.ts";
import { NotOfKindError } from "../../../src/text/stored/not-of-kind.ts";
import { javaString } from "./encode.ts";

const withHead = (hex: string) => Buffer.from(`aced0005${hex}`, "hex");

describe("parseJavaString", () => {
  test("reads a string, and says how much is behind it", () => {
    expect(parseJavaString(javaString("hello"))).toEqual({ text: "hello", bytesBehind: 0 });
    const two = Buffer.concat([javaString("a"), Buffer.from("740001", "hex"), Buffer.from("b")]);
    expect(parseJavaString(two)).toEqual({ text: "a", bytesBehind: 4 });
  });

  test("reads a long string", () => {
    expect(parseJavaString(withHead("7c00000000000000026869"))).toMatchObject({ text: "hi" });
  });

  test("reads Java's UTF-8: zero as two bytes, surrogates of their own", () => {
    expect(parseJavaString(withHead("74000bc080c3a9eda0bdedb88061")).text).toBe("\0é😀a");
  });

  test.each([
    ["other bytes", Buffer.from("hello"), "the data begins with 68 65 6c 6c"],
    ["another object", withHead("737200"), "another Java object (type 73)"],
    ["a length that is cut off", withHead("7400"), "its length is cut off"],
    ["a text that is cut off", withHead("74000568"), "4 of its 5 bytes are missing"],
    ["a huge length", withHead(`7c${"ff".repeat(8)}`), "bytes are missing"],
    ["a wrong byte", withHead("740001ff"), "byte 0 of its text"],
    ["a character that is cut off", withHead("740002e282"), "byte 0 of its text"],
    ["a wrong second byte", withHead("740003613361").fill(0xc3, 8, 9), "byte 1 of its text"],
  ])("refuses %s", (_, bytes, why) => {
    expect(() => parseJavaString(bytes)).toThrow(NotOfKindError);
    expect(() => parseJavaString(bytes)).toThrow(why);
  });
});
