import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { unpackGzip } from "../../../src/text/stored/gzip.ts";
import { NotOfKindError } from "../../../src/text/stored/not-of-kind.ts";

const PACKED = gzipSync("x".repeat(1000));

describe("unpackGzip", () => {
  test("unpacks gzip'd data", () => {
    expect(unpackGzip(PACKED).toString()).toBe("x".repeat(1000));
  });

  test.each([
    ["other bytes", Buffer.from("{}"), "the data begins with 7b 7d"],
    ["no bytes", Buffer.alloc(0), "there is no data"],
    ["data that is cut off", PACKED.subarray(0, -9), "unexpected end of file"],
    ["a damaged checksum", Buffer.from(PACKED).fill(0, PACKED.length - 8), "incorrect data check"],
    ["a bomb", gzipSync(Buffer.alloc(65 * 1024 * 1024)), "it unpacks to more than 64 MB"],
  ])("refuses %s", (_, bytes, why) => {
    expect(() => unpackGzip(bytes)).toThrow(NotOfKindError);
    expect(() => unpackGzip(bytes)).toThrow(why);
  });
});
