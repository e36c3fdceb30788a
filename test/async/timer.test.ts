import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { startTimer } from "../../src/async/timer.ts";

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test.each([1, 50, 2 ** 31 - 1, 2 ** 31, 100 * DAY_MS])("calls back once, after %d ms", (ms) => {
  const callback = vi.fn();
  startTimer(ms, callback);
  vi.advanceTimersByTime(ms - 1);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
});

test("never calls back after Infinity", () => {
  const callback = vi.fn();
  onTestFinished(startTimer(Infinity, callback));
  vi.advanceTimersByTime(1_000 * DAY_MS);
  expect(callback).not.toHaveBeenCalled();
});

test.each([50, 100 * DAY_MS])("forgets %d ms, however many of them have passed", (ms) => {
  const callback = vi.fn();
  const forget = startTimer(ms, callback);
  vi.advanceTimersByTime(ms / 2);
  forget();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(ms);
  expect(callback).not.toHaveBeenCalled();
});
