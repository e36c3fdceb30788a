import { describe, expect, test } from "vitest";
import { LockSteps } from "../../../src/commands/under-lock/lock-steps.ts";
import { acquired, bob, ticket, waiting } from "../../render/lock-events.ts";

const queued = { event: "queued", path: "/deploy", node: ticket(7), mode: "exclusive" } as const;
const released = { event: "released", path: "/deploy", how: "delete", node: ticket(7) } as const;

describe("the steps of a recipe", () => {
  test("are told once each, and again when another ticket is watched", () => {
    const steps = new LockSteps("queue", { isExplained: false });
    const told = (progress: Parameters<LockSteps["next"]>[0]) => steps.next(progress).steps;
    expect(told(queued)).toEqual([]);
    expect(told(waiting({ waiters: [bob()] }))).toEqual(["ticket", "queue", "watching"]);
    expect(told(waiting({ waiters: [bob()], of: 9 }))).toEqual([]);
    expect(told(waiting())).toEqual(["watching"]);
    expect(told(acquired())).toEqual(["acquired"]);
    expect(told(released)).toEqual(["released"]);
  });

  test("are numbered without gaps", () => {
    const steps = new LockSteps("queue", { isExplained: true });
    steps.next(queued);
    expect(steps.next(acquired({ hasWaited: false }))).toEqual({
      steps: ["ticket", "queue", "acquired"],
      firstNumber: 1,
    });
    expect(steps.next(released)).toMatchObject({ firstNumber: 4 });
  });

  test("begin again behind another session", () => {
    const steps = new LockSteps("queue", { isExplained: false });
    steps.next(queued);
    steps.next(waiting());
    steps.next({ event: "requeued", path: "/deploy" });
    steps.next({ ...queued, node: ticket(9) });
    expect(steps.next(waiting()).steps).toEqual(["ticket", "queue", "watching"]);
    expect(steps.ticket("/deploy")).toBe(ticket(9));
  });

  test("of a semaphore: the ticket is explained before the lease that the head keeps", () => {
    const node = ticket(1, "lease-");
    const steps = new LockSteps("permits", { isExplained: true });
    const none = {
      event: "no-permit",
      path: "/deploy",
      node,
      permits: { taken: 2, limit: 2 },
    } as const;
    expect(steps.next(none).steps).toEqual(["lease", "leases", "lease-back"]);
    steps.next(queued);
    expect(steps.next({ event: "leased", path: "/deploy", node }).steps).toEqual([
      "ticket",
      "queue",
      "lease-kept",
    ]);
    expect(steps.next(waiting({ watches: "leases" })).steps).toEqual(["watching"]);
  });

  test("of one znode for all: that it exists is told once after another was faster", () => {
    const steps = new LockSteps("unique", { isExplained: true });
    const { position: _, of: __, ...waits } = waiting();
    expect(steps.next(waits).steps).toEqual(["unique", "queue", "watching"]);
    expect(steps.next({ event: "outrun", path: "/deploy" }).steps).toEqual(["outrun"]);
    expect(steps.next(waits).steps).toEqual(["queue", "watching"]);
  });
});
