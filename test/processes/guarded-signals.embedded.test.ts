import { constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { findProcess } from "../../src/processes/process-table.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import type { Guarding } from "./fixtures/guarding-process.ts";
import {
  GuardingProcess,
  isRunning,
  kill,
  killLeftovers,
  leftovers,
  pidsIn,
  wordsIn,
} from "./guarding.ts";

const directory = temporaryDirectory("guarded-signals");
let file = "";
let count = 0;

beforeEach(() => {
  file = join(directory, String(++count));
});

afterEach(async () => {
  try {
    await eventually(() => expect(leftovers()).toEqual([]), {
      message: "something was left",
      timeoutMs: 5_000,
    });
  } finally {
    killLeftovers();
  }
});

afterAll(() => removeDirectory(directory));

async function guarding(script: string, options: Partial<Guarding> = {}) {
  const guard = new GuardingProcess({ group: "own", argv: ["sh", "-c", script], ...options });
  return { guard, pid: await guard.started() };
}

/** Writes the name of each signal it gets, and goes on until SIGTERM. */
function recorder(): string {
  const names = ["INT", "HUP", "QUIT", "USR1", "USR2", "WINCH"];
  const traps = names.map((name) => `trap 'echo ${name} >> ${file}' ${name}`);
  return `${traps.join("; ")}; trap 'exit 5' TERM; echo ready > ${file}; while :; do sleep 0.05; done`;
}

describe("signals to the guard", () => {
  test.each([
    { group: "own", notForwarded: [] },
    // Nobody can tell whether it came from a terminal, which has told everybody.
    { group: "share", notForwarded: ["INT"] },
  ] as const)(
    "are passed on, except $notForwarded in a group that is $group",
    async ({ group, notForwarded }) => {
      const { guard, pid } = await guarding(recorder(), { group });
      await eventually(() => wordsIn(file).includes("ready"));
      const heard = ["ready"];
      const told: string[] = [];
      for (const name of ["INT", "HUP", "QUIT", "USR1", "USR2", "WINCH"]) {
        guard.kill(`SIG${name}` as NodeJS.Signals);
        told.push(`SIG${name}`);
        await eventually(() => expect(guard.signals).toEqual(told));
        if (!notForwarded.some((one) => one === name)) heard.push(name);
        await eventually(() => expect(wordsIn(file)).toEqual(heard));
      }
      expect(isRunning(pid)).toBe(true);
      guard.kill("SIGTERM");
      expect(await guard.ended()).toEqual({ code: 5 });
    },
  );

  test("stop both and let both go on (SIGTSTP, SIGCONT)", async () => {
    const { guard, pid } = await guarding(recorder());
    await eventually(() => wordsIn(file).includes("ready"));
    const states = () => [guard.pid, pid].map((one) => findProcess(one)?.state);
    guard.kill("SIGTSTP");
    // A shell that was just starting a program is blocked by it instead.
    await eventually(() =>
      expect(states()).toEqual(["stopped", expect.stringMatching(/stopped|blocked/)]),
    );
    expect(guard.signals).toEqual(["SIGTSTP"]);
    guard.kill("SIGCONT");
    await eventually(() => expect(states()).toEqual(["running", "running"]));
    guard.kill("SIGTERM");
    expect(await guard.ended()).toEqual({ code: 5 });
  });

  test("SIGCONT does not continue a program whose lease has ended", async () => {
    const { guard } = await guarding(recorder(), { permit: [60_000, 4_000] });
    await eventually(() => wordsIn(file).includes("ready"));
    guard.kill("SIGTSTP");
    await eventually(() => expect(findProcess(guard.pid)?.state).toBe("stopped"));
    // No watchdog is there to help, and a guard that is stopped cannot start another.
    for (const other of leftovers()) if (isWatchdog(other)) kill(other, "SIGKILL");
    // Until its time is over.
    await sleep(4_100);
    guard.kill("SIGCONT");
    expect(await guard.ended()).toEqual({ killedBy: "SIGKILL" });
  });
});

function isWatchdog(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("watchdog.cjs");
}

const STUBBORN =
  "trap 'echo TERM >> FILE.log' TERM; sleep 300 & echo $$ $! > FILE; while :; do wait; done";
const MEEK = "sleep 300 & echo $$ $! > FILE; wait";

/** The time that the program has begins when its guard is frozen or dead, however slow the test is. */
const RENEWED = { renewEveryMs: 20 };

describe.each(["own", "share"] as const)("the watchdog (%s)", (group) => {
  const all = async (script: string, options: Partial<Guarding> = {}) => {
    const { guard } = await guarding(script.replaceAll("FILE", file), { group, ...options });
    return { guard, pids: await pidsIn(file, 2) };
  };

  test("ends the program and its children when the guard is killed", async () => {
    const { guard, pids } = await all(MEEK);
    guard.kill("SIGKILL");
    await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]), {
      timeoutMs: 2_000,
    });
  });

  test("kills what does not end, before its time is over", async () => {
    const { guard, pids } = await all(STUBBORN, { permit: [60_000, 1_500], ...RENEWED });
    const killedAt = performance.now();
    guard.kill("SIGKILL");
    await eventually(() => expect(wordsIn(`${file}.log`)).toContain("TERM"), { timeoutMs: 1_000 });
    await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]), {
      timeoutMs: 3_000,
    });
    expect(performance.now() - killedAt).toBeLessThan(2_500);
  });

  test("asks, then kills, when the guard is frozen", async () => {
    const { guard, pids } = await all(STUBBORN, { permit: [500, 1_500], ...RENEWED });
    guard.kill("SIGSTOP");
    const stoppedAt = performance.now();
    await eventually(() => expect(wordsIn(`${file}.log`)).toEqual(["TERM"]), {
      timeoutMs: 1_400,
      intervalMs: 10,
    });
    await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]), {
      timeoutMs: 3_000,
    });
    expect(performance.now() - stoppedAt).toBeLessThan(2_500);
    expect(wordsIn(`${file}.log`)).toEqual(["TERM"]);
    guard.kill("SIGCONT");
    expect(await guard.ended()).toEqual({ killedBy: "SIGKILL" });
  });

  test("kills what is frozen together with the guard", async () => {
    const { guard, pids } = await all(MEEK, { permit: [300, 800], ...RENEWED });
    for (const pid of [guard.pid, ...pids]) kill(pid, "SIGSTOP");
    await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]), {
      timeoutMs: 2_000,
    });
    guard.kill("SIGCONT");
    expect(await guard.ended()).toEqual({ killedBy: "SIGKILL" });
  });

  test("leaves a program alone whose permission is renewed", async () => {
    const { guard, pids } = await all(
      `(sleep 2.5; echo slept > FILE.log; exit 4) & echo $$ $! > FILE; wait $!`,
      {
        permit: [1_500, 2_000],
        renewEveryMs: 100,
      },
    );
    expect(await guard.ended()).toEqual({ code: 4 });
    expect(wordsIn(`${file}.log`)).toEqual(["slept"]);
    expect(pids.length).toBe(2);
  });

  test("is killed by no signal that a whole service gets", async () => {
    const { guard, pids } = await all(STUBBORN, { permit: [60_000, 1_500], ...RENEWED });
    const watchdog = await eventually(() => leftovers().find(isWatchdog) ?? false);
    // The first signal is SIGHUP, which node itself leaves alone.
    await eventually(() =>
      /^SigCgt:.*[13579bdf]$/m.test(readFileSync(`/proc/${watchdog}/status`, "utf8")),
    );
    for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) kill(watchdog, signal);
    guard.kill("SIGKILL");
    await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]), {
      timeoutMs: 3_000,
    });
  });
});

