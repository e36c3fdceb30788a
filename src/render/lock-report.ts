/**
 * Queues for people, in a table that fits the terminal, and for pipes: a line each, tabs between.
 */

import { CURATOR_OR_ZKSH } from "../recipes/locks/holder-record.ts";
import type { LockReport } from "../recipes/locks/inspect/inspect-lock.ts";
import type { Stay, Timeline } from "../recipes/locks/inspect/queue-history.ts";
import type {
  LockBoardResult,
  LocksResult,
  LocksWatchedResult,
  RevocationResult,
} from "../results/lock-reports.ts";
import { escapeName } from "../text/escape.ts";
import { nameParty } from "../text/party-name.ts";
import { age } from "./age.ts";
import { deadlockLines, deadlockText } from "./deadlock.ts";
import { incompatibleTicketsText } from "./incompatible-tickets.ts";
import { boardLines } from "./lock-board.ts";
import { plainLines, watchedLine } from "./lock-lines.ts";
import { queueTable } from "./lock-table.ts";
import { timelineLines } from "./lock-timeline.ts";
import { inAscii } from "./marks.ts";
import type { Rendered, View } from "./renderer.ts";
import { explainLines } from "./whoholds-explain.ts";
import { wrapText } from "./wrap-text.ts";

export function textLocks(
  { reports, root, deadlocks, isExplained = false }: LocksResult,
  view: View,
): Rendered {
  const err = reports.flatMap(warnings).join("");
  if (!view.isTTY) {
    const tangles = deadlocks.map((deadlock) => `deadlock: ${deadlockText(deadlock)}\n`);
    return {
      out: [...reports.map((report) => plainLines(report, isExplained)), ...tangles].join(""),
      err,
    };
  }
  if (root !== undefined && reports.length === 0)
    return { out: `no locks below ${escapeName(root)}\n` };
  const tangles = deadlocks.map((deadlock) => `${deadlockLines(deadlock, view).join("\n")}\n`);
  const blocks = reports.map((report) => {
    const explained = isExplained ? ["", ...explainLines(report, view)] : [];
    return `${[...queueTable(report, view), ...explained].join("\n")}\n`;
  });
  return { out: [...blocks, ...tangles].join("\n"), err };
}

/** On a terminal the picture takes the place of the one before. */
export function textLocksWatched(
  { reports, changed, timeline, unansweredSince }: LocksWatchedResult,
  view: View,
): Rendered {
  if (!view.isTTY) return { out: changed.map(watchedLine).join("") };
  // No picture may be higher than the terminal, no line longer: it is by their number that the next
  // one finds its place.
  const room = Math.max((view.rows ?? 24) - 1, 3);
  const lines = unansweredSince === undefined ? [] : unansweredLines(unansweredSince, view);
  for (const [index, report] of reports.entries()) {
    const share = Math.floor((room - lines.length) / (reports.length - index));
    const above = index === 0 ? [] : [""];
    lines.push(...above, ...watchedBlock(report, timeline, view, share - above.length));
  }
  const shown =
    lines.length > room
      ? [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more lines`]
      : lines;
  return { out: inAscii(`${shown.join("\n")}\n`, view), isFrame: true };
}

function unansweredLines(since: number, { theme, columns, now }: View): string[] {
  const text = `no server has answered for ${age(now() - since)}; what is below may be out of date`;
  return wrapText(text, columns).map((line) => theme.warning(line));
}

/** The table, and below it the timeline, which has half of the room where both want more. */
function watchedBlock(
  report: LockReport,
  timeline: Timeline | undefined,
  view: View,
  room: number,
): string[] {
  const warned = warnings(report).flatMap((warning) => wrapText(warning.trimEnd(), view.columns));
  const stays = timeline?.stays.get(report.path) ?? [];
  const draw = (lines: number) =>
    timeline ? timelineLines(stays, timeline.since, view, lines) : [];
  const half = draw(Math.floor(room / 2));
  const table = queueTable(
    withHeldSince(report, stays),
    view,
    Math.max(room - warned.length - half.length, 3),
  );
  return [...table, ...warned, ...draw(room - table.length - warned.length)];
}

/**
 * Most libraries do not say since when they hold a lock; where the hand-over was seen it is known
 * all the same.
 */
function withHeldSince(report: LockReport, stays: readonly Stay[]): LockReport {
  const seen = new Map(stays.map(({ contender, heldAt }) => [contender.node, heldAt]));
  const holders = report.holders.map((holder) => {
    const heldAt = holder.acquiredAt ?? seen.get(holder.node);
    return heldAt === undefined ? holder : { ...holder, acquiredAt: heldAt };
  });
  return { ...report, holders };
}

export function textLockBoard(board: LockBoardResult, view: View): Rendered {
  if (view.isTTY)
    return { out: inAscii(`${boardLines(board, view).join("\n")}\n`, view), isFrame: true };
  const tangles = board.newDeadlocks.map((deadlock) => `deadlock: ${deadlockText(deadlock)}\n`);
  return { out: [...board.changed.map(watchedLine), ...tangles].join("") };
}

function warnings({ path, incompatibleTickets }: LockReport): string[] {
  if (incompatibleTickets.length === 0) return [];
  return [`warning: ${incompatibleTicketsText(escapeName(path), incompatibleTickets)}\n`];
}

export function textRevocation(
  { path, holder, event, mayNotListen, mayRunOn }: RevocationResult,
  view: View,
): Rendered {
  const who = escapeName(nameParty(holder));
  const lock = escapeName(path);
  const say = (text: string): Rendered => (view.isTTY && !view.isQuiet ? { out: `${text}\n` } : {});
  switch (event) {
    case "asked":
      return {
        ...say(`Asked ${who} to release ${lock}`),
        ...(mayNotListen && {
          err: `warning: ${who} reacts only if it is zksh: Curator's LeaderLatch has no revocation\n`,
        }),
      };
    case "released":
      return say(`${who} released ${lock}`);
    case "gone":
      return say(`${who} had released ${lock} already`);
    case "deleted":
      return {
        ...say(`Deleted ${escapeName(holder.node)}`),
        err: mayRunOn
          ? `warning: ${who} ${holder.client === CURATOR_OR_ZKSH ? "may not be" : "is not"} told that it lost ${lock}, and may keep running beside the next holder\n`
          : `warning: a command of ${who} under ${lock} may run for a moment beside the next holder's before it is killed\n`,
      };
    case "unaskable":
      // The error at the end names all of them.
      return {};
  }
}
