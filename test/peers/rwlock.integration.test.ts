import { expect, test } from "vitest";
import { type Interval, violations } from "../support/exclusion-log.ts";
import { FLEET_SECONDS, FLEET_TIMEOUT_MS, leastServed, startFleet } from "./fleet.ts";

test("readers and writers of zksh and Curator keep each other's rules", {
  timeout: FLEET_TIMEOUT_MS,
}, async () => {
  const fleet = await startFleet();
  await Promise.all([
    fleet.java({ "curator-r1": "read", "curator-r2": "read", "curator-w1": "write" }),
    fleet.library({ "library-r1": "read", "library-r2": "read", "library-w1": "write" }),
  ]);
  fleet.zksh("zksh-r1", ["rwlock", "read", fleet.path], "read");
  fleet.zksh("zksh-w1", ["rwlock", "write", fleet.path], "write");
  const intervals = await fleet.run(FLEET_SECONDS, (log) => leastServed(log, fleet.contenders) > 0);
  expect(violations(intervals, { isFair: true })).toEqual([]);
  expect(leastServed(intervals, fleet.contenders)).toBeGreaterThan(0);
});

/**
 * Beside writers, who is in the queue at the same time is a matter of chance: here nobody has to
 * wait.
 */
test("readers of zksh and Curator hold it together", { timeout: FLEET_TIMEOUT_MS }, async () => {
  const fleet = await startFleet();
  await Promise.all([
    fleet.java({ "curator-r1": "read" }),
    fleet.library({ "library-r1": "read" }),
  ]);
  const together = (intervals: Interval[]) => {
    const asWriters = intervals.map((interval) => ({
      ...interval,
      kind: "write" as const,
      token: undefined,
    }));
    return violations(asWriters).map(
      ({ between }) => new Set(between.map(({ contender }) => contender)),
    );
  };
  const intervals = await fleet.run(2, (log) => together(log).some(({ size }) => size === 2));
  expect(together(intervals)).toContainEqual(new Set(["curator-r1", "library-r1"]));
});
