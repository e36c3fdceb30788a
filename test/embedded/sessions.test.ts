import { describe, expect, test } from "vitest";
import { ZOOKEEPER } from "../../src/embedded/dialect.ts";
import { ServerState } from "../../src/embedded/server-state.ts";

class Clock {
  ms = 10_050;
  readonly now = () => this.ms;
}

function keeperAt(clock: Clock): ServerState {
  const timeouts = { tickTimeMs: 100, minSessionTimeoutMs: 200, maxSessionTimeoutMs: 2_000 };
  return new ServerState({
    ...timeouts,
    enforceQuotas: false,
    doesSasl: false,
    dialect: ZOOKEEPER,
    now: clock.now,
  });
}

describe("sessions", () => {
  test("end on the tick after their timeout, unless they are heard of", () => {
    const clock = new Clock();
    const keeper = keeperAt(clock);
    const [quiet, lively] = [keeper.openSession(200), keeper.openSession(200)];
    let hungUp = 0;
    quiet.connection = { destroy: () => hungUp++ };
    clock.ms = 10_299;
    keeper.expireSessions();
    expect(keeper.sessions.touch(lively)).toBe(true);
    expect(hungUp).toBe(0);
    clock.ms = 10_300;
    keeper.expireSessions();
    expect([keeper.sessions.find(quiet.id), keeper.sessions.find(lively.id), hungUp]).toEqual([
      undefined,
      lively,
      1,
    ]);
    expect(keeper.sessions.touch(quiet)).toBe(false);
    clock.ms = 11_000;
    keeper.expireSessions();
    expect(keeper.sessions.size).toBe(0);
    expect(keeper.sessions.expiry.buckets).toEqual([]);
  });

  test.each([
    [0, 200],
    [-5, 200],
    [700, 700],
    [99_999, 2_000],
  ])("with a requested timeout of %i ms get %i ms", (asked, granted) => {
    expect(keeperAt(new Clock()).negotiate(asked)).toBe(granted);
  });

  test("take their ephemerals along, under the zxid of their end", () => {
    const keeper = keeperAt(new Clock());
    const session = keeper.openSession(200);
    const lifetime = { kind: "ephemeral", owner: session.id } as const;
    const change = {
      type: "create",
      path: "/e",
      data: null,
      acl: [],
      lifetime,
      parentCreates: 1,
    } as const;
    keeper.apply(change, keeper.begin());
    keeper.endSession(session);
    expect(keeper.tree.find("/e")).toBeUndefined();
    expect(keeper.tree.get("/").pzxid).toBe(3n);
    expect(keeper.lastZxid).toBe(3n);
  });

  test("have ids as ZooKeeper makes them, and passwords of their own", () => {
    const keeper = keeperAt(new Clock());
    const [a, b] = [keeper.openSession(200), keeper.openSession(200)];
    expect(b.id).toBe(a.id + 1n);
    expect(a.id >> 56n).toBe(1n);
    expect(a.password).toHaveLength(16);
    expect(a.password.equals(b.password)).toBe(false);
  });
});
