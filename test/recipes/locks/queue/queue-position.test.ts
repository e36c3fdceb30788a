import { describe, expect, test } from "vitest";
import { parseContenders } from "../../../../src/recipes/locks/queue/contender.ts";
import { queuePosition } from "../../../../src/recipes/locks/queue/queue-position.ts";
import { toTicket } from "../../../../src/recipes/locks/queue/ticket.ts";

const uuid = (n: number) => `00000000-0000-0000-0000-${String(n).padStart(12, "0")}`;
const named = (label: string, n: number, client = n) =>
  `_c_${uuid(client)}-${label}${String(n).padStart(10, "0")}`;
const numbers = (contenders: readonly { sequence: number }[]) =>
  contenders.map(({ sequence }) => sequence);

/** The place of the last of `labels`, each of which has the number of its position. */
function placeOfLast(labels: readonly string[], extra: readonly string[] = []) {
  const names = labels.map((label, n) => named(label, n));
  const last = labels.length - 1;
  const place = queuePosition(
    parseContenders([...names, ...extra]),
    toTicket([`/l/${names[last]}`], uuid(last), 1n),
  );
  return { ...place, holders: numbers(place.holders), waiters: numbers(place.waiters) };
}

describe("the place in a queue", () => {
  test("of a lock: one holds, and all who came before are in front", () => {
    expect(placeOfLast(["lock-", "lock-", "lock-"], [named("lock-", 7)])).toEqual({
      holders: [0],
      waiters: [1],
      inFront: 2,
      of: 3,
    });
  });

  test("a writer behind two readers is next, and both readers hold", () => {
    expect(placeOfLast(["__READ__", "__READ__", "__WRIT__"])).toEqual({
      holders: [0, 1],
      waiters: [],
      inFront: 2,
      of: 1,
    });
  });

  test("a reader behind a waiting writer waits for the writer, which does not hold", () => {
    expect(placeOfLast(["__READ__", "__WRIT__", "__READ__"])).toEqual({
      holders: [0],
      waiters: [1],
      inFront: 1,
      of: 2,
    });
  });

  test("a reader behind another waiting reader waits for the writer alone", () => {
    expect(placeOfLast(["__WRIT__", "__READ__", "__READ__"])).toEqual({
      holders: [0],
      waiters: [],
      inFront: 1,
      of: 2,
    });
  });

  test("the two tickets of one client count once", () => {
    const names = [named("lock-", 0, 9), named("__lock__", 1, 9), named("lock-", 2)];
    const place = queuePosition(parseContenders(names), toTicket([`/l/${names[2]}`], uuid(2), 1n));
    expect(place).toMatchObject({ inFront: 1, of: 1, waiters: [] });
    expect(numbers(place.holders)).toEqual([0]);
  });

  test("candidates and locks on one path do not wait for each other", () => {
    expect(placeOfLast(["lock-", "latch-", "latch-"])).toEqual({
      holders: [1],
      waiters: [],
      inFront: 1,
      of: 1,
    });
  });
});
