import { describe, expect, test } from "vitest";
import { explained } from "../../src/render/lock-explain.ts";
import { jsonLockProgress } from "../../src/render/lock-json.ts";
import { textLockProgress } from "../../src/render/lock-progress.ts";
import { textUnlocked } from "../../src/render/lock-results.ts";
import type { LockProgress, LockStep } from "../../src/results/locks.ts";
import { acquired, ann, bob, NOW, ticket, told, view, waiting } from "./lock-events.ts";

const explain = { firstNumber: 1, timeoutMs: 30_000 };

function steps(progress: LockProgress, names: readonly LockStep[], more = {}) {
  return explained(told(progress, names, { explain, ...more }), NOW);
}

describe("--explain", () => {
  test("numbers each step, with the operation, its answer and the reason", () => {
    const { err } = textLockProgress(
      told(waiting({ waiters: [bob()] }), ["ticket", "queue", "watching"], { explain }),
      view(),
    );
    expect(err).toBe(`\
 1  create -s -e /deploy/_c_6b0e…-lock-
    → lock-0000000007
    Our ticket. Sequential (-s): the server appends the next number, so that the
    numbers are the order of arrival. Ephemeral (-e): the server deletes it when
    our session ends. After a crash that is when the session timeout (30s) is
    over: a crash cannot keep the lock.
 2  ls /deploy
    → lock-0000000005 lock-0000000006 lock-0000000007 (ours)
    The lowest number holds the lock. 2 ahead: ann@web3 holds it since 12s,
    bob@web1 waits.
 3  get -w /deploy/_c_6b0e…-lock-0000000006
    → bob@web1 pid 881
    A watch (-w) makes the server tell us when this znode goes. Only the one
    right before us is watched, so that one release wakes one waiter; with all
    of them watching the holder, each release would wake the whole queue.
`);
  });

  test.each([
    { progress: acquired(), why: /^None of the tickets that we waited for is left\. The token/ },
    { progress: acquired({ mode: "read" }), why: /^No writer is left before ours\. The token/ },
    {
      progress: acquired({ mode: "semaphore", permits: { taken: 3, limit: 3 } }),
      why: /^Our lease is among the first 3 now\. The token/,
    },
    {
      progress: acquired({ node: "/deploy" }),
      why: /^This time our create -e made the znode\. The token/,
    },
    { progress: acquired({ hasWaited: false }), why: /^The token/ },
  ])("says why the turn has come: $why", ({ progress, why }) => {
    expect(steps(progress, ["acquired"]).at(-1)?.why).toMatch(why);
  });

  test("says what readers and writers wait for", () => {
    const [writer] = steps(waiting({ mode: "write", holders: [ann({ mode: "read" })] }), ["queue"]);
    expect(writer?.why).toMatch(
      /waits for every earlier reader and writer\. A reader waits only for earlier writers\./,
    );
    const [reader] = steps(waiting({ mode: "read", waiters: [bob({ mode: "write" })] }), ["queue"]);
    expect(reader?.why).toMatch(
      /^A reader waits only for earlier writers; readers share the lock\./,
    );
    const [, free] = steps(acquired({ mode: "read", hasWaited: false }), [
      "ticket",
      "queue",
      "acquired",
    ]);
    expect(free).toMatchObject({
      operation: "ls /deploy",
      why: expect.stringContaining("No writer is before ours"),
    });
  });

  test("says what a crash does, and what the token is for", () => {
    const [gone] = steps(
      { event: "predecessor-gone", path: "/deploy", ahead: "x", aheadBy: ann() },
      ["gone"],
    );
    expect(gone).toMatchObject({
      operation: "event NodeDeleted",
      why: expect.stringContaining("it crashed and"),
    });
    const [last] = steps(acquired(), ["acquired"]);
    expect(last).toEqual({
      number: 1,
      answer: "acquired /deploy after 31s, token 115",
      why: expect.stringContaining("grows from holder to holder"),
    });
  });

  test("a semaphore: leases, the queue below locks, and who watches the permits", () => {
    const permits = { taken: 2, limit: 2 };
    const node = ticket(3, "lease-", "/s/leases");
    const none = steps({ event: "no-permit", path: "/s", node, permits }, [
      "lease",
      "leases",
      "lease-back",
    ]);
    expect(none.map(({ operation }) => operation)).toEqual([
      "create -s -e /s/leases/_c_6b0e…-lease-",
      "ls /s/leases",
      "delete /s/leases/_c_6b0e…-lease-0000000003",
    ]);
    expect(none[1]).toMatchObject({
      answer: "2 of 2 permits taken",
      why: expect.stringContaining("the first 2"),
    });
    const head = waiting({ mode: "semaphore", node, holders: [ann()], permits, watches: "leases" });
    expect(steps(head, ["watching"])[0]).toMatchObject({ operation: "ls -w /s/leases" });
    const behind = waiting({
      mode: "semaphore",
      node: ticket(4, "lock-", "/s/locks"),
      permits,
      waiters: [bob()],
    });
    expect(steps(behind, ["queue"], { ticket: behind.node })[0]).toMatchObject({
      operation: "ls /s/locks",
      answer: "lock-0000000006 lock-0000000004 (ours)",
    });
  });

  test("a release names what was deleted and who is woken", () => {
    const nodes = [ticket(7)];
    const unlocked = {
      kind: "unlocked",
      path: "/deploy",
      mode: "exclusive",
      count: 0,
      explain: { nodes },
    } as const;
    expect(textUnlocked(unlocked, view())).toEqual({
      out: "Unlocked /deploy\n",
      err: `\
 1  delete /deploy/_c_6b0e…-lock-0000000007
    → deleted
    Released. The waiter right behind us watches this znode and is woken; no
    other is.
`,
    });
  });

  test("is written in a pipe too, without being wrapped, and as fields with --json", () => {
    const result = told(acquired({ hasWaited: false }), ["ticket", "queue", "acquired"], {
      explain,
    });
    const { err = "" } = textLockProgress(result, view({ isTTY: false }));
    expect(err.split("\n").filter((line) => /^ \d {2}/.test(line))).toHaveLength(3);
    expect(jsonLockProgress(result)).toMatchObject({
      event: "acquired",
      explain: [
        { number: 1, operation: "create -s -e /deploy/_c_6b0e…-lock-" },
        { number: 2 },
        { number: 3 },
      ],
    });
  });

  test("at 40 columns no line is longer", () => {
    const result = told(waiting(), ["ticket", "queue", "watching"], { explain });
    const { err = "" } = textLockProgress(result, view({ columns: 40 }));
    expect(err.split("\n").filter((line) => line.length > 40)).toEqual([]);
  });
});
