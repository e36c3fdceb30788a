import { expect, test } from "vitest";
import { served, violations } from "../support/exclusion-log.ts";
import { startFleet } from "./fleet.ts";

const SECONDS = 2;

// Before the rig says anything about zksh: it finds nothing where nothing is wrong, and something where it is.

test("Curator's clients exclude each other, in the order of their tickets", async () => {
  const fleet = await startFleet();
  await fleet.java({ "curator-1": "mutex", "curator-2": "mutex", "curator-3": "mutex" });
  const intervals = await fleet.run(SECONDS);
  expect(intervals.length).toBeGreaterThan(30);
  expect(violations(intervals, { isFair: true })).toEqual([]);
  expect(Math.min(...served(intervals, fleet.contenders).values())).toBeGreaterThan(5);
});

test("kazoo's clients exclude each other, in the order of their tickets", async () => {
  const fleet = await startFleet();
  await fleet.kazoo({ "kazoo-1": "lock", "kazoo-2": "lock", "kazoo-3": "lock" });
  const intervals = await fleet.run(SECONDS);
  expect(intervals.length).toBeGreaterThan(30);
  expect(violations(intervals, { isFair: true })).toEqual([]);
});

test("ZooKeeper's WriteLocks exclude each other", async () => {
  const fleet = await startFleet();
  await fleet.java({ "write-1": "writelock", "write-2": "writelock", "write-3": "writelock" });
  const intervals = await fleet.run(SECONDS);
  expect(intervals.length).toBeGreaterThan(20);
  expect(violations(intervals)).toEqual([]);
});

test("Curator's readers stand together, its writers alone", async () => {
  const fleet = await startFleet();
  await fleet.java({
    "reader-1": "read",
    "reader-2": "read",
    "reader-3": "read",
    "writer-1": "write",
    "writer-2": "write",
  });
  const intervals = await fleet.run(SECONDS);
  expect(violations(intervals, { isFair: true })).toEqual([]);
  expect(intervals.length).toBeGreaterThan(30);
});

test("Curator's semaphore never gives more permits than there are", async () => {
  const fleet = await startFleet();
  await fleet.java({ "a-1": "semaphore:2", "a-2": "semaphore:2", "a-3": "semaphore:2", "a-4": "semaphore:2" });
  const intervals = await fleet.run(SECONDS);
  expect(intervals.length).toBeGreaterThan(30);
  expect(violations(intervals, { limit: 2 })).toEqual([]);
  // They do stand together, or the limit would prove nothing.
  expect(violations(intervals, { limit: 1 })).not.toEqual([]);
});

test("Curator and stock kazoo do not exclude each other, and the log shows it", async () => {
  const fleet = await startFleet();
  await Promise.all([
    fleet.java({ "curator-1": "mutex", "curator-2": "mutex" }),
    fleet.kazoo({ "kazoo-1": "lock", "kazoo-2": "lock" }),
  ]);
  const found = violations(await fleet.run(SECONDS));
  expect(found.length).toBeGreaterThan(20);
  expect(found.every(({ rule }) => rule === "exclusion")).toBe(true);
});
