import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import type { GuardedChild, GuardRequest } from "../../src/processes/child-requests.ts";
import { prepareGuard } from "../../src/processes/guarded-child.ts";
import { findProcess } from "../../src/processes/process-table.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { rejection } from "../support/open-session.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { environment, isRunning, kill, killLeftovers, leftovers, pidsIn } from "./guarding.ts";
import { startGuarded } from "./start-guarded.ts";

const directory = temporaryDirectory("guarded-child");
const GROUPS = ["own", "share"] as const;
let file = "";
let count = 0;
let listeners: unknown[] = [];

function allListeners(): unknown[] {
  return process.eventNames().map((name) => [name, process.listenerCount(name)]);
}

beforeEach(() => {
  file = join(directory, String(++count));
  listeners = allListeners();
});

afterEach(async () => {
  try {
    await eventually(() => expect(leftovers()).toEqual([]), {
      message: "something was left",
      timeoutMs: 5_000,
    });
    expect(allListeners()).toEqual(listeners);
  } finally {
    killLeftovers();
  }
});

afterAll(() => removeDirectory(directory));

function start(script: string, request: Partial<GuardRequest> = {}): Promise<GuardedChild> {
  const argv = ["sh", "-c", script] as const;
  return startGuarded({ argv, env: {}, group: "own", onSignal: () => {}, ...request }, environment);
}

describe("a guarded program", () => {
  test.each(GROUPS)(
    "gets its words and the environment as they are, and tells its code (%s)",
    async (group) => {
      const argv = [
        "sh",
        "-c",
        `printf '%s|' "$0" "$@" "$ADDED" "$ZKSH_TEST_MARK" > ${file}; exit 3`,
        "a b",
        "$c",
      ] as const;
      const guarded = await start("", { argv, group, env: { ADDED: "added" } });
      expect(guarded.hasOwnGroup).toBe(group === "own");
      expect(await guarded.ended).toEqual({ code: 3 });
      await guarded.gone();
      await guarded.dispose();
      expect(readFileSync(file, "utf8")).toBe(`a b|$c|added|${environment.ZKSH_TEST_MARK}|`);
    },
  );

  test("tells the signal that ended it", async () => {
    const guarded = await start("kill -9 $$");
    expect(await guarded.ended).toEqual({ killedBy: "SIGKILL" });
    await guarded.gone();
    await guarded.dispose();
  });

  test.each([
    {
      what: "that the watchdog stopped",
      script: "exec sleep 300",
      stopInMs: 100,
      killInMs: 60_000,
    },
    {
      what: "that the watchdog killed",
      script: "trap '' TERM; while :; do sleep 1; done",
      stopInMs: 0,
      killInMs: 400,
    },
  ])("$what was out of time", async ({ script, ...limits }) => {
    const guarded = await start(script);
    guarded.permit(() => limits);
    expect(await guarded.ended).toHaveProperty("killedBy");
    expect(guarded.wasOutOfTime()).toBe(true);
    await guarded.gone();
    await guarded.dispose();
  });

  test.each(["kill -9 $$", "exit 3"])(
    "that ends by itself was not out of time: %s",
    async (script) => {
      const guarded = await start(script);
      guarded.permit(() => ({ stopInMs: 60_000, killInMs: 60_000 }));
      await guarded.ended;
      expect(guarded.wasOutOfTime()).toBe(false);
      await guarded.gone();
      await guarded.dispose();
    },
  );

  test.each([
    { name: "no-such-program", why: "no such program", reason: "command-not-found" },
    { name: "/etc/passwd", why: "not executable", reason: "command-not-executable" },
  ])("is refused when it cannot be run: $name", async ({ name, why, reason }) => {
    const error = await rejection(start("", { argv: [name] }));
    expect(error).toMatchObject({ message: `cannot start ${name}: ${why}`, reason });
  });

  test("is refused when the system cannot start it", async () => {
    const argv = ["sh", "-c", ":", "x".repeat(200_000)] as const;
    expect(await rejection(start("", { argv }))).toMatchObject({
      message: expect.stringContaining("too long"),
      reason: "command-not-executable",
    });
  });

  test("is not started when we were told to end before", async () => {
    const heard: string[] = [];
    const preparation = await prepareGuard(environment, { savesTerminal: true });
    const starting = preparation.start({
      argv: ["sh", "-c", `echo started > ${file}`],
      env: {},
      group: "own",
      onSignal: (signal) => heard.push(signal),
    });
    process.kill(process.pid, "SIGQUIT");
    expect(await rejection(starting)).toMatchObject({ reason: "interrupted" });
    preparation.dispose();
    expect(heard).toEqual(["SIGQUIT"]);
    expect(() => readFileSync(file)).toThrow("ENOENT");
  });
});

