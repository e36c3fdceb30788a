import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import type { LockReport } from "../../src/recipes/locks/inspect/inspect-lock.ts";
import { textLockBoard } from "../../src/render/lock-report.ts";
import type { View } from "../../src/render/renderer.ts";
import { createTheme } from "../../src/render/theme.ts";
import type { LockBoardResult } from "../../src/results/lock-reports.ts";
import { NOW, queueMember, report, view } from "../support/lock-reports.ts";

const ann = queueMember({ session: 0x1n });
const bob = queueMember({ session: 0x2n, who: "bob@web1", pid: 881, cmd: "psql" });
const deadlock = [
  { waiter: bob, path: "/app/d1", blocker: ann, isHolder: true },
  { waiter: ann, path: "/app/d2", blocker: bob, isHolder: true },
];
const held = (path: string, more: Partial<LockReport> = {}) =>
  report({ path, holders: [ann], ...more });

function draw(more: Partial<LockBoardResult>, of: Partial<View> = {}) {
  const board = { reports: [], deadlocks: [], changed: [], newDeadlocks: [], ...more };
  const result = {
    kind: "lock-board",
    root: "/app",
    lookedAt: NOW - 1_000,
    nextLookAt: NOW + 1_000,
    ...board,
  } as const;
  return textLockBoard(result, view(of));
}

describe("a board of locks", () => {
  test("has a row for each lock: waiters, longest wait, holder", () => {
    const waiters = [
      queueMember({ queuedAt: NOW - 75_000 }),
      queueMember({ queuedAt: NOW - 5_000 }),
    ];
    const reports = [
      held("/app/busy", { waiters }),
      held("/app/pool", { limit: 3, holders: [ann, bob] }),
    ];
    expect(draw({ reports })).toEqual({
      isFrame: true,
      out: `\
/app: 2 locks, 2 held, 2 waiting
LOCK       WAIT  LONGEST  HELD   HOLDER
/app/busy  2     1m15s    3m20s  ann@web3 pid 4711 deploy.sh
/app/pool  0     -        3m20s  ann@web3 pid 4711 deplo…sh and 1 more (limit 3)
looked 1s ago, next look in 1s
`,
    });
  });

  test("marks deadlocks, and never fills more than the terminal", () => {
    const reports = Array.from({ length: 100 }, (_, i) => held(`/app/d${i + 1}`));
    for (const [rows, columns] of [[24, 80] as const, [10, 40] as const, [4, 20] as const]) {
      const lines = String(draw({ reports, deadlocks: [deadlock] }, { rows, columns }).out)
        .split("\n")
        .slice(0, -1);
      expect(lines.length).toBeLessThanOrEqual(rows - 1);
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      expect(lines).toContain(rows > 4 ? "DEADLOCK" : lines[0]);
    }
    const text = String(draw({ reports, deadlocks: [deadlock] }).out);
    expect(text).toMatch(/\n\/app\/d1 .* DEADLOCK +ann/);
    expect(text).toMatch(/\n… and \d+ more locks\n/);
  });

  test("says the same with colours", async () => {
    const theme = await createTheme(1);
    const text = (of?: Partial<View>) => String(draw({ reports: [held("/app/a")] }, of).out);
    expect(stripVTControlCharacters(text({ theme }))).toBe(text());
  });

  test("says that no server answers, in place of the next look", () => {
    const looks = { lookedAt: NOW - 8_000, nextLookAt: NOW - 6_000 };
    const { out } = draw({ reports: [held("/app/a")], ...looks, unansweredSince: NOW - 7_000 });
    expect(String(out).split("\n").at(-2)).toBe("no server has answered for 7s; looked 8s ago");
  });

  test("says that there are none on a terminal, and nothing in a pipe", () => {
    expect(draw({}).out).toBe("no locks below /app\nlooked 1s ago, next look in 1s\n");
    expect(draw({}, { isTTY: false })).toEqual({ out: "" });
  });

  test("is a line a change in a pipe", () => {
    const changed = [held("/app/d1"), report({ path: "/app/d9" })];
    expect(draw({ changed, newDeadlocks: [deadlock] }, { isTTY: false }).out).toMatch(
      /^held \/app\/d1 by ann@web3 .*\nfree \/app\/d9\ndeadlock: bob@web1 .*; break it: revoke \/app\/d1 or revoke \/app\/d2\n$/,
    );
  });
});
