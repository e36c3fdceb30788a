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

describe("the event of a program that a signal ended", () => {
  test("says that it was the program's own end", async () => {
    const end = { killedBy: "SIGKILL" };
    expect(await guarding(end, { wasOutOfTime: false }).run()).toEqual({ end });
  });

  test("says that the watchdog stopped it while zksh was frozen, also if the session lived on", async () => {
    const end = { killedBy: "SIGKILL" };
    expect(await guarding(end, { wasOutOfTime: true }).run()).toEqual({ end, stopped: "lost" });
  });
});
