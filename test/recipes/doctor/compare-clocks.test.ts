import { expect, test } from "vitest";
import { judgeClocks, LatestTime } from "../../../src/recipes/doctor/compare-clocks.ts";

const reading = (server: string, leastMs: number, mostMs = leastMs + 20) => ({
  server,
  leastMs,
  mostMs,
});

test("a second of difference is none, whatever the network adds", () => {
  expect(
    judgeClocks([reading("a", -500, 800), reading("b", -1_000, 0), reading("c", 980)]),
  ).toEqual([]);
  // Slow: it may be right.
  expect(judgeClocks([reading("a", -9_000, 500)])).toEqual([]);
});

test("one of several clocks is off by what is certain", () => {
  expect(judgeClocks([reading("a", 5_000), reading("b", -7_000), reading("c", 0)])).toEqual([
    { check: "clock-skew", severity: "warning", server: "a", aheadMs: 5_000 },
    { check: "clock-skew", severity: "warning", server: "b", aheadMs: -6_980 },
  ]);
});

test("servers that agree show that this machine is off", () => {
  expect(judgeClocks([reading("a", 5_000), reading("b", 5_400)])).toEqual([
    { check: "clock-skew", severity: "warning", aheadMs: -5_010 },
  ]);
  expect(judgeClocks([reading("a", 5_000), reading("b", 9_000)])).toHaveLength(2);
  expect(judgeClocks([reading("a", 5_000)])).toMatchObject([{ server: "a" }]);
});

test("the latest time counts if it is in the future", () => {
  const latest = new LatestTime();
  expect(latest.findings(0)).toEqual([]);
  latest.add("/a", { ctime: 1, mtime: 9_000 });
  latest.add("/b", { ctime: 8_000, mtime: 2 });
  expect(latest.findings(8_500)).toEqual([]);
  expect(latest.findings(7_000)).toMatchObject([{ path: "/a", aheadMs: 2_000 }]);
});
