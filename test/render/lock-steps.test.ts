import { describe, expect, test } from "vitest";
import { textLockProgress } from "../../src/render/lock-progress.ts";
import { acquired, ann, bob, NOW, party, ticket, told, view, waiting } from "./lock-events.ts";

const FIRST = ["ticket", "queue", "watching"] as const;

function status(result: ReturnType<typeof told>, more = {}): string {
  const { status: shown } = textLockProgress(result, view({ columns: 200, ...more }));
  return typeof shown === "function" ? shown() : String(shown);
}

describe("the steps on a terminal", () => {
  test("of a wait behind two", () => {
    const { err } = textLockProgress(told(waiting({ waiters: [bob()] }), FIRST), view());
    expect(err).toBe(`\
  ticket    lock-0000000007 created (ephemeral, sequential)
  queue     2 ahead: ann@web3 holds it since 12s, bob@web1 waits
  watching  lock-0000000006, the one right before (bob@web1)
`);
  });

  test("the line that is repainted names the holder, the place and the deadline", () => {
    const result = told(waiting({ waiters: [bob()] }), FIRST, { givesUpAt: NOW + 44_000 });
    expect(status(result)).toBe(
      'waiting 16s for /deploy: held 12s by ann@web3 pid 4711 deploy.sh "release 42"; 2 ahead; gives up in 44s',
    );
    expect(status(told(waiting()))).toMatch(/; you are next$/);
    expect(status(told(waiting({ of: 3 })))).toMatch(/; you are next \(2 more behind you\)$/);
  });

  test("a holder that does not say since when it holds has no age", () => {
    const { acquiredAt: _, ...holder } = ann();
    expect(status(told(waiting({ holders: [holder] })))).toContain(": held by ann@web3");
    expect(textLockProgress(told(waiting({ holders: [holder] }), ["queue"]), view()).err).toBe(
      "  queue     1 ahead: ann@web3 holds it; you are next\n",
    );
  });

  test("long queues are counted, and two of one name told apart by their processes", () => {
    const waiters = [bob(), party("bob@web1", 6, { pid: 7 }), party("eve@db1", 7)];
    const result = told(waiting({ waiters, waiterCount: 9, inFront: 10, position: 10, of: 12 }), [
      "queue",
    ]);
    expect(textLockProgress(result, view()).err).toBe(`\
  queue     10 ahead: ann@web3 holds it since 12s, bob@web1 pid 881, bob@web1
            pid 7, eve@db1 and 6 others wait
`);
  });

  test("at 40 columns lines are wrapped below their text", () => {
    const { err = "" } = textLockProgress(
      told(waiting({ waiters: [bob()] }), FIRST),
      view({ columns: 40 }),
    );
    expect(err.split("\n").filter((line) => line.length > 40)).toEqual([]);
    expect(err).toContain(
      "  ticket    lock-0000000007 created\n            (ephemeral, sequential)\n",
    );
    const line = status(told(waiting({ waiters: [bob()] })), { columns: 40 });
    expect(line.split("\n").filter((part) => part.length > 40)).toEqual([]);
  });

  test("notes are broken between words, and a path is never broken", () => {
    const path = `/${"deep/".repeat(9)}lock`;
    const note = (columns: number, isTTY = true) =>
      textLockProgress(told({ event: "requeued", path }), view({ columns, isTTY })).err;
    expect(note(40)).toBe(
      `the session ended while waiting for\n${path};\nqueuing again, at the end\n`,
    );
    expect(note(40, false)).toBe(
      `the session ended while waiting for ${path}; queuing again, at the end\n`,
    );
  });

  test("a reader behind a lock that is not a writer's", () => {
    const event = waiting({ mode: "read" });
    expect(textLockProgress(told(event, ["watching"]), view()).err).toBe(
      "  watching  lock-0000000005, the nearest lock before (ann@web3)\n",
    );
  });

  test("who has left, and how long it held", () => {
    const gone = { path: "/deploy", ahead: ticket(5).slice(8), aheadBy: ann() };
    expect(
      textLockProgress(told({ event: "contender-gone", ...gone, heldMs: 45_000 }, ["gone"]), view())
        .err,
    ).toBe("  gone      lock-0000000005 (ann@web3, held 45s)\n");
    expect(
      textLockProgress(told({ event: "predecessor-gone", ...gone }, ["gone"]), view()).err,
    ).toBe("  gone      lock-0000000005 (ann@web3)\n");
  });

  test.each([
    [acquired(), "✔ acquired /deploy after 31s, token 115\n"],
    [
      acquired({ hasWaited: false }),
      "✔ acquired /deploy: lock-0000000007, nobody ahead, token 115\n",
    ],
    [acquired({ mode: "write" }), "✔ acquired /deploy to write after 31s, token 115\n"],
    [
      acquired({ mode: "read", hasWaited: false, node: ticket(7, "__READ__") }),
      "✔ acquired /deploy to read: __READ__0000000007, no writer ahead, token 115\n",
    ],
    [
      acquired({
        mode: "semaphore",
        hasWaited: false,
        node: ticket(3, "lease-"),
        permits: { taken: 2, limit: 3 },
      }),
      "✔ acquired a permit of /deploy: lease-0000000003, 2 of 3 taken, token 115\n",
    ],
    [acquired({ mode: "leader" }), "✔ leading /deploy after 31s, token 115\n"],
    [
      acquired({ hasWaited: false, node: "/deploy" }),
      "✔ acquired /deploy: it was free, token 115\n",
    ],
  ])("the last step %#", (event, line) => {
    expect(textLockProgress(told(event, ["acquired"]), view({ columns: 100 }))).toEqual({
      err: line,
      status: null,
    });
  });

  test("control characters in records are not obeyed", () => {
    const { err } = textLockProgress(
      told(waiting({ holders: [ann({ who: "\x1b[2J" })] }), FIRST),
      view(),
    );
    expect(err).toContain("\\x1b[2J holds it");
    expect(status(told(waiting({ holders: [ann({ why: "\x07" })] })))).toContain("\\x07");
  });
});

