import { expect, test } from "vitest";
import { violations } from "../support/exclusion-log.ts";
import { FLEET_SECONDS, FLEET_TIMEOUT_MS, leastServed, startFleet } from "./fleet.ts";

// Taking several locks at once must not deadlock with somebody who takes them one by one, in either
// order.
test("several locks at once, beside Curator's MultiLock and single locks", {
  timeout: FLEET_TIMEOUT_MS,
}, async () => {
  const fleet = await startFleet({ path: "/multi" }, ["-a", "-b"]);
  const [a, b] = [fleet.logFile("-a"), fleet.logFile("-b")];
  await Promise.all([
    fleet.java({ "curator-ab": "multi:a,b" }),
    fleet.java({ "curator-a": "mutex" }, "/multi/a", [a]),
    fleet.java({ "curator-b": "mutex" }, "/multi/b", [b]),
  ]);
  fleet.zksh("zksh-ab", ["lock", "/multi/a", "/multi/b"], "exclusive");
  fleet.zksh("zksh-ba", ["lock", "/multi/b", "/multi/a"], "exclusive");
  fleet.zksh("zksh-a", ["lock", "/multi/a"], "exclusive", [a]);
  const logs = [
    ["-a", ["curator-ab", "curator-a", "zksh-ab", "zksh-ba", "zksh-a"]],
    ["-b", ["curator-ab", "curator-b", "zksh-ab", "zksh-ba"]],
  ] as const;
  await fleet.run(FLEET_SECONDS, () =>
    logs.every(([name, contenders]) => leastServed(fleet.intervals(name), contenders) > 0),
  );
  for (const [name, contenders] of logs) {
    const intervals = fleet.intervals(name);
    expect(violations(intervals)).toEqual([]);
    expect(leastServed(intervals, contenders)).toBeGreaterThan(0);
  }
});
