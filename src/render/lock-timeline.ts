/**
 * How a queue has moved, drawn below its table: a row for each contender, time from left to right.
 */

import { HISTORY_MS, type Stay } from "../recipes/locks/inspect/queue-history.ts";
import { parseContender } from "../recipes/locks/queue/contender.ts";
import { baseName } from "../session/path.ts";
import { escapeName } from "../text/escape.ts";
import { whoIs } from "../text/party-name.ts";
import { age, ago } from "./age.ts";
import { displayWidth } from "./display-width.ts";
import type { View } from "./renderer.ts";
import { cutMiddle } from "./table.ts";
import { wrapText } from "./wrap-text.ts";

/** Marks of one column each. */
const WAITS = "·";
const GETS_IT = "▶";
const HOLDS = "━";
const GIVES_UP = "×";
const LEGEND = `${WAITS} waits  ${GETS_IT} gets it  ${HOLDS} holds  ${GIVES_UP} gives up`;

/** What a column may stand for. */
const SCALES_MS: readonly number[] = [1, 2, 5, 10, 15, 30, 60].map((seconds) => seconds * 1_000);
/** At first a column is a second on a terminal of 80 columns. */
const LEAST_SPAN_MS = 45_000;
const LEAST_LABEL = 12;
const MAX_LABEL = 24;
/** An empty line, the legend, one row, the axis. */
const LEAST_LINES = 4;

interface Scale {
  readonly start: number;
  readonly columnMs: number;
  readonly columns: number;
}

/**
 * At most `room` lines, the first of them empty; none where there is no room. `since`: when the
 * watch began.
 */
export function timelineLines(
  stays: readonly Stay[],
  since: number,
  view: View,
  room: number,
): string[] {
  const { columns, theme } = view;
  const now = view.now();
  // Not by the longest name: the picture would jump with each one that comes and goes.
  const labelWidth = Math.min(Math.max(Math.floor(columns / 4), LEAST_LABEL), MAX_LABEL);
  const scale = scaleFor(columns - labelWidth - 2, now - since, now);
  const seen = stays.filter(({ leftAt = now }) => leftAt >= scale.start);
  const legend = wrapText(LEGEND, columns).map((line) => theme.faint(line));
  const frame = legend.length + 2;
  if (seen.length === 0 || room < Math.max(LEAST_LINES, frame + 1)) return [];
  const { shown, isAll } = choose(seen, room - frame);
  const next = shown.find(({ heldAt, leftAt }) => heldAt === undefined && leftAt === undefined);
  const rows = shown.map((stay) => {
    const label = `${labelOf(stay, labelWidth)}  `;
    const drawn = bar(stay, scale, now);
    if (stay.leftAt !== undefined) return theme.faint((label + drawn).trimEnd());
    if (stay.heldAt !== undefined) return label + theme.held(drawn);
    return stay === next ? theme.next(label + drawn) : label + drawn;
  });
  const left = isAll ? [] : [theme.faint(leftOut(seen, shown, columns))];
  return [
    "",
    ...legend,
    ...rows,
    ...left,
    theme.faint(" ".repeat(labelWidth + 2) + axis(scale, now)),
  ];
}

/** Columns begin at round times, so that the picture moves by whole columns. */
function scaleFor(columns: number, watchedMs: number, now: number): Scale {
  const span = Math.min(Math.max(watchedMs, LEAST_SPAN_MS), HISTORY_MS);
  const columnMs =
    SCALES_MS.find((ms) => ms * (columns - 1) >= span) ?? SCALES_MS.at(-1) ?? LEAST_SPAN_MS;
  const end = (Math.floor(now / columnMs) + 1) * columnMs;
  return { start: end - columns * columnMs, columnMs, columns };
}

function bar(
  { queuedAt, heldAt, leftAt = Number.NaN }: Stay,
  { start, columnMs, columns }: Scale,
  now: number,
): string {
  const columnOf = (at: number) => Math.floor((at - start) / columnMs);
  const first = Math.max(columnOf(queuedAt), 0);
  const last = Math.min(columnOf(Number.isNaN(leftAt) ? now : leftAt), columns - 1);
  const got = heldAt === undefined ? Number.POSITIVE_INFINITY : columnOf(heldAt);
  let text = " ".repeat(first);
  for (let column = first; column <= last; column++) {
    text += column === got ? GETS_IT : column > got ? HOLDS : WAITS;
  }
  const gaveUp = heldAt === undefined && !Number.isNaN(leftAt);
  return gaveUp ? text.slice(0, -1) + GIVES_UP : text;
}

/**
 * Those around the holder: a third of the rows for contenders that came before it, the rest for the
 * queue behind it.
 */
function choose(stays: readonly Stay[], room: number): { shown: readonly Stay[]; isAll: boolean } {
  if (stays.length <= room) return { shown: stays, isAll: true };
  const rows = Math.max(room - 1, 1);
  const holder = stays.findIndex(({ leftAt }) => leftAt === undefined);
  const current = holder < 0 ? stays.length - 1 : holder;
  const start = Math.max(0, Math.min(current - Math.floor(rows / 3), stays.length - rows));
  return { shown: stays.slice(start, start + rows), isAll: false };
}

function leftOut(seen: readonly Stay[], shown: readonly Stay[], columns: number): string {
  const present = (stays: readonly Stay[]) =>
    stays.filter(({ leftAt }) => leftAt === undefined).length;
  const there = present(seen) - present(shown);
  const left = seen.length - shown.length - there;
  const parts = [there > 0 ? `${there} in the queue` : "", left > 0 ? `${left} that left` : ""];
  return cutMiddle(`… not drawn: ${parts.filter((part) => part !== "").join(", ")}`, columns);
}

/** `2m ago`, what a column stands for, and `now` at the right edge. */
function axis({ start, columnMs, columns }: Scale, now: number): string {
  const from = ago(now - start);
  const step = `a column is ${age(columnMs)}`;
  const room = columns - from.length - "now".length;
  const middle = step.length + 2 <= room ? step : "";
  const before = Math.max(Math.floor((room - middle.length) / 2), 1);
  const after = Math.max(room - middle.length - before, 1);
  return `${from}${" ".repeat(before)}${middle}${" ".repeat(after)}now`;
}

/** Who, and the number of its ticket, which is never cut: `ann@web3 #7`. */
function labelOf({ contender }: Stay, width: number): string {
  const sequence = parseContender(baseName(contender.node))?.sequence;
  const number = sequence === undefined ? "" : ` #${sequence}`;
  const who =
    cutMiddle(escapeName(whoIs(contender) ?? contender.client), width - number.length) + number;
  return who + " ".repeat(Math.max(0, width - displayWidth(who)));
}
