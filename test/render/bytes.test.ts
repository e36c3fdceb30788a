import { expect, test } from "vitest";
import { framedHexDump, hexLines } from "../../src/render/bytes.ts";

const LONG = Buffer.from(Array.from({ length: 18 }, (_, i) => i + 0x5b));

const hexDump = (bytes: Buffer) => Array.from(hexLines(bytes), ({ text }) => text).join("\n");

test("hexLines writes sixteen bytes a line, in two halves", () => {
  expect(hexDump(LONG)).toBe(`\
00000000  5b 5c 5d 5e 5f 60 61 62  63 64 65 66 67 68 69 6a  |[\\]^_\`abcdefghij|
00000010  6b 6c                                             |kl|`);
  expect(hexDump(Buffer.alloc(0))).toBe("");
});

test("framedHexDump draws zkCli's frame", () => {
  expect(framedHexDump(LONG)).toBe(`\
         +-------------------------------------------------+
         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |
+--------+-------------------------------------------------+----------------+
|00000000| 5b 5c 5d 5e 5f 60 61 62 63 64 65 66 67 68 69 6a |[\\]^_\`abcdefghij|
|00000010| 6b 6c                                           |kl              |
+--------+-------------------------------------------------+----------------+`);
  expect(framedHexDump(Buffer.alloc(0))).toBe("");
});
