import { expect, test } from "vitest";
import {
  type ClockSources,
  SystemClock,
  systemSources,
} from "../../../../src/session/zookeeper/lifetime/clock.ts";

const hands = { mono: 1_000, wall: 1_700_000_000_000, boot: 90_000 as number | undefined };

function handClock(): { clock: SystemClock; hands: typeof hands } {
  const own = { ...hands };
  const sources: ClockSources = {
    monotonicMs: () => own.mono,
    wallMs: () => own.wall,
    bootMs: () => own.boot,
  };
  return { clock: new SystemClock(sources), hands: own };
}

test("a wall clock that is set forward or back changes nothing", () => {
  const { clock, hands } = handClock();
  const before = clock.now();
  hands.wall += 3_600_000;
  expect(clock.now()).toBe(before);
  hands.wall -= 7_200_000;
  expect(clock.now()).toBe(before);
});

test("the time that the machine was suspended counts", () => {
  const { clock, hands } = handClock();
  const before = clock.now();
  hands.wall += 20_000;
  hands.boot = 110_000;
  expect(clock.now()).toBe(before + 20_000);
  hands.mono += 5;
  hands.wall += 5;
  hands.boot = 110_000;
  expect(clock.now()).toBe(before + 20_005);
});

test("two suspensions add up, and the clock never goes back", () => {
  const { clock, hands } = handClock();
  const before = clock.now();
  for (const total of [10_000, 25_000]) {
    hands.wall = 1_700_000_000_000 + total;
    hands.boot = 90_000 + total;
    expect(clock.now()).toBe(before + total);
  }
  hands.wall -= 3_600_000;
  expect(clock.now()).toBe(before + 25_000);
});

test("where there is no boot-time clock, the monotonic one decides alone", () => {
  const { clock, hands } = handClock();
  hands.boot = undefined;
  const before = clock.now();
  hands.wall += 60_000;
  expect(clock.now()).toBe(before);
});

test("the system's clocks run: the boot-time clock is not behind the monotonic one on Linux", () => {
  const { monotonicMs, bootMs } = systemSources;
  const clock = new SystemClock();
  expect(Math.abs(clock.now() - monotonicMs())).toBeLessThan(1_000);
  const boot = bootMs();
  if (process.platform === "linux") expect(boot).toBeGreaterThan(0);
  else expect(boot).toBeUndefined();
});
