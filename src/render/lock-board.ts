/** All locks below a path on a terminal, the busiest first. */

import type { LockReport } from "../recipes/locks/inspect/inspect-lock.ts";
import { longestWaitSince } from "../recipes/locks/inspect/lock-board.ts";
import type { LockBoardResult } from "../results/lock-reports.ts";
import { escapeName } from "../text/escape.ts";
import { nameParty } from "../text/party-name.ts";
import { age, ago, heldSince } from "./age.ts";
import { deadlockLines } from "./deadlock.ts";
import type { View } from "./renderer.ts";
import { tableLines } from "./table.ts";
import { wrapText } from "./wrap-text.ts";

/** Never more lines than the terminal has. */
export function boardLines(board: LockBoardResult, view: View): string[] {
  const { root, reports, deadlocks } = board;
  const { theme, columns } = view;
  const room = Math.max((view.rows ?? 24) - 1, 3);
  const name = escapeName(root);
  const isUnanswered = board.unansweredSince !== undefined;
  const paintLook = isUnanswered ? theme.warning : theme.faint;
  const looked = wrapText(lookText(board, view.now()), columns).map((line) => paintLook(line));
  if (reports.length === 0) return [...wrapText(`no locks below ${name}`, columns), ...looked];
  const title = wrapText(`${name}: ${summary(reports)}`, columns).map((line) =>
    theme.heading(line),
  );
  // A deadlock is what has to be acted upon: it has up to half of the room, before the quiet locks
  // have any.
  const tangles = cutLines(
    deadlocks.flatMap((one) => ["", ...deadlockLines(one, view)]),
    Math.floor(room / 2),
  );
  const stuck = new Set(deadlocks.flatMap((deadlock) => deadlock.map(({ path }) => path)));
  const left = room - title.length - tangles.length - looked.length - 1;
  const shown = reports.slice(0, reports.length > left ? Math.max(left - 1, 1) : left);
  const { head, lines } = table(shown, stuck, view);
  const more =
    reports.length > shown.length
      ? [theme.faint(`… and ${reports.length - shown.length} more locks`)]
      : [];
  const rows = lines.map((line, index) =>
    isStuck(shown[index], stuck) ? theme.error(line) : line,
  );
  return cutLines([...title, theme.heading(head), ...rows, ...more, ...tangles, ...looked], room);
}

function isStuck(report: LockReport | undefined, stuck: ReadonlySet<string>): boolean {
  return report !== undefined && stuck.has(report.path);
}

function summary(reports: readonly LockReport[]): string {
  const held = reports.filter(({ holders }) => holders.length > 0).length;
  const waiting = reports.reduce((sum, { waiters }) => sum + waiters.length, 0);
  return `${reports.length} ${reports.length === 1 ? "lock" : "locks"}, ${held} held, ${waiting} waiting`;
}

function table(
  reports: readonly LockReport[],
  stuck: ReadonlySet<string>,
  view: View,
): { readonly head: string; readonly lines: readonly string[] } {
  const now = view.now();
  const column = (title: string, cell: (report: LockReport) => string, least?: number) => ({
    title,
    cells: reports.map(cell),
    ...(least !== undefined && { least }),
  });
  const longest = (report: LockReport) => {
    const since = longestWaitSince(report);
    return since === undefined ? "-" : age(now - since);
  };
  return tableLines(
    [
      column("LOCK", ({ path }) => escapeName(path), 8),
      column("WAIT", ({ waiters }) => String(waiters.length)),
      column("LONGEST", longest),
      column("HELD", ({ holders: [holder] }) => (holder ? age(now - heldSince(holder)) : "-")),
      ...(stuck.size > 0 ? [column("", ({ path }) => (stuck.has(path) ? "DEADLOCK" : ""))] : []),
      column("HOLDER", holderText, 8),
    ],
    view.columns,
  );
}

function holderText({ holders: [first, ...others], limit }: LockReport): string {
  if (!first) return "-";
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const permits = limit === undefined ? "" : ` (limit ${limit})`;
  return `${escapeName(nameParty(first))}${more}${permits}${first.revoke ? ", asked to release it" : ""}`;
}

function lookText({ lookedAt, nextLookAt, unansweredSince }: LockBoardResult, now: number): string {
  if (unansweredSince !== undefined)
    return `no server has answered for ${age(now - unansweredSince)}; looked ${ago(now - lookedAt)}`;
  const leftMs = nextLookAt - now;
  return `looked ${ago(Math.max(0, now - lookedAt))}, next look in ${leftMs < 1_000 ? "0s" : age(leftMs)}`;
}

function cutLines(lines: string[], most: number): string[] {
  return lines.length <= most
    ? lines
    : [...lines.slice(0, most - 1), `… and ${lines.length - most + 1} more lines`];
}
