/**
 * The watchdog process itself: what it confirms, what cannot end it, and what happens when
 * something does.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { getPriority } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Deadline, deadlineIn } from "../../src/processes/monotonic-clock.ts";
import { findProcess } from "../../src/processes/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { removeDirectory, spawnTracked, temporaryDirectory } from "../support/tracked-process.ts";
import type { Guarding } from "./fixtures/guarding-process.ts";
import {
  environment,
  GuardingProcess,
  isRunning,
  kill,
  killLeftovers,
  leftovers,
  pidsIn,
  wordsIn,
} from "./guarding.ts";

const WATCHDOG = join(import.meta.dirname, "../../dist/watchdog.cjs");
const STUBBORN = "trap 'echo TERM >> FILE.log' TERM; echo $$ > FILE; while :; do sleep 0.1; done";
const directory = temporaryDirectory("watchdog");
let file = "";
let count = 0;

beforeEach(() => {
  file = join(directory, String(++count));
});

afterEach(async () => {
  try {
    await eventually(() => expect(leftovers()).toEqual([]), {
      message: "something was left",
      timeoutMs: 8_000,
    });
  } finally {
    killLeftovers();
  }
});

afterAll(() => removeDirectory(directory));

/** A watchdog without a zksh, to speak to. */
class Alone {
  readonly process: ChildProcess;
  #said = "";

