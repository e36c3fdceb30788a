import { expect, test } from "vitest";
import { type Interval, violations } from "../support/exclusion-log.ts";
import { FLEET_TIMEOUT_MS, leastServed, startFleet } from "./fleet.ts";

const SECONDS = 2;
const options = { timeout: FLEET_TIMEOUT_MS };

// Before the rig says anything about zksh: it finds nothing where nothing is wrong, and something
// where it is.

test("Curator's clients exclude each other, in the order of their tickets", options, async () => {
  const fleet = await startFleet();
  await fleet.java({ "curator-1": "mutex", "curator-2": "mutex", "curator-3": "mutex" });
  const isEnough = (log: Interval[]) => log.length > 30 && leastServed(log, fleet.contenders) > 5;
  const intervals = await fleet.run(SECONDS, isEnough);
  expect(intervals.length).toBeGreaterThan(30);
  expect(violations(intervals, { isFair: true })).toEqual([]);
  expect(leastServed(intervals, fleet.contenders)).toBeGreaterThan(5);
});

test("kazoo's clients exclude each other, in the order of their tickets", options, async () => {
  const fleet = await startFleet();
  await fleet.kazoo({ "kazoo-1": "lock", "kazoo-2": "lock", "kazoo-3": "lock" });
  const intervals = await fleet.run(SECONDS, (log) => log.length > 30);
  expect(intervals.length).toBeGreaterThan(30);
  expect(violations(intervals, { isFair: true })).toEqual([]);
});

test("ZooKeeper's WriteLocks exclude each other", options, async () => {
  const fleet = await startFleet();
  await fleet.java({ "write-1": "writelock", "write-2": "writelock", "write-3": "writelock" });
  const intervals = await fleet.run(SECONDS, (log) => log.length > 30);
  expect(intervals.length).toBeGreaterThan(30);
  expect(violations(intervals)).toEqual([]);
});

test("Curator's readers stand together, its writers alone", options, async () => {
  const fleet = await startFleet();
  await fleet.java({
    "reader-1": "read",
    "reader-2": "read",
    "reader-3": "read",
    "writer-1": "write",
    "writer-2": "write",
  });
  const intervals = await fleet.run(SECONDS, (log) => log.length > 30);
  expect(violations(intervals, { isFair: true })).toEqual([]);
  expect(intervals.length).toBeGreaterThan(30);
});

test("Curator's semaphore never gives more permits than there are", options, async () => {
  const fleet = await startFleet();
  await fleet.java({
    "a-1": "semaphore:2",
    "a-2": "semaphore:2",
    "a-3": "semaphore:2",
    "a-4": "semaphore:2",
  });
  const isEnough = (log: Interval[]) => log.length > 30 && violations(log, { limit: 1 }).length > 0;
  const intervals = await fleet.run(SECONDS, isEnough);
  expect(intervals.length).toBeGreaterThan(30);
  expect(violations(intervals, { limit: 2 })).toEqual([]);
  // They do stand together, or the limit would prove nothing.
  expect(violations(intervals, { limit: 1 })).not.toEqual([]);
});

test(
  "Curator and stock kazoo do not exclude each other, and the log shows it",
  options,
  async () => {
    const fleet = await startFleet();
    await Promise.all([
      fleet.java({ "curator-1": "mutex", "curator-2": "mutex" }),
      fleet.kazoo({ "kazoo-1": "lock", "kazoo-2": "lock" }),
    ]);
    const found = violations(await fleet.run(SECONDS, (log) => violations(log).length > 20));
    expect(found.length).toBeGreaterThan(20);
    expect(found.every(({ rule }) => rule === "exclusion")).toBe(true);
  },
);
