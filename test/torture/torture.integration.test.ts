import { expect, test } from "vitest";
import type { RecipeName } from "./contender.ts";
import { makeSchedule } from "./schedule.ts";
import { torture } from "./torture.ts";

test("the same seed gives the same schedule, another seed another one", () => {
  const schedule = makeSchedule(1, 60, 8);
  expect(schedule.length).toBeGreaterThan(30);
  expect(makeSchedule(1, 60, 8)).toEqual(schedule);
  expect(makeSchedule(2, 60, 8)).not.toEqual(schedule);
});

// npm test tortures one recipe for seconds, npm run test:long all of them for longer, and npm run
// torture for minutes.
const { ZKSH_TORTURE_SECONDS } = process.env;
const seconds = Number(ZKSH_TORTURE_SECONDS ?? 5);
const recipes: readonly RecipeName[] =
  ZKSH_TORTURE_SECONDS === undefined ? ["lock"] : ["lock", "rwlock", "sem"];

test.each(recipes.map((recipe) => ({ recipe, seconds })))(
  "$recipe never has two holders while networks, servers and processes fail",
  async (options) => {
    const report = await torture({ ...options, seed: 4, processes: 6 });
    expect(report.violations, report.summary).toEqual([]);
  },
);
