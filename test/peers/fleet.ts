import { onTestFinished } from "vitest";
import { type Interval, served } from "../support/exclusion-log.ts";
import { Fleet, type FleetOptions } from "../support/peers.ts";
import { freshChroot } from "../support/shared-server.ts";

/** How long the contenders of a test contend. */
export const FLEET_SECONDS = Number(process.env.ZKSH_FLEET_SECONDS ?? 3);

/** For the tests' own deadline. */
export const FLEET_TIMEOUT_MS = FLEET_SECONDS * 1_000 + 120_000;

/** An empty fleet in a chroot of its own; it is gone when the test is over. */
export async function startFleet(options?: FleetOptions, logs?: readonly string[]): Promise<Fleet> {
  const fleet = new Fleet(await freshChroot(), options, logs);
  onTestFinished(() => fleet.stop());
  return fleet;
}

/** How often the rarest contender was served; 0 when there is one who never was. */
export function leastServed(intervals: readonly Interval[], contenders: readonly string[]): number {
  return Math.min(...served(intervals, contenders).values());
}

/**
 * The rarest contender compared with the commonest, among those named; 1 is perfectly fair. Only
 * turns of the fleet's run count: programs of several makers neither start nor leave together.
 */
export function fairness(fleet: Fleet, contenders: readonly string[]): number {
  const counts = served(fleet.intervals().filter(fleet.isOfRun), contenders);
  const named = contenders.map((name) => counts.get(name) ?? 0);
  return Math.min(...named) / Math.max(...named);
}
