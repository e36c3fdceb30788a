import { describe, expect, test } from "vitest";
import { HISTORY_MS, QueueHistory } from "../../../../src/recipes/locks/inspect/queue-history.ts";
import { queueMember, report } from "../../../support/lock-reports.ts";

const START = 1_000_000_000;

function contender(number: number, more: Parameters<typeof queueMember>[0] = {}) {
  return queueMember({
    node: `/deploy/lock-${String(number).padStart(10, "0")}`,
    token: BigInt(number),
    ...more,
  });
}

/** Each stay in short: who, since when it waits, holds, and is gone. */
const told = (history: QueueHistory) =>
  history
    .stays()
    .map(({ order, queuedAt, heldAt, leftAt }) => [Number(order), queuedAt, heldAt, leftAt]);

describe("the history of a queue", () => {
  test("says when each contender came, got the lock and left, by our own clock", () => {
    const history = new QueueHistory();
    const [one, two, three] = [1, 2, 3].map((number) =>
      contender(number, { queuedAt: START - number }),
    );
    if (!one || !two || !three) throw new Error("no contenders");
    history.record(
      report({ holders: [{ ...one, acquiredAt: START }], waiters: [two] }),
      START + 100,
    );
    // A server whose clock is an hour behind does not move what we have seen coming.
    history.record(
      report({ holders: [one], waiters: [two, { ...three, queuedAt: START - 3_600_000 }] }),
      START + 200,
    );
    history.record(report({ holders: [two], waiters: [three] }), START + 300);
    history.record(report({ holders: [two] }), START + 400);
    expect(told(history)).toEqual([
      [1, START - 1, START, START + 300],
      [2, START - 2, START + 300, undefined],
      [3, START + 100, undefined, START + 400],
    ]);
  });

  test("a contender for a permit stays the same one when its lease takes the place of its ticket", () => {
    const history = new QueueHistory();
    const waits = contender(5, {
      mode: "semaphore",
      node: "/pool/locks/_c_a-lock-0000000001",
      queuedAt: START,
    });
    const lease = { ...waits, node: "/pool/leases/_c_b-lease-0000000000", token: 6n };
    history.record(report({ waiters: [waits] }), START);
    history.record(report({ waiters: [lease] }), START + 1);
    history.record(report({ holders: [lease] }), START + 2);
    expect(told(history)).toEqual([[5, START, START + 2, undefined]]);
  });

  test("forgets contenders that left ten minutes ago, and all but the last 500", () => {
    const history = new QueueHistory();
    for (let number = 0; number < 2_000; number++)
      history.record(report({ holders: [contender(number)] }), START + number);
    expect(history.stays()).toHaveLength(501);
    history.record(report(), START + 2_000);
    history.record(report(), START + 2_000 + HISTORY_MS);
    expect(history.stays()).toEqual([]);
  });
});
