import { expect, test } from "vitest";
import { formatSize, parseSize } from "../../src/text/size.ts";

test.each([
  ["65536", 65_536],
  ["64k", 65_536],
  ["64KB", 65_536],
  ["1.5m", 1_572_864],
  ["1GiB", 2 ** 30],
  ["7b", 7],
])("%s has %i bytes", (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
});

test.each(["", "k", "-1", "1e3", "5 k", "1t"])("'%s' is no size", (text) => {
  expect(() => parseSize(text)).toThrow(`bad size '${text}'`);
});

test.each([
  [1, "1 byte"],
  [812, "812 bytes"],
  [696_320, "680 KB"],
  [1_572_864, "1.5 MB"],
  [520_000_000, "496 MB"],
  [2 ** 31, "2 GB"],
  [2 ** 45, "32768 GB"],
])("%i is %s", (bytes, text) => {
  expect(formatSize(bytes)).toBe(text);
});
