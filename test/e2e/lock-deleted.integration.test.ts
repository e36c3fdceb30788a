/**
 * A ticket that is deleted is free for the next holder at once: no grace can be in time for that.
 */
import { expect, test } from "vitest";
import { LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;

it.for([
  { how: "delete", take: (scene: Scene, node: string) => scene.session.delete(node) },
  {
    how: "revoke --force",
    take: (scene: Scene) => scene.run(["revoke", "--yes", "--force", LOCK]),
  },
])("$how: a command that ignores SIGTERM is killed at once", async ({ take }, context) => {
  const scene = await Scene.at(context);
  const { zksh, beat } = await scene.holding([], { words: ["stubborn"] });
  const node = await scene.queue(1);
  await take(scene, node);
  const { code, stderr } = await zksh.result;
  expect(code).toBe(120);
  expect(stderr).toMatch(/sent KILL to process \d+ .*: its ticket was deleted/);
  // A grace would have begun with SIGTERM.
  expect(beat.signals).toEqual([]);
});

it("--on-lost term, given explicitly: SIGTERM, and SIGKILL after the grace", async (context) => {
  const scene = await Scene.at(context);
  const options = ["--on-lost", "term", "--grace", "1s"];
  const { zksh, beat } = await scene.holding(options, { words: ["stubborn"] });
  await scene.session.delete(await scene.queue(1));
  expect(await zksh.result).toMatchObject({
    code: 120,
    stderr: expect.stringContaining("sent TERM"),
  });
  expect(beat.signals).toEqual(["SIGTERM"]);
  expect(beat.lastAt - beat.at("SIGTERM")).toBeGreaterThan(500);
});

it("--on-lost warn: the command runs on, and the exit code is 120", async (context) => {
  const scene = await Scene.at(context);
  const { zksh, beat } = await scene.holding(["--on-lost", "warn"]);
  await scene.session.delete(await scene.queue(1));
  await beat.goesOn();
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 120 });
  expect(beat.signals).toEqual([]);
});
