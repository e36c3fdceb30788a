import { expect, test } from "vitest";
import { violations } from "../support/exclusion-log.ts";
import { FLEET_SECONDS, FLEET_TIMEOUT_MS, leastServed, startFleet } from "./fleet.ts";

test("zksh elect and Curator's LeaderLatch lead one at a time, in turn", {
  timeout: FLEET_TIMEOUT_MS,
}, async () => {
  const fleet = await startFleet();
  await fleet.java({ "curator-1": "latch", "curator-2": "latch" });
  fleet.zksh("zksh-1", ["elect", fleet.path], "exclusive");
  fleet.zksh("zksh-2", ["elect", fleet.path], "exclusive");
  const intervals = await fleet.run(FLEET_SECONDS, (log) => leastServed(log, fleet.contenders) > 0);
  expect(violations(intervals, { isFair: true })).toEqual([]);
  expect(leastServed(intervals, fleet.contenders)).toBeGreaterThan(0);
});
