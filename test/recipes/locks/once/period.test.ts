import { expect, test } from "vitest";
import { CALENDAR, isSamePeriod, periodAt } from "../../../../src/recipes/locks/once/period.ts";

const at = (text: string) => Date.parse(text);

test.each([
  { unit: "hour", begin: "2026-11-19T13:00:00Z", end: "2026-11-19T14:00:00Z" },
  { unit: "day", begin: "2026-11-19T00:00:00Z", end: "2026-11-20T00:00:00Z" },
  { unit: "week", begin: "2026-11-16T00:00:00Z", end: "2026-11-23T00:00:00Z" },
] as const)("the $unit of a Thursday at 13:59 begins at $begin", ({ unit, begin, end }) => {
  const period = periodAt(at("2026-11-19T13:59:59.999Z"), CALENDAR[unit]);
  expect(period).toEqual({ beginMs: at(begin), endMs: at(end) });
});

test("a period has its first millisecond and not the one behind its last", () => {
  const per = { lengthMs: 3_000 };
  expect(periodAt(3_000, per)).toEqual({ beginMs: 3_000, endMs: 6_000 });
  expect(periodAt(5_999, per)).toEqual({ beginMs: 3_000, endMs: 6_000 });
  expect(periodAt(6_000, per)).toEqual({ beginMs: 6_000, endMs: 9_000 });
});

test("periods of another length are others, even where they begin together", () => {
  const [hour, day] = [periodAt(0, CALENDAR.hour), periodAt(0, CALENDAR.day)];
  expect(hour.beginMs).toBe(day.beginMs);
  expect(isSamePeriod(hour, day)).toBe(false);
});
