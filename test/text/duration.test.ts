import { expect, test } from "vitest";
import { formatDuration, parseDuration, parseZkcliDuration } from "../../src/text/duration.ts";

test.each([
  { text: "1500ms", ms: 1500 },
  { text: "10s", ms: 10_000 },
  { text: "1.5s", ms: 1500 },
  { text: "5m", ms: 300_000 },
  { text: "1h", ms: 3_600_000 },
  { text: "0", ms: 0 },
])("$text", ({ text, ms }) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(["30", "1500", "0.5"])("refuses '%s', which has no unit", (text) => {
  expect(() => parseDuration(text)).toThrow(
    `duration '${text}' needs a unit: ${text}s or ${text}ms`,
  );
});

test("in zkCli's own spellings a plain number is milliseconds", () => {
  expect([parseZkcliDuration("5000"), parseZkcliDuration("5s")]).toEqual([5_000, 5_000]);
});

test.each(["", "s", "5 s", "-5", "5d", "1e3", "5S"])("refuses '%s'", (text) => {
  expect(() => parseDuration(text)).toThrow(
    expect.objectContaining({
      message: `bad duration '${text}'`,
      hint: "use for example 1500ms, 10s, 5m or 1h",
    }),
  );
});

test.each([
  { ms: 0, text: "0ms" },
  { ms: 1_500, text: "1500ms" },
  { ms: 90_000, text: "90s" },
  { ms: 300_000, text: "5m" },
  { ms: 7_200_000, text: "2h" },
])("$ms ms are $text", ({ ms, text }) => {
  expect(formatDuration(ms)).toBe(text);
  expect(parseDuration(text)).toBe(ms);
});
