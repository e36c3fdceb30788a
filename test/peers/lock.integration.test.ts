import { expect, test } from "vitest";
import { type Interval, violations } from "../support/exclusion-log.ts";
import type { Fleet } from "../support/peers.ts";
import { FLEET_SECONDS, FLEET_TIMEOUT_MS, fairness, leastServed, startFleet } from "./fleet.ts";

// Per second and fleet, far below what a busy machine does.
const LEAST = FLEET_SECONDS * 5;
const options = { timeout: FLEET_TIMEOUT_MS };

/** `inTurn`: those that always queue, which take turns; the faster ones a few more. */
function isEnough(fleet: Fleet, inTurn: readonly string[] = []) {
  return (intervals: readonly Interval[]) =>
    intervals.length > LEAST &&
    leastServed(intervals, fleet.contenders) > 0 &&
    (inTurn.length === 0 || fairness(fleet, inTurn) > 0.5);
}

test("zksh and Curator exclude each other, in the order of their tickets", options, async () => {
  const fleet = await startFleet();
  await Promise.all([
    fleet.java({ "curator-1": "mutex", "curator-2": "mutex" }),
    fleet.library({ "library-1": "mutex", "library-2": "mutex" }),
  ]);
  fleet.zksh("zksh-1", ["lock", fleet.path], "exclusive");
  fleet.zksh("zksh-2", ["lock", fleet.path], "exclusive");
  // Processes spend most of their time on starting.
  const inTurn = ["curator-1", "curator-2", "library-1", "library-2"];
  const intervals = await fleet.run(FLEET_SECONDS, isEnough(fleet, inTurn));
  expect(violations(intervals, { isFair: true })).toEqual([]);
  expect(intervals.length).toBeGreaterThan(LEAST);
  expect(leastServed(intervals, fleet.contenders)).toBeGreaterThan(0);
  expect(fairness(fleet, inTurn)).toBeGreaterThan(0.5);
});

test("zksh and ZooKeeper's WriteLock exclude each other", options, async () => {
  const fleet = await startFleet();
  await Promise.all([
    fleet.java({ "writelock-1": "writelock", "writelock-2": "writelock" }),
    fleet.library({ "library-1": "mutex", "library-2": "mutex" }),
  ]);
  fleet.zksh("zksh-1", ["lock", fleet.path], "exclusive");
  fleet.zksh("zksh-2", ["lock", fleet.path], "exclusive");
  const intervals = await fleet.run(FLEET_SECONDS, isEnough(fleet));
  expect(violations(intervals, { isFair: true })).toEqual([]);
  expect(intervals.length).toBeGreaterThan(LEAST);
  expect(leastServed(intervals, fleet.contenders)).toBeGreaterThan(0);
});

test(
  "zksh --compat all and stock kazoo exclude each other, in the order of their tickets",
  options,
  async () => {
    const fleet = await startFleet();
    await Promise.all([
      fleet.kazoo({ "kazoo-1": "lock", "kazoo-2": "lock" }),
      fleet.library({ "library-1": "compat", "library-2": "compat" }),
    ]);
    fleet.zksh("zksh-1", ["lock", "--compat", "all", fleet.path], "exclusive");
    fleet.zksh("zksh-2", ["lock", "--compat", "all", fleet.path], "exclusive");
    const inTurn = ["kazoo-1", "kazoo-2", "library-1", "library-2"];
    const intervals = await fleet.run(FLEET_SECONDS, isEnough(fleet, inTurn));
    expect(violations(intervals, { isFair: true })).toEqual([]);
    expect(intervals.length).toBeGreaterThan(LEAST);
    expect(leastServed(intervals, fleet.contenders)).toBeGreaterThan(0);
    expect(fairness(fleet, inTurn)).toBeGreaterThan(0.5);
  },
);

test("without --compat, stock kazoo does not see zksh, and the log shows it", options, async () => {
  const fleet = await startFleet();
  await Promise.all([
    fleet.kazoo({ "kazoo-1": "lock", "kazoo-2": "lock" }),
    fleet.library({ "library-1": "mutex", "library-2": "mutex" }),
  ]);
  const found = violations(await fleet.run(2, (log) => violations(log).length > 10));
  expect(found.length).toBeGreaterThan(10);
});
