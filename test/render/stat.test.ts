import { describe, expect, test } from "vitest";
import { hexId, isoTime, readableTime } from "../../src/render/stat.ts";

const AT = Date.UTC(2026, 10, 16, 4, 42, 11);

test.each([
  { id: 0n, text: "0x0" },
  { id: 0x1000a5f0000n, text: "0x1000a5f0000" },
  { id: -1n, text: "0xffffffffffffffff" },
])("$id is $text", ({ id, text }) => {
  expect(hexId(id)).toBe(text);
});

test("a time that is no date is a number", () => {
  expect([isoTime(9e15), readableTime(9e15, 0)]).toEqual(["9000000000000000", "9000000000000000"]);
});

describe("readableTime", () => {
  test.each([
    { ago: 0, text: "0 s ago" },
    { ago: 59_999, text: "59 s ago" },
    { ago: 60_000, text: "1 min ago" },
    { ago: 3_600_000, text: "1 h ago" },
    { ago: 86_400_000, text: "1 day ago" },
    { ago: 3 * 86_400_000, text: "3 days ago" },
    { ago: -1000, text: "in the future" },
  ])("$text", ({ ago, text }) => {
    process.env.TZ = "UTC";
    expect(readableTime(AT, AT + ago)).toBe(`2026-11-16 04:42:11 +00:00 (${text})`);
  });

  test.each([
    { zone: "Asia/Kolkata", text: "2026-11-16 10:12:11 +05:30 (0 s ago)" },
    { zone: "America/New_York", text: "2026-11-15 23:42:11 -05:00 (0 s ago)" },
  ])("in $zone", ({ zone, text }) => {
    process.env.TZ = zone;
    expect(readableTime(AT, AT)).toBe(text);
  });
});
