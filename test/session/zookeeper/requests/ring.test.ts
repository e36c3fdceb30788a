import { describe, expect, test } from "vitest";
import { Ring } from "../../../../src/session/zookeeper/requests/ring.ts";
import { cpuMs } from "../../../support/cpu-time.ts";

function ringOf(...items: number[]): Ring<number> {
  const ring = new Ring<number>();
  for (const item of items) ring.push(item);
  return ring;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("Ring", () => {
  test("gives back what was pushed, first in, first out", () => {
    const ring = ringOf(1, 2);
    expect([
      ring.length,
      ring.peek(),
      ring.shift(),
      ring.peek(),
      ring.shift(),
      ring.length,
    ]).toEqual([2, 1, 1, 2, 2, 0]);
  });

  test("is empty at the start and at the end", () => {
    const ring = new Ring<number>();
    expect([ring.length, ring.peek(), ring.shift(), ring.length]).toEqual([
      0,
      undefined,
      undefined,
      0,
    ]);
    expect(ring.drain()).toEqual([]);
  });

  test("puts a list before everything else, in the list's order", () => {
    const ring = ringOf(4, 5);
    ring.unshift([1, 2, 3]);
    expect(ring.length).toBe(5);
    ring.unshift([]);
    expect(ring.drain()).toEqual([1, 2, 3, 4, 5]);
    expect(ring.length).toBe(0);
  });

  test("grows in either direction without losing its order", () => {
    const ring = new Ring<number>();
    ring.unshift(upTo(100));
    for (let item = 100; item < 200; item++) ring.push(item);
    expect(ring.drain()).toEqual(upTo(200));
  });

  test("counts what matches, and nothing that has left", () => {
    const ring = ringOf(...upTo(20));
    for (let i = 0; i < 10; i++) ring.shift();
    ring.unshift([2, 4]);
    expect(ring.count((item) => item % 2 === 0)).toBe(7);
    expect(new Ring<number>().count(() => true)).toBe(0);
  });

  test("agrees with an array through a long mixture of pushes, shifts and unshifts", () => {
    const ring = new Ring<number>();
    const array: number[] = [];
    // Any fixed sequence that wanders through all offsets of the buffer will do.
    for (let step = 1, state = 7; step <= 5_000; step++) {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      const choice = Math.floor(state / 65_536) % 7;
      if (choice < 3) {
        ring.push(step);
        array.push(step);
      } else if (choice < 6) expect(ring.shift()).toBe(array.shift());
      else {
        const items = [step, -step, step / 2];
        ring.unshift(items);
        array.unshift(...items);
      }
      expect([ring.length, ring.peek()]).toEqual([array.length, array[0]]);
    }
    expect(ring.drain()).toEqual(array);
  });

  test("takes a hundred thousand entries off in linear time", () => {
    const ring = ringOf(...upTo(100_000));
    const startedAt = cpuMs();
    for (let i = 0; i < 100_000; i++) ring.shift();
    expect(ring.length).toBe(0);
    expect(cpuMs() - startedAt).toBeLessThan(500);
  });
});