describe("of rwlock, sem and unique locks", () => {
  test("a writer behind two readers", () => {
    const holders = [ann({ mode: "read" }), bob({ mode: "read", acquiredAt: NOW - 3_000 })];
    const result = told(waiting({ mode: "write", holders }), ["queue"]);
    expect(textLockProgress(result, view()).err).toBe(`\
  queue     2 ahead: ann@web3 reads since 12s, bob@web1 reads since 3s; you are
            next
`);
    expect(status(result)).toBe(
      "waiting 16s to write /deploy: held by readers ann@web3 and bob@web1; you are next",
    );
  });

  test("a reader is told of the writer that waits before it", () => {
    const [holders, waiters] = [[ann({ mode: "read" })], [bob({ mode: "write" })]];
    const result = told(waiting({ mode: "read", holders, waiters, inFront: 1 }), [
      "queue",
      "watching",
    ]);
    expect(textLockProgress(result, view()).err).toBe(`\
  queue     1 ahead: bob@web1 waits to write (ann@web3 reads since 12s)
  watching  lock-0000000006, the nearest writer before (bob@web1)
`);
    expect(status(result)).toContain(
      'held 12s by reader ann@web3 pid 4711 deploy.sh "release 42"; 1 ahead',
    );
  });

  test("a waiter for a permit is told how many are taken", () => {
    const permits = { taken: 2, limit: 2 };
    const event = waiting({
      mode: "semaphore",
      holders: [ann(), bob()],
      permits,
      watches: "leases",
    });
    expect(textLockProgress(told(event, ["queue", "watching"]), view()).err).toBe(`\
  queue     2 of 2 permits taken: ann@web3 since 12s and bob@web1; you are next
  watching  the permits: the next one given back is ours
`);
    expect(status(told(event))).toBe(
      "waiting 16s for a permit of /deploy: 2 of 2 taken by ann@web3 and bob@web1; you are next",
    );
  });

  test("a waiter for a unique lock is told that the fastest gets it", () => {
    const { position: _, of: __, ...event } = waiting();
    expect(status(told(event))).toMatch(/; the fastest waiter gets it next$/);
    expect(textLockProgress(told(event, ["queue"]), view()).err).toBe(`\
  queue     ann@web3 holds it since 12s; a release wakes all waiters, and the
            fastest gets it
`);
    const gone = { event: "predecessor-gone", path: "/deploy", ahead: "deploy" } as const;
    expect(textLockProgress(told({ ...gone, aheadBy: ann() }, ["gone"]), view()).err).toBe(
      "  gone      /deploy (ann@web3)\n",
    );
  });

  test("one znode for all: no place in a queue is promised when the servers are gone", () => {
    const path = "/deploy";
    const unordered = { isUnordered: true, at: NOW - 6_000 };
    const unanswered = told({ event: "unanswered", path, leftMs: 30_000 }, [], unordered);
    expect(status(unanswered)).toBe(
      "no server has answered for 6s; the session lives for 24s more",
    );
    const texts = [
      unanswered,
      told({ event: "answered", path, waiting: waiting() }, [], unordered),
      told({ event: "requeued", path }, [], unordered),
    ].map((result) => textLockProgress(result, view()).err);
    expect(texts).toEqual([
      "no server answers; the session lives for 30s more\n",
      "connected again; still waiting for /deploy\n",
      "the session ended while waiting for /deploy; waiting again\n",
    ]);
  });
});

