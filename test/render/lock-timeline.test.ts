import { describe, expect, test } from "vitest";
import type { Stay } from "../../src/recipes/locks/inspect/queue-history.ts";
import { textLocksWatched } from "../../src/render/lock-report.ts";
import { timelineLines } from "../../src/render/lock-timeline.ts";
import type { View } from "../../src/render/renderer.ts";
import { NOW, queueMember, report, view } from "../support/lock-reports.ts";

interface Times {
  readonly queued: number;
  readonly held?: number;
  readonly left?: number;
}

/** Times in seconds before now. */
function stay(who: string, number: number, { queued, held, left }: Times): Stay {
  const node = `/deploy/_c_6b0e-lock-${String(number).padStart(10, "0")}`;
  return {
    contender: queueMember({ who, node, token: BigInt(number) }),
    order: BigInt(number),
    queuedAt: NOW - queued * 1_000,
    ...(held !== undefined && { heldAt: NOW - held * 1_000 }),
    ...(left !== undefined && { leftAt: NOW - left * 1_000 }),
  };
}

const QUEUE = [
  stay("ann@web3", 3, { queued: 90, held: 90, left: 40 }),
  stay("bob@web1", 4, { queued: 50, held: 40, left: 20 }),
  stay("cy@web2", 5, { queued: 45, left: 30 }),
  stay("dan@web9", 6, { queued: 36, held: 20 }),
  stay("eve@ops", 7, { queued: 8 }),
];

function draw(
  stays: readonly Stay[],
  more: Partial<View> & { since?: number; room?: number } = {},
): string {
  const { since = NOW - 30_000, room = 24, ...rest } = more;
  return timelineLines(stays, since, view(rest), room).join("\n");
}

describe("the timeline of a queue", () => {
  test("has dots for waiting, a bar for holding, and marks for hand-overs and for giving up", () => {
    expect(draw(QUEUE, { columns: 83 })).toBe(`
· waits  ▶ gets it  ━ holds  × gives up
ann@web3 #3           ━━━━━━━━━━━━━━━━━━━━━
bob@web1 #4                     ··········▶━━━━━━━━━━━━━━━━━━━━
cy@web2 #5                           ···············×
dan@web9 #6                                   ················▶━━━━━━━━━━━━━━━━━━━━
eve@ops #7                                                                ·········
                      1m00s ago                 a column is 1s                  now`);
  });

  test("a column stands for more time the longer the watch goes on, ten minutes at most", () => {
    const scale = (minutes: number) =>
      draw(QUEUE, { since: NOW - minutes * 60_000 })
        .split("\n")
        .at(-1)
        ?.trim();
    expect(scale(0)).toMatch(/^5\ds ago +a column is 1s +now$/);
    expect(scale(1)).toMatch(/^1m\d\ds ago +a column is 2s +now$/);
    expect(scale(4)).toMatch(/^4m\d\ds ago +a column is 5s +now$/);
    expect(scale(600)).toMatch(/^14m\d\ds ago +a column is 15s +now$/);
  });

  test("contenders that left before the span are not drawn", () => {
    expect(
      draw([stay("ann@web3", 3, { queued: 500, held: 400, left: 300 }), ...QUEUE.slice(3)]),
    ).not.toContain("ann");
    expect(draw([stay("ann@web3", 3, { queued: 500, held: 400, left: 300 })])).toBe("");
  });

  test("shows the rows around the holder and counts the others where there is no room", () => {
    const past = Array.from({ length: 30 }, (_, i) =>
      stay("old@x", i, { queued: 50, held: 40, left: 30 }),
    );
    const waiting = Array.from({ length: 5_000 }, (_, i) => stay("new@x", 31 + i, { queued: 9 }));
    const lines = draw([...past, stay("now@x", 30, { queued: 40, held: 20 }), ...waiting], {
      room: 10,
    }).split("\n");
    expect(lines).toHaveLength(10);
    expect(lines.slice(2, 8).map((line) => line.slice(0, 9).trim())).toEqual([
      "old@x #28",
      "old@x #29",
      "now@x #30",
      "new@x #31",
      "new@x #32",
      "new@x #33",
    ]);
    expect(lines[8]).toBe("… not drawn: 4997 in the queue, 28 that left");
  });

  test("fits 40 columns, with the ticket's number at the end of a name that is cut", () => {
    const long = stay("a-rather-long-user-name@a-host-with-a-long-name", 12345, { queued: 10 });
    const text = draw([...QUEUE, long], { columns: 40 });
    expect(text.split("\n").filter((line) => line.length > 40)).toEqual([]);
    expect(text).toMatch(/^a-…me #12345 {2} +·+$/m);
  });

  test("is plain ASCII on a terminal that shows nothing else", () => {
    const [holder, waiter] = [QUEUE[3]?.contender, QUEUE[4]?.contender].map(
      (one) => one ?? queueMember(),
    );
    const reports = [report({ holders: holder ? [holder] : [], waiters: waiter ? [waiter] : [] })];
    const timeline = { since: NOW, stays: new Map([["/deploy", QUEUE]]) };
    const result = { kind: "locks-watched", reports, changed: reports, timeline } as const;
    const ascii = String(textLocksWatched(result, view({ isAscii: true })).out);
    expect(ascii).toMatch(/^[\x20-\x7e\n]+$/);
    expect(ascii).toContain(".....>====");
  });

  test("shares a small terminal with the table", () => {
    const holders = [queueMember({ who: "now" })];
    const waiters = Array.from({ length: 40 }, () => queueMember({ who: "new" }));
    const stays = [stay("now", 30, { queued: 40, held: 20 }), ...QUEUE, ...QUEUE, ...QUEUE];
    const reports = [report({ holders, waiters })];
    const result = {
      kind: "locks-watched",
      reports,
      changed: [],
      timeline: { since: NOW, stays: new Map([["/deploy", stays]]) },
    } as const;
    for (const rows of [3, 5, 8, 12, 24, 50]) {
      const lines = String(textLocksWatched(result, view({ rows })).out)
        .split("\n")
        .slice(0, -1);
      expect(lines.length).toBeLessThanOrEqual(Math.max(rows - 1, 3));
      if (rows >= 12) expect(lines.at(-1)).toMatch(/ago .* now$/);
      if (rows <= 24) expect(lines.join("\n")).toMatch(/… and \d+ more/);
    }
  });
});
