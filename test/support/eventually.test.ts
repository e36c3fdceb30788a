import { afterEach, expect, test, vi } from "vitest";
import { eventually } from "./eventually.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("gives the value of the first check that neither throws nor is false", async () => {
  const answers = [false, new Error("not yet"), "done", "too late"];
  const value = await eventually(() => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  expect(value).toBe("done");
});

test("fails with its message and the last error", async () => {
  let attempts = 0;
  const failing = eventually(
    () => {
      throw new Error(`attempt ${++attempts}`);
    },
    { timeoutMs: 50, intervalMs: 5, message: "the lamp is off" },
  );
  await expect(failing).rejects.toThrow(/^the lamp is off \(50 ms\): attempt \d+$/);
  expect(attempts).toBeGreaterThan(1);
});

test("fails when the check stays false", async () => {
  await expect(eventually(() => false, { timeoutMs: 20 })).rejects.toThrow("the check gave false");
});

test("gives up on a check that hangs", async () => {
  await expect(eventually(() => new Promise(() => {}), { timeoutMs: 20 })).rejects.toThrow(
    "did not finish",
  );
  let attempts = 0;
  const check = () =>
    attempts++ === 0 ? Promise.reject(new Error("the reason")) : new Promise(() => {});
  await expect(eventually(check, { timeoutMs: 50, intervalMs: 1 })).rejects.toThrow("the reason");
});

test("goes by the real clock when timers are faked", async () => {
  vi.useFakeTimers();
  await expect(eventually(() => false, { timeoutMs: 20, intervalMs: 5 })).rejects.toThrow(
    "gave false",
  );
});