describe("in a pipe", () => {
  const pipe = { isTTY: false, columns: 80 };

  test("nothing without -v, the same steps with it, in lines that are not wrapped", () => {
    const result = told(waiting({ waiters: [bob()] }), FIRST);
    expect(textLockProgress(result, view(pipe)).err).toBeUndefined();
    expect(textLockProgress(result, view({ ...pipe, columns: 20, isVerbose: true })).err).toBe(
      textLockProgress(result, view()).err,
    );
    expect(
      textLockProgress(told(acquired(), ["acquired"]), view({ ...pipe, isVerbose: true })).err,
    ).toBe("acquired /deploy after 31s, token 115\n");
  });

  test("a queue that has moved is told again with -v, where a terminal repaints its line", () => {
    const result = told(waiting());
    expect(textLockProgress(result, view()).err).toBeUndefined();
    expect(textLockProgress(result, view({ ...pipe, isVerbose: true })).err).toMatch(/^ {2}queue /);
  });

  test("-q keeps to warnings on a terminal", () => {
    expect(textLockProgress(told(waiting(), FIRST), view({ isQuiet: true })).err).toBeUndefined();
    const strangers = told({ event: "strangers", path: "/l", sorts: ["a", "b"] });
    expect(textLockProgress(strangers, view({ isQuiet: true })).err).toMatch(/^warning: /);
  });
});

describe("while no server answers", () => {
  test("a waiter is told since when, and for how long its place is kept", () => {
    const result = told({ event: "unanswered", path: "/deploy", leftMs: 30_000 }, [], {
      at: NOW - 6_000,
    });
    expect(status(result)).toBe(
      "no server has answered for 6s; the place in the queue is kept for 24s more",
    );
    expect(textLockProgress(result, view()).err).toBe(
      "no server answers; the place in the queue of /deploy is kept for 30s more\n",
    );
    const back = told({ event: "answered", path: "/deploy", waiting: waiting() });
    expect(textLockProgress(back, view()).err).toBe(
      "connected again; the place in the queue of /deploy was kept\n",
    );
    expect(status(back)).toMatch(/^waiting 16s for \/deploy/);
  });
});
