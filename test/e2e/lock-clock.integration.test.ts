/**
 * A wall clock that is set while a command runs under a lock: NTP does that on healthy machines.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { Scene } from "./lock-scene.ts";

const STEP = join(import.meta.dirname, "fixtures/step-wall-clock.cjs");
const T = 4_000;

test.concurrent.for([
  { name: "forward by half of the session timeout", stepMs: T / 2 },
  { name: "forward by an hour", stepMs: 3_600_000 },
  { name: "back by an hour", stepMs: -3_600_000 },
])("set $name, it does not stop the command", async ({ stepMs }, context) => {
  const scene = await Scene.at(context);
  const when = scene.file();
  const env = { NODE_OPTIONS: `--require=${STEP}`, STEP_WHEN: when, STEP_MS: String(stepMs) };
  const { zksh, beat } = await scene.holding(["--session-timeout", `${T}ms`], { env });
  writeFileSync(when, "");
  const steppedAt = beat.lastAt;
  // Longer than a session that lost its proof with the step could live.
  await eventually(() => expect(beat.lastAt - steppedAt).toBeGreaterThan(1.5 * T), {
    timeoutMs: 4 * T,
  });
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7, stderr: "" });
});
