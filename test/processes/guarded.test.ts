import { expect, test } from "vitest";
import { deadlinesOf } from "../../src/processes/guarded.ts";
import { monotonicMs, msUntil } from "../../src/processes/monotonic-clock.ts";

const FROZEN_MS = 50;

function freeze(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FROZEN_MS);
}

test("the limits of a program are not extended when zksh is frozen while it computes them", () => {
  const before = monotonicMs();
  const { stopAt, killAt } = deadlinesOf(() => {
    const limits = { stopInMs: 1_000, killInMs: 2_000 };
    freeze();
    return limits;
  });
  const tookMs = monotonicMs() - before;
  expect(tookMs).toBeGreaterThan(FROZEN_MS - 1);
  expect(stopAt.monotonicAt - before).toBeLessThan(1_000 + tookMs - FROZEN_MS + 1);
  expect(msUntil(killAt)).toBeLessThanOrEqual(2_000 - FROZEN_MS + 1);
});

test("a program without limits has none however late it is", () => {
  const { stopAt, killAt } = deadlinesOf(() => ({
    stopInMs: Number.POSITIVE_INFINITY,
    killInMs: Number.POSITIVE_INFINITY,
  }));
  expect([msUntil(stopAt), msUntil(killAt)]).toEqual([Infinity, Infinity]);
});
