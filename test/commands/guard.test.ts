import { describe, expect, test } from "vitest";
import { Guard } from "../../src/commands/under-lock/guard.ts";
import type { GuardOptions } from "../../src/commands/under-lock/guard-settings.ts";
import type { ChildEnd, GuardedChild } from "../../src/processes/child-requests.ts";

/** A program that has ended as told, and a lock that is held as far as anybody knows. */
function guarding(end: ChildEnd, { wasOutOfTime }: { wasOutOfTime: boolean }): Guard {
  const child: GuardedChild = {
    pid: 4711,
    hasOwnGroup: true,
    ended: Promise.resolve(end),
    reach: "all",
    signal: () => [],
    gone: async () => {},
    permit() {},
    wasOutOfTime: () => wasOutOfTime,
    dispose: async () => {},
  };
  const session = { state: "connected", timeoutMs: 10_000, onState: () => () => {} };
  return new Guard({
    session: session as unknown as GuardOptions["session"],
    holding: {
      signal: new AbortController().signal,
      heldForMs: () => 5_000,
      onRevoke: () => () => {},
    },
    settings: {
      path: "/l",
      graceMs: 1_000,
      stopSignal: "SIGTERM",
      onSuspend: "ignore",
      onLost: "term",
      onRevoke: "term",
    },
    start: async () => child,
    tell() {},
  });
}

describe("a program that died of a signal", () => {
  test("for itself: the event says so", async () => {
    const end = { killedBy: "SIGKILL" };
    expect(await guarding(end, { wasOutOfTime: false }).run()).toEqual({ end });
  });

  test("because it was out of time while we were frozen: stopped, although the session has lived on", async () => {
    const end = { killedBy: "SIGKILL" };
    expect(await guarding(end, { wasOutOfTime: true }).run()).toEqual({ end, stopped: "lost" });
  });
});
