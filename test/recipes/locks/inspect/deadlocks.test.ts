import { describe, expect, test } from "vitest";
import { findDeadlocks } from "../../../../src/recipes/locks/inspect/deadlocks.ts";
import type {
  LockReport,
  QueueMember,
} from "../../../../src/recipes/locks/inspect/inspect-lock.ts";

function queueMember(session: number, path: string, more: Partial<QueueMember> = {}): QueueMember {
  const node = `${path}/${session}`;
  const facts = {
    client: "zksh",
    queuedAt: 0,
    isAskedToYield: false,
    isOurs: true,
    mode: "exclusive",
  } as const;
  return {
    ...facts,
    node,
    nodes: [node],
    session: BigInt(session),
    token: BigInt(session) * 100n,
    ...more,
  };
}

/** `"1 | 2 3"`: session 1 holds, 2 and 3 wait. */
function lock(path: string, queue: string, more: Partial<QueueMember> = {}): LockReport {
  const [holders = [], waiters = []] = queue.split("|").map((part) =>
    part
      .trim()
      .split(" ")
      .filter((word) => word !== "")
      .map((id) => queueMember(Number(id), path, more)),
  );
  return { path, exists: true, layouts: [], holders, waiters, incompatibleTickets: [] };
}

/** `1 -/b-> 2 -/a-> 1`, with `~` where the blocker only waits too. */
function cycles(...reports: readonly LockReport[]): string[] {
  return findDeadlocks(reports).map((steps) =>
    steps
      .map(({ waiter, path, isHolder }) => `${waiter.session} -${path}${isHolder ? "" : "~"}->`)
      .concat(String(steps.at(-1)?.blocker.session))
      .join(" "),
  );
}

describe("deadlocks", () => {
  test("are found between two sessions that wait for each other's lock", () => {
    expect(cycles(lock("/a", "1 | 2"), lock("/b", "2 | 1"))).toEqual(["2 -/a-> 1 -/b-> 2"]);
  });

  test("are found in a ring of three sessions", () => {
    const ring = [lock("/a", "1 | 3"), lock("/b", "2 | 1"), lock("/c", "3 | 2")];
    expect(cycles(...ring)).toEqual(["3 -/a-> 1 -/b-> 2 -/c-> 3"]);
  });

  test("are found through a waiter that waits for an earlier waiter", () => {
    expect(cycles(lock("/a", "9 | 2 1"), lock("/b", "1 | 2"))).toEqual(["2 -/b-> 1 -/a~-> 2"]);
  });

  test("a waiter that blocks no other waiter is in no deadlock", () => {
    expect(cycles(lock("/a", "1 | 2 3"), lock("/b", "2 | 4 1"))).toEqual(["2 -/a-> 1 -/b-> 2"]);
    expect(cycles(lock("/a", "1 | 2 3"), lock("/b", "2 | 3"))).toEqual([]);
  });

  test("a session with many tickets in one queue is no deadlock", () => {
    expect(cycles(lock("/a", "1 | 2 1 2 1"))).toEqual([]);
    expect(cycles(lock("/a", "1 | 2 1"), lock("/b", "1 | 2"))).toEqual([]);
  });

  test("a waiter for a permit is blocked only if all holders are", () => {
    const sem = (queue: string) => lock("/sem", queue, { mode: "semaphore" });
    expect(cycles(sem("1 3 | 2"), lock("/b", "2 | 1"))).toEqual([]);
    expect(cycles(sem("1 3 | 2"), lock("/b", "2 | 1 3"))).toHaveLength(1);
  });

  test("a program inside the lock of another one is the same actor", () => {
    const inside = (session: number, path: string, within: string) =>
      queueMember(session, path, { within: [within] });
    const a = { ...lock("/a", "1"), waiters: [inside(4, "/a", "200")] };
    const b = { ...lock("/b", "2"), waiters: [inside(3, "/b", "100")] };
    expect(findDeadlocks([a, b])).toHaveLength(1);
    expect(findDeadlocks([lock("/a", "1 | 4"), lock("/b", "2 | 3")])).toEqual([]);
  });

  test("thousands in the same queues are looked through quickly", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => String(i + 2)).join(" ");
    expect(cycles(lock("/a", `1 | ${many}`), lock("/b", `1 | ${many}`))).toEqual([]);
  });
});