test("processes that still run after dispose are left alone", async () => {
  const guarded = await start("exec sleep 300");
  await eventually(() => expect(leftovers()).toHaveLength(2));
  await guarded.dispose();
  await eventually(() => expect(leftovers()).toEqual([guarded.pid]));
  expect(isRunning(guarded.pid)).toBe(true);
  guarded.signal("SIGKILL");
  await guarded.gone();
});

/** What a program may leave behind; each writes the numbers of all its processes. */
const FAMILIES = [
  { what: "its children", script: "sleep 300 & echo $$ $! > FILE; wait" },
  { what: "its grandchildren", script: "(sleep 300 & echo $$ $! > FILE; wait) & wait" },
  {
    what: "children in groups of their own",
    script: "timeout 300 sleep 300 & echo $$ $! > FILE; wait",
  },
  {
    what: "children without its environment",
    script: "env -i sleep 300 & echo $$ $! > FILE; wait",
  },
];

/** The same, after the program itself has ended. */
const ORPHANS = [
  { what: "children", script: "sleep 300 & echo $! > FILE" },
  { what: "children in groups of their own", script: "timeout 300 sleep 300 & echo $! > FILE" },
  {
    what: "children without its environment, of children with it",
    script: "sh -c 'env -i sleep 300 & echo $! > FILE; wait' &",
  },
];

describe.each(GROUPS)("all of it (%s)", (group) => {
  test.each(FAMILIES)("are the program and $what", async ({ script }) => {
    const guarded = await start(script.replace("FILE", file), { group });
    const pids = await pidsIn(file, 2);
    expect(pids.map(isRunning)).toEqual([true, true]);
    guarded.signal("SIGTERM");
    expect(await guarded.ended).toEqual({ killedBy: "SIGTERM" });
    await guarded.gone();
    expect(pids.map(isRunning)).toEqual([false, false]);
    await guarded.dispose();
  });

  test.each(ORPHANS)("are $what that are left when the program has ended", async ({ script }) => {
    const guarded = await start(script.replace("FILE", file), { group });
    const pids = await pidsIn(file, 1);
    expect(await guarded.ended).toEqual({ code: 0 });
    let isGone = false;
    const gone = guarded.gone().then(() => {
      isGone = true;
    });
    // It is looked for several times meanwhile.
    await sleep(150);
    expect([isGone, ...pids.map(isRunning)]).toEqual([false, true]);
    guarded.signal("SIGKILL");
    await gone;
    expect(pids.map(isRunning)).toEqual([false]);
    await guarded.dispose();
  });

  test("does not include a process that started its own session", async () => {
    const guarded = await start(`setsid sleep 300 & echo $! > ${file}`, { group });
    const [daemon = Number.NaN] = await pidsIn(file, 1);
    await guarded.ended;
    await guarded.gone();
    guarded.signal("SIGKILL");
    await guarded.dispose();
    expect(isRunning(daemon)).toBe(true);
    kill(daemon, "SIGKILL");
  });

  test("is gone when only a zombie is left that no process waits for", async () => {
    // The first sleep's parent leaves the session and never waits for it.
    const script = `sh -c 'sleep 300 & echo $$ $! > ${file}; exec setsid sleep 300' & while ! [ -s ${file} ]; do sleep 0.02; done`;
    const guarded = await start(script, { group });
    const [parent = Number.NaN, zombie = Number.NaN] = await pidsIn(file, 2);
    await eventually(() => findProcess(parent)?.session === parent);
    kill(zombie, "SIGKILL");
    await eventually(() => findProcess(zombie)?.state === "zombie");
    await guarded.gone();
    expect(findProcess(zombie)?.state).toBe("zombie");
    await guarded.dispose();
    kill(parent, "SIGKILL");
  });

  test("does not include processes of our own group", async () => {
    const mate = await start("sleep 300", { group: "share" });
    const guarded = await start("sleep 300", { group });
    guarded.signal("SIGKILL");
    await guarded.gone();
    await guarded.dispose();
    expect(isRunning(mate.pid)).toBe(true);
    mate.signal("SIGKILL");
    await mate.gone();
    await mate.dispose();
  });
});
