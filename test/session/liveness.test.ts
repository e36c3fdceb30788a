import { beforeEach, describe, expect, test } from "vitest";
import {
  type Clock,
  type Instant,
  Liveness,
  safetyMarginMs,
  systemClock,
} from "../../src/session/zookeeper/liveness.ts";

/** Both hands are set by the test; they start far apart, as real ones do. */
class HandClock implements Clock {
  mono = 5_000;
  wall = 1_700_000_000_000;

  now(): Instant {
    return { mono: this.mono, wall: this.wall };
  }

  pass(ms: number): void {
    this.mono += ms;
    this.wall += ms;
  }
}

const TIMEOUT_MS = 10_000;
const LIFE_MS = 9_000;

describe("safetyMarginMs", () => {
  test.each([
    // A quarter of a short timeout: half a tick can be that much.
    { timeoutMs: 1_000, marginMs: 250 },
    { timeoutMs: 3_999, marginMs: 999.75 },
    // Half a tick of two seconds.
    { timeoutMs: 4_000, marginMs: 1_000 },
    { timeoutMs: 20_000, marginMs: 1_000 },
    // Clocks that run at different speeds.
    { timeoutMs: 30_000, marginMs: 1_500 },
    { timeoutMs: 60_000, marginMs: 3_000 },
  ])("is $marginMs ms for a timeout of $timeoutMs ms", ({ timeoutMs, marginMs }) => {
    expect(safetyMarginMs(timeoutMs)).toBeCloseTo(marginMs, 6);
  });
});

describe("Liveness", () => {
  let clock: HandClock;
  let liveness: Liveness;

  beforeEach(() => {
    clock = new HandClock();
    liveness = new Liveness(clock);
  });

  test("is not alive before a server has accepted the session", () => {
    expect(liveness.isAlive()).toBe(false);
    expect(liveness.aliveForMs()).toBe(0);
    expect(liveness.monotonicLeftMs()).toBe(0);
  });

  test("lives for the timeout less the margin, and not a millisecond longer", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    expect(liveness.aliveForMs()).toBe(LIFE_MS);
    clock.pass(LIFE_MS - 1);
    expect(liveness.isAlive()).toBe(true);
    expect(liveness.aliveForMs()).toBe(1);
    clock.pass(1);
    expect(liveness.isAlive()).toBe(false);
    expect(liveness.monotonicLeftMs()).toBe(0);
    clock.pass(100_000);
    expect(liveness.aliveForMs()).toBe(0);
  });

  test("counts from when the answered request was sent, not from when its answer came", () => {
    const handshakeSentAt = clock.now();
    clock.pass(2_000);
    liveness.start(TIMEOUT_MS, handshakeSentAt);
    expect(liveness.aliveForMs()).toBe(LIFE_MS - 2_000);

    const pingSentAt = clock.now();
    clock.pass(3_000);
    liveness.acknowledged(pingSentAt);
    expect(liveness.aliveForMs()).toBe(LIFE_MS - 3_000);
  });

  test("does not go back when an older request is answered after a newer one", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    const older = clock.now();
    clock.pass(1_000);
    liveness.acknowledged(clock.now());
    liveness.acknowledged(older);
    expect(liveness.aliveForMs()).toBe(LIFE_MS);
  });

  test("takes the timeout of the newest handshake", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    clock.pass(100);
    liveness.start(4_000, clock.now());
    expect(liveness.aliveForMs()).toBe(3_000);
  });

  test("is not alive once the wall clock has jumped ahead: the machine may have slept with the other clock stopped", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    clock.wall += 3_600_000;
    expect(liveness.isAlive()).toBe(false);
    expect(liveness.aliveForMs()).toBe(0);
    expect(liveness.monotonicLeftMs()).toBe(LIFE_MS);
  });

  test("is alive again when a request sent after the jump has been answered", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    clock.wall += 3_600_000;
    clock.mono += 1;
    liveness.acknowledged(clock.now());
    expect(liveness.aliveForMs()).toBe(LIFE_MS);
  });

  test("does not live longer because the wall clock was set back", () => {
    liveness.start(TIMEOUT_MS, clock.now());
    clock.wall -= 3_600_000;
    clock.mono += 4_000;
    expect(liveness.aliveForMs()).toBe(LIFE_MS - 4_000);
    clock.mono += LIFE_MS - 4_000;
    expect(liveness.isAlive()).toBe(false);
  });

  test("goes by the system's clocks unless told otherwise", () => {
    const { mono, wall } = systemClock.now();
    expect(Math.abs(performance.now() - mono)).toBeLessThan(1_000);
    expect(Math.abs(Date.now() - wall)).toBeLessThan(1_000);
    const real = new Liveness();
    real.start(60_000, real.now());
    expect(real.aliveForMs()).toBeGreaterThan(50_000);
    expect(real.aliveForMs()).toBeLessThanOrEqual(57_000);
  });
});