test("the watchdog acts on the last word when it was frozen itself", async () => {
  const { guard } = await guarding(MEEK.replaceAll("FILE", file), {
    permit: [1_500, 2_000],
    renewEveryMs: 100,
  });
  const pids = await pidsIn(file, 2);
  const watchdog = await eventually(() => leftovers().find(isWatchdog) ?? false);
  kill(watchdog, "SIGSTOP");
  // Longer than the last permission it has read.
  await sleep(2_500);
  kill(watchdog, "SIGCONT");
  await eventually(() => findProcess(watchdog)?.state === "running");
  await sleep(200);
  expect(pids.map(isRunning)).toEqual([true, true]);
  for (const pid of pids) kill(pid, "SIGTERM");
  expect(await guard.ended()).toEqual({ killedBy: "SIGTERM" });
});

test("what the guard writes leaves the program's output as it is", async () => {
  const { guard, pid } = await guarding(`trap '' USR1; echo ready > ${file}; sleep 300`);
  await eventually(() => wordsIn(file).includes("ready"));
  guard.kill("SIGUSR1");
  await eventually(() => expect(guard.signals).toEqual(["SIGUSR1"]));
  const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/1`, "utf8"))?.[1] ?? "";
  // Not O_NONBLOCK, or what it writes would be lost when nobody reads for a while.
  expect(Number.parseInt(flags, 8) & constants.O_NONBLOCK).toBe(0);
  guard.kill("SIGTERM");
  expect(await guard.ended()).toEqual({ killedBy: "SIGTERM" });
});
