import { expect, test } from "vitest";
import { monotonicMs } from "../../src/processes/monotonic-clock.ts";
import { eventually } from "../support/eventually.ts";
import { startServer, type ZooKeeperServer } from "../support/zookeeper-server.ts";
import { Scene } from "./lock-scene.ts";

test("a server that comes back with a shorter session timeout does not stop a healthy command", async (context) => {
  const first = await startServer({ tickTime: 500 });
  let second: ZooKeeperServer | undefined;
  // Registered before the scene, which looks at the server once more when the test has ended.
  context.onTestFinished(async () => {
    await second?.stop();
    await first.stop();
  });
  const { port, dataDir } = first;
  const scene = await Scene.at(context, first.address);
  const { zksh, beat } = await scene.holding(["--session-timeout", "30s"]);
  await first.kill();
  second = await startServer({
    port,
    tickTime: 500,
    config: { dataDir, maxSessionTimeout: "6000" },
  });
  await eventually(() => expect(zksh.stderr).toContain("connected again"), { timeoutMs: 20_000 });
  const resumedAt = monotonicMs();
  // A grace of 5 s is longer than what is left of a session of 6 s between two heartbeats.
  await eventually(() => expect(beat.lastAt).toBeGreaterThan(resumedAt + 6_000), {
    message: `it ended: ${zksh.stderr}`,
  });
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7 });
  expect(beat.signals).toEqual([]);
}, 60_000);
