import { describe, expect, test } from "vitest";
import { Guard } from "../../src/commands/under-lock/guard.ts";
import type { GuardOptions } from "../../src/commands/under-lock/guard-settings.ts";
import type { ChildEnd, GuardedChild, RunLimits } from "../../src/processes/child-requests.ts";
import type { LockProgress } from "../../src/results/locks.ts";

/** A program that has ended as told, and a lock that is held as far as anybody knows. */
function guarding(end: ChildEnd, { wasOutOfTime = false, heldForMs = 5_000 }) {
  const told: LockProgress[] = [];
  const permits: RunLimits[] = [];
  const child: GuardedChild = {
    pid: 4711,
    hasOwnGroup: true,
    ended: Promise.resolve(end),
    reach: "all",
    signal: () => [],
    gone: async () => {},
    permit: (limits) => permits.push(limits()),
    wasOutOfTime: () => wasOutOfTime,
    dispose: async () => {},
  };
  const session = { state: "connected", timeoutMs: 10_000, onState: () => () => {} };
  const guard = new Guard({
    session: session as unknown as GuardOptions["session"],
    holding: {
      signal: new AbortController().signal,
      heldForMs: () => heldForMs,
      onRevoke: () => () => {},
    },
    settings: {
      path: "/l",
      graceMs: 1_000,
      stopSignal: "SIGTERM",
      onSuspend: "ignore",
      onLost: "term",
      onRevoke: "term",
      stopAt: undefined,
    },
    tell: (progress) => told.push(progress),
  });
  return {
    run: () => guard.run(child),
    permits,
    signals: () => told.filter(({ event }) => event === "signal"),
  };
}

describe("the end of a program that died of SIGKILL", () => {
  test("is its own where its time was not over", async () => {
    const end = { killedBy: "SIGKILL" };
    const { run, signals } = guarding(end, { wasOutOfTime: false });
    expect(await run()).toEqual({ end });
    expect(signals()).toEqual([]);
  });

  test("is the work of the watchdog where its time was over, and is reported as a stop", async () => {
    const end = { killedBy: "SIGKILL" };
    const { run, signals } = guarding(end, { wasOutOfTime: true });
    expect(await run()).toEqual({ end, stopped: "lost" });
    expect(signals()).toMatchObject([{ signal: "SIGKILL", why: "lost", pid: 4711 }]);
  });
});

test("a program that is asked to end after a pause of zksh has no more time than is left of the lease", async () => {
  const { run, signals, permits } = guarding({ killedBy: "SIGTERM" }, { heldForMs: 400 });
  await run();
  expect(signals()).toMatchObject([{ signal: "SIGTERM", why: "lost" }]);
  expect(permits.map(({ killInMs }) => killInMs)).toEqual([400, 400]);
});
