import { expect, test } from "vitest";
import { makeSchedule } from "./schedule.ts";
import { torture } from "./torture.ts";

test("the same seed gives the same schedule, another seed another one", () => {
  const schedule = makeSchedule(1, 60, 8);
  expect(schedule.length).toBeGreaterThan(30);
  expect(makeSchedule(1, 60, 8)).toEqual(schedule);
  expect(makeSchedule(2, 60, 8)).not.toEqual(schedule);
});

// npm run test:long takes longer, npm run torture minutes.
const seconds = Number(process.env.ZKSH_TORTURE_SECONDS ?? 5);

test.each([
  { recipe: "lock", seconds },
  { recipe: "rwlock", seconds },
  { recipe: "sem", seconds },
] as const)(
  "$recipe never has two holders while networks, servers and processes fail",
  { timeout: 180_000 },
  async (options) => {
    const report = await torture({ ...options, seed: 4, processes: 6 });
    expect(report.violations, report.summary).toEqual([]);
  },
);
