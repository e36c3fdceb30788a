import { once } from "node:events";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  findProcess,
  hasInEnvironment,
  processTable,
  psTable,
} from "../../src/processes/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { removeDirectory, spawnTracked, temporaryDirectory } from "../support/tracked-process.ts";

test("knows a process, and that it has stopped and ended", async () => {
  const directory = temporaryDirectory("process-table");
  onTestFinished(() => removeDirectory(directory));
  const program = join(directory, "x) Z 1 2");
  copyFileSync("/bin/sleep", program);
  const child = spawnTracked(program, ["300"], { detached: true, env: { A: "b" } });
  const pid = child.pid ?? 0;
  expect(findProcess(pid)).toMatchObject({ pid, parent: process.pid, group: pid, session: pid });
  expect(findProcess(pid)?.state).toBe("running");
  expect(processTable()).toContainEqual(findProcess(pid));
  expect([
    hasInEnvironment(pid, "A=b"),
    hasInEnvironment(pid, "A="),
    hasInEnvironment(pid, "=b"),
  ]).toEqual([true, false, false]);
  child.kill("SIGSTOP");
  await eventually(() => findProcess(pid)?.state === "stopped");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(findProcess(pid)).toBeUndefined();
  expect(hasInEnvironment(pid, "A=b")).toBe(false);
});

test("ps says the same as /proc", async () => {
  const child = spawnTracked("sleep", ["300"], { detached: true });
  const pid = child.pid ?? 0;
  const row = psTable().find((one) => one.pid === pid);
  expect(row).toMatchObject({
    pid,
    parent: process.pid,
    group: pid,
    session: pid,
    state: "running",
  });
  expect(row?.start).toMatch(/\d\d:\d\d:\d\d \d{4}$/);
  child.kill("SIGSTOP");
  await eventually(() => psTable().find((one) => one.pid === pid)?.state === "stopped");
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(psTable().find((one) => one.pid === pid)).toBeUndefined();
});
