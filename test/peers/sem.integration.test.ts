import { expect, test } from "vitest";
import { type Interval, violations } from "../support/exclusion-log.ts";
import { FLEET_SECONDS, FLEET_TIMEOUT_MS, fairness, leastServed, startFleet } from "./fleet.ts";

test.each([1, 2])(
  "zksh and Curator never hold more than %i permits",
  { timeout: FLEET_TIMEOUT_MS },
  async (limit) => {
    const fleet = await startFleet();
    const recipe = `semaphore:${limit}`;
    await Promise.all([
      fleet.java({ "curator-1": recipe, "curator-2": recipe }),
      fleet.library({ "library-1": recipe, "library-2": recipe }),
    ]);
    fleet.zksh("zksh-1", ["sem", "--limit", String(limit), fleet.path], "permit");
    fleet.zksh("zksh-2", ["sem", "--limit", String(limit), fleet.path], "permit");
    const isUsed = (log: Interval[]) =>
      limit === 1 || violations(log, { limit: limit - 1 }).length > 0;
    const inTurn = ["curator-1", "curator-2", "library-1", "library-2"];
    const intervals = await fleet.run(
      FLEET_SECONDS,
      (log) =>
        leastServed(log, fleet.contenders) > 0 && isUsed(log) && fairness(fleet, inTurn) > 0.3,
    );
    expect(violations(intervals, { limit })).toEqual([]);
    expect(leastServed(intervals, fleet.contenders)).toBeGreaterThan(0);
    expect(fairness(fleet, inTurn)).toBeGreaterThan(0.3);
    // All of them are used, or the limit would prove nothing.
    expect(isUsed(intervals)).toBe(true);
  },
);
