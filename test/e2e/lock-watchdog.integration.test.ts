/**
 * The watchdog dies, or is all that is left: the command still never outlives its lock. Needs root
 * on Linux.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { expect, test } from "vitest";
import { findProcess } from "../../src/processes/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { kill, LOCK, Scene } from "./lock-scene.ts";

const it = test.concurrent;

/** Not one that only its parent, which may be frozen, has to be told of. */
function isRunning(pid: number): boolean {
  const row = findProcess(pid);
  return row !== undefined && row.state !== "zombie";
}

function watchdogs(scene: Scene, parent: number): number[] {
  return scene.processes().filter((pid) => {
    try {
      const isOne = readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("watchdog.cjs");
      return isOne && findProcess(pid)?.parent === parent;
    } catch {
      return false;
    }
  });
}

function watchdogOf(scene: Scene, parent: number, but?: number): Promise<number> {
  return eventually(() => watchdogs(scene, parent).find((pid) => pid !== but) ?? false, {
    message: "no watchdog",
  });
}

it("ends, and cannot be replaced: the command is stopped, 120", async (context) => {
  const scene = await Scene.at(context);
  const { zksh, beat, pid } = await scene.holding(["--grace", "500ms"], { words: ["stubborn"] });
  const open = readdirSync(`/proc/${zksh.pid}/fd`).length;
  execFileSync("prlimit", ["--pid", String(zksh.pid), `--nofile=${open - 2}`]);
  kill(await watchdogOf(scene, zksh.pid), "SIGKILL");
  const { code, stderr } = await zksh.result;
  expect([code, beat.signals]).toEqual([120, ["SIGTERM"]]);
  expect(stderr).toContain("the watchdog ended: cannot start the watchdog: too many open files");
  expect(stderr).toContain(`sent TERM to process ${pid} and its group: the watchdog is gone`);
});

it("ends, and is replaced: the command hears nothing of it", async (context) => {
  const scene = await Scene.at(context);
  const { zksh, beat } = await scene.holding();
  const first = await watchdogOf(scene, zksh.pid);
  kill(first, "SIGKILL");
  await watchdogOf(scene, zksh.pid, first);
  await beat.goesOn();
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7, stderr: "" });
  expect(beat.signals).toEqual([]);
});

it("is stopped (SIGSTOP), and is replaced: the command hears nothing of it", async (context) => {
  const scene = await Scene.at(context);
  const { zksh, beat } = await scene.holding();
  const first = await watchdogOf(scene, zksh.pid);
  kill(first, "SIGSTOP");
  await eventually(() => expect(isRunning(first)).toBe(false), { timeoutMs: 30_000 });
  await watchdogOf(scene, zksh.pid, first);
  await beat.goesOn();
  beat.end();
  expect(await zksh.result).toMatchObject({ code: 7, stderr: "" });
  expect(beat.signals).toEqual([]);
});

it("is stopped (SIGSTOP) just before the end of the command, and ends with zksh", async (context) => {
  const scene = await Scene.at(context);
  const { zksh, beat } = await scene.holding();
  kill(await watchdogOf(scene, zksh.pid), "SIGSTOP");
  beat.end();
  // That no process is left is checked after every test.
  expect(await zksh.result).toMatchObject({ code: 7, stderr: "" });
});

it("ends while zksh queues, and is replaced before the command begins", async (context) => {
  const scene = await Scene.at(context);
  const holder = await scene.holding();
  const waiter = scene.start(["lock", LOCK, "--", "sh", "-c", "exit 5"]);
  await scene.queue(2);
  kill(await watchdogOf(scene, waiter.pid), "SIGKILL");
  holder.beat.end();
  await holder.zksh.result;
  expect(await waiter.result).toMatchObject({ code: 5, stderr: "" });
});

it("ends with a zksh that is told to end while it queues", async (context) => {
  const scene = await Scene.at(context);
  const holder = await scene.holding();
  for (const { signal, code } of [
    { signal: "SIGTERM", code: 143 },
    { signal: "SIGKILL", code: null },
  ] as const) {
    const waiter = scene.start(["lock", LOCK, "--", "true"]);
    await scene.queue(2);
    const watchdog = await watchdogOf(scene, waiter.pid);
    waiter.kill(signal);
    expect(await waiter.result).toMatchObject({ code });
    await eventually(() => expect(isRunning(watchdog)).toBe(false));
    // The ticket of a zksh that was killed stays until its session ends.
    if (code === null) await scene.session.delete(await scene.queue(2));
  }
  holder.beat.end();
  await holder.zksh.result;
});

it("is killed together with zksh: with --on-lost kill the command is killed too, though it ignores TERM", async (context) => {
  const scene = await Scene.at(context);
  const { zksh, beat, pid } = await scene.holding(["--on-lost", "kill"], { words: ["stubborn"] });
  const watchdog = await watchdogOf(scene, zksh.pid);
  kill(zksh.pid, "SIGSTOP");
  kill(watchdog, "SIGKILL");
  kill(zksh.pid, "SIGKILL");
  await eventually(() => expect(isRunning(pid)).toBe(false));
  expect(beat.signals).toEqual([]);
  await scene.session.delete(await scene.queue(1));
});

it("counts the time that the machine was suspended", async (context) => {
  const scene = await Scene.at(context);
  const clock = scene.file();
  const setClock = (seconds: number) => writeFileSync(clock, `${seconds.toFixed(2)} 0.00\n`);
  setClock(uptime());
  // A boot clock that can be set: what a suspended machine looks like to those who wake up on it.
  const within = [
    "unshare",
    "--mount",
    "sh",
    "-c",
    `mount --bind ${clock} /proc/uptime && exec "$@"`,
    "sh",
  ];
  const { zksh, beat, pid } = await scene.holding(["--session-timeout", "40s"], {
    through: within,
    words: ["stubborn"],
  });
  kill(zksh.pid, "SIGSTOP");
  await beat.goesOn();
  setClock(uptime() + 3_600);
  await eventually(() => expect(isRunning(pid)).toBe(false), { timeoutMs: 5_000 });
  kill(zksh.pid, "SIGCONT");
  expect(await zksh.result).toMatchObject({ code: 120 });
});