  constructor() {
    this.process = spawnTracked(process.execPath, [WATCHDOG], {
      // As zksh starts it: its priority is that of its session.
      detached: true,
      env: environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.process.stdout?.on("data", (chunk) => {
      this.#said += chunk;
    });
  }

  say(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  says(text: string): Promise<unknown> {
    return eventually(() => expect(this.#said).toBe(text));
  }
}

function permit(stopAt: Deadline, killAt: Deadline): string {
  const text = ({ monotonicAt, bootAt }: Deadline) => `${monotonicAt},${bootAt}`;
  return `permit ${text(stopAt)} ${text(killAt)}`;
}

/** A program that ignores SIGTERM, in a session of its own, and how the watchdog is told of it. */
async function stubborn(): Promise<{ pid: number; tree: string }> {
  file = join(directory, String(++count));
  const script = STUBBORN.replaceAll("FILE", file);
  const { pid = Number.NaN } = spawnTracked("sh", ["-c", script], {
    detached: true,
    env: environment,
  });
  await pidsIn(file, 1);
  const start = findProcess(pid)?.start;
  return {
    pid,
    tree: JSON.stringify({ pid, start, session: pid, guard: process.pid, mark: "A=b" }),
  };
}

describe("a watchdog", () => {
  test.runIf(process.getuid?.() === 0)("runs at a raised priority where it may", async () => {
    const watchdog = new Alone();
    await watchdog.says("ready\n");
    expect(getPriority(watchdog.process.pid)).toBe(-10);
    const group = `/proc/${watchdog.process.pid}/autogroup`;
    // A kernel without that file does not group processes by session.
    if (existsSync(group)) expect(readFileSync(group, "utf8")).toMatch(/ nice -10$/m);
    watchdog.process.stdin?.end();
    await eventually(() => expect(watchdog.process.exitCode).toBe(0));
  });

  test.runIf(process.platform === "linux")(
    "has a name that killall node does not hit",
    async () => {
      const watchdog = new Alone();
      await watchdog.says("ready\n");
      const comm = readFileSync(`/proc/${watchdog.process.pid}/comm`, "utf8");
      expect(comm).toBe("zksh-watchdog\n");
      watchdog.process.stdin?.end();
      await eventually(() => expect(watchdog.process.exitCode).toBe(0));
    },
  );

  test("confirms arming, and ends without a signal to a disarmed program", async () => {
    const watchdog = new Alone();
    const { pid, tree } = await stubborn();
    await watchdog.says("ready\n");
    watchdog.say(`arm 1 SIGTERM ${tree}`);
    await watchdog.says("ready\ndone 1\n");
    watchdog.say("disarm");
    watchdog.process.stdin?.end();
    await eventually(() => expect(watchdog.process.exitCode).toBe(0));
    expect([isRunning(pid), wordsIn(`${file}.log`)]).toEqual([true, []]);
    kill(pid, "SIGKILL");
  });

  test("kills at once when zksh is dead and SIGKILL was asked for", async () => {
    const watchdog = new Alone();
    const { pid, tree } = await stubborn();
    watchdog.say(`arm 1 SIGKILL ${tree}`);
    await watchdog.says("ready\ndone 1\n");
    watchdog.process.stdin?.end();
    await eventually(() => expect(isRunning(pid)).toBe(false), { timeoutMs: 3_000 });
    expect(wordsIn(`${file}.log`)).toEqual([]);
  });

  test.each([
    { clock: "monotonic", at: { monotonicAt: -1, bootAt: Number.POSITIVE_INFINITY } },
    { clock: "boot", at: { monotonicAt: Number.POSITIVE_INFINITY, bootAt: -1 } },
  ])("acts when the time is over by the $clock clock alone", async ({ at }) => {
    const watchdog = new Alone();
    const { pid, tree } = await stubborn();
    watchdog.say(permit(deadlineIn(60_000), deadlineIn(60_000)));
    watchdog.say(`arm 1 SIGTERM ${tree}`);
    await watchdog.says("ready\ndone 1\n");
    expect(isRunning(pid)).toBe(true);
    watchdog.say(permit(deadlineIn(60_000), at));
    await eventually(() => expect(isRunning(pid)).toBe(false));
    watchdog.process.stdin?.end();
  });

  test("stays with a zksh that lives when all that it guarded was killed", async () => {
    const watchdog = new Alone();
    const first = await stubborn();
    watchdog.say(permit(deadlineIn(-1), deadlineIn(-1)));
    watchdog.say(`arm 1 SIGTERM ${first.tree}`);
    await eventually(() => expect(isRunning(first.pid)).toBe(false));
    const second = await stubborn();
    watchdog.say(permit(deadlineIn(60_000), deadlineIn(60_000)));
    watchdog.say(`arm 2 SIGKILL ${second.tree}`);
    await watchdog.says("ready\ndone 1\ndone 2\n");
    watchdog.process.stdin?.end();
    await eventually(() => expect(isRunning(second.pid)).toBe(false));
    await eventually(() => expect(watchdog.process.exitCode).toBe(0));
  });

  test("never opens a debugger, whenever SIGUSR1 comes", async () => {
    const guards = Array.from(
      { length: 3 },
      () => new GuardingProcess({ group: "own", argv: ["sleep", "300"] }),
    );
    await eventually(
      () => {
        // As fast as they come up, from their first moment on.
        for (const pid of watchdogs()) kill(pid, "SIGUSR1");
        expect(guards.every(({ said }) => said[0]?.pid)).toBe(true);
      },
      { intervalMs: 1 },
    );
    for (const pid of watchdogs()) {
      kill(pid, "SIGUSR1");
      await eventually(() =>
        expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(/^SigPnd:\s+0+$/m),
      );
    }
    expect(await isOpen(9229)).toBe(false);
    for (const guard of guards) guard.kill("SIGTERM");
    for (const guard of guards) await guard.ended();
  });
});

function watchdogs(): number[] {
  return leftovers().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("watchdog.cjs");
    } catch {
      return false;
    }
  });
}

/** Where node opens its debugger. */
function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function guarding(script: string, options: Partial<Guarding> = {}) {
  const argv = ["sh", "-c", script.replaceAll("FILE", file)] as const;
  const guard = new GuardingProcess({ group: "own", argv, ...options });
  const pid = await guard.started();
  await pidsIn(file, 1);
  const watchdog = await eventually(() => watchdogs()[0] ?? false);
  return { guard, pid, watchdog };
}

const SURVIVED = [
  "USR1",
  "USR2",
  "ALRM",
  "TERM",
  "HUP",
  "INT",
  "QUIT",
  "PROF",
  "VTALRM",
  "IO",
  "XCPU",
  "ABRT",
  "TSTP",
];

describe("the watchdog of a program", () => {
  test("is still the same after every signal that can be caught", async () => {
    const { guard, pid, watchdog } = await guarding(STUBBORN, {
      permit: [60_000, 1_500],
      renewEveryMs: 20,
    });
    // A guard that is stopped cannot start another watchdog: only the first one is left to kill the
    // program.
    guard.kill("SIGSTOP");
    for (const name of SURVIVED) kill(watchdog, `SIG${name}` as NodeJS.Signals);
    await eventually(() => expect(isRunning(pid)).toBe(false), { timeoutMs: 5_000 });
    guard.kill("SIGCONT");
    expect(await guard.ended()).toEqual({ killedBy: "SIGKILL" });
  });

  test.each(["SIGKILL", "SIGSEGV"] as const)(
    "is replaced at once when %s has ended it",
    async (signal) => {
      const { guard, pid, watchdog } = await guarding(STUBBORN, {
        permit: [60_000, 3_000],
        renewEveryMs: 100,
      });
      for (let times = 0, last = watchdog; times < 3; times++) {
        kill(last, signal);
        last = await eventually(() => watchdogs().find((one) => one !== last) ?? false);
        await armed(last);
      }
      guard.kill("SIGSTOP");
      await eventually(() => expect(isRunning(pid)).toBe(false), { timeoutMs: 6_000 });
      guard.kill("SIGCONT");
      expect(await guard.ended()).toEqual({ killedBy: "SIGKILL" });
    },
  );
});

/** Permits follow only when it is armed. */
async function armed(watchdog: number): Promise<void> {
  const bytesRead = () =>
    Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${watchdog}/io`, "utf8"))?.[1]);
  // SIGALRM is caught by the watchdog's own code only, which has been loaded then.
  const caught = () =>
    /^SigCgt:\s+([0-9a-f]+)$/m.exec(readFileSync(`/proc/${watchdog}/status`, "utf8"))?.[1] ?? "0";
  await eventually(() => (BigInt(`0x${caught()}`) & (1n << 13n)) !== 0n);
  const before = bytesRead();
  await eventually(() => expect(bytesRead()).toBeGreaterThan(before + 500));
}
