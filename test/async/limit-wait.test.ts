import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { abortable } from "../../src/async/abortable.ts";
import { limitWait } from "../../src/async/limit-wait.ts";
import { within } from "../../src/async/within.ts";

const late = new Error("late");

describe("limitWait", () => {
  test("aborts with its own error when the time is up", async () => {
    const { signal } = limitWait(undefined, 1, () => late);
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    expect(signal?.reason).toBe(late);
  });

  test("follows the caller's signal, also one that has aborted before", () => {
    const caller = new AbortController();
    const wait = limitWait(caller.signal, 60_000, () => late);
    caller.abort(new Error("enough"));
    expect(wait.signal.reason).toMatchObject({ message: "enough" });
    wait.end();
    expect(limitWait(caller.signal, undefined, () => late).signal.aborted).toBe(true);
  });

  test("hears of neither after its end", async () => {
    const caller = new AbortController();
    const wait = limitWait(caller.signal, 1, () => late);
    wait.end();
    caller.abort();
    await pause(5);
    expect(wait.signal.aborted).toBe(false);
  });

  test("aborts its signal when it is stopped", () => {
    const wait = limitWait(new AbortController().signal, 60_000, () => late);
    wait.stop();
    expect(wait.signal.aborted).toBe(true);
  });
});

describe("within", () => {
  test("gives what the work gives, or undefined when the time is up", async () => {
    expect(await within(60_000, Promise.resolve(7))).toBe(7);
    expect(await within(1, new Promise(() => {}))).toBeUndefined();
  });

  test("fails as the work fails", async () => {
    await expect(within(60_000, Promise.reject(late))).rejects.toBe(late);
  });
});

describe("abortable", () => {
  test("gives what is awaited, and rejects when the signal aborts first", async () => {
    const caller = new AbortController();
    expect(await abortable(Promise.resolve(7), caller.signal)).toBe(7);
    const waiting = abortable(new Promise(() => {}), caller.signal);
    caller.abort(late);
    await expect(waiting).rejects.toBe(late);
    await expect(abortable(new Promise(() => {}), caller.signal)).rejects.toBe(late);
  });
});
