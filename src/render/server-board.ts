/** One tick of `top` on a terminal: a table that takes the place of the one before. */
import type { ServerReading } from "../recipes/servers/follow-servers.ts";
import type { ServersTickResult } from "../results/servers.ts";
import { formatDuration } from "../text/duration.ts";
import { escapeName } from "../text/escape.ts";
import { hexId } from "../text/hex-id.ts";
import { age } from "./age.ts";
import { displayWidth } from "./display-width.ts";
import { inAscii } from "./marks.ts";
import type { Rendered, View } from "./renderer.ts";
import { latencyOf, plainLine, roleOf, rounded } from "./server-lines.ts";
import { sparkline } from "./sparkline.ts";
import { type Column, cut, tableLines } from "./table.ts";
import { wrapText } from "./wrap-text.ts";

export function textServersTick(tick: ServersTickResult, view: View): Rendered {
  if (!view.isTTY)
    return { out: tick.readings.map((reading) => plainLine(reading, tick.at)).join("") };
  return { out: inAscii(`${boardLines(tick, view).join("\n")}\n`, view), isFrame: true };
}

/** In at most six characters: `0.4`, `12`, `9999`, `12k`, `3.4M`. */
function short(figure: number | undefined): string {
  if (figure === undefined) return "-";
  if (figure < 10) return String(rounded(figure));
  if (figure < 10_000) return String(Math.round(figure));
  const [unit, size] = figure < 999_500 ? ["k", 1e3] : figure < 999.5e6 ? ["M", 1e6] : ["G", 1e9];
  const value = figure / Number(size);
  return `${value < 10 ? rounded(value) : Math.round(value)}${unit}`;
}

/** Never more lines than the terminal has, none longer: the next frame takes their place. */
function boardLines(tick: ServersTickResult, view: View): string[] {
  const { readings } = tick;
  const { theme, columns } = view;
  const room = Math.max((view.rows ?? 24) - 1, 3);
  const title = wrapText(titleOf(tick), columns).map((line) => theme.heading(cut(line, columns)));
  const notes = notesOf(readings, view).flatMap((note) => wrapText(note, columns));
  const shown = readings.slice(0, Math.max(room - title.length - 2, 1));
  const { head, lines } = tableLines(columnsOf(shown, columns, view), columns);
  const rows = lines.map((line, index) =>
    shown[index]?.state === "serving" ? line : theme.warning(line),
  );
  const more =
    readings.length > shown.length
      ? [theme.faint(cut(`… and ${readings.length - shown.length} more servers`, columns))]
      : [];
  const table = [...title, theme.heading(head), ...rows, ...more];
  return [...table, ...notes.map((line) => theme.warning(line))].slice(0, room);
}

function titleOf({ readings, everyMs }: ServersTickResult): string {
  const serving = readings.filter(({ state }) => state === "serving");
  const requests = serving.flatMap(({ rates }) => rates?.received ?? []);
  const zxid = serving.reduce<bigint | undefined>((most, { sample }) => {
    const own = sample?.zxid;
    return own === undefined || (most !== undefined && most > own) ? most : own;
  }, undefined);
  const down = readings.length - serving.length;
  return [
    `${readings.length} ${readings.length === 1 ? "server" : "servers"}`,
    ...(down === 0 ? [] : [`${down} not serving`]),
    ...(requests.length === 0 ? [] : [`${short(requests.reduce((a, b) => a + b))} requests/s`]),
    ...(zxid === undefined ? [] : [`zxid ${hexId(zxid)}`]),
    `every ${formatDuration(everyMs)}`,
  ].join(", ");
}

function notesOf(readings: readonly ServerReading[], { now }: View): string[] {
  const notes = readings.flatMap(({ server, state, says, since, rates }) => {
    const name = escapeName(server);
    const long = since === undefined ? "" : `, for ${age(now() - since)}`;
    if (state === "down") return [`${name}: ${escapeName(says ?? "no answer")}${long}`];
    if (state === "not-serving") return [`${name} runs, but has no quorum${long}`];
    if (state === "not-allowed")
      return [`${name} allows neither srvr nor mntr (4lw.commands.whitelist)`];
    return rates?.isReset === true ? [`${name}: its counters were reset, or it was restarted`] : [];
  });
  const lacking = readings.filter(({ lacksMntr }) => lacksMntr === true);
  const watches =
    lacking.length === 0
      ? []
      : [
          `watches and latencies need mntr, which ${lacking.length === readings.length ? "no server allows" : `${lacking.map(({ server }) => escapeName(server)).join(", ")} does not allow`} (4lw.commands.whitelist)`,
        ];
  return [...notes, ...watches];
}

const GAP = 2;
const MAX_PLOT = 40;
const MIN_PLOT = 8;
/** Figures of a higher rank make room for the plot. */
const PLOT_RANK = 3;
const MIN_SERVER = 8;
/** A longer name is cut before figures are left out. */
const USUAL_SERVER = 20;

interface Figure {
  readonly title: string;
  readonly of: (reading: ServerReading) => string;
  /** Where there is no room, the highest go first. */
  readonly rank: number;
}

const FIGURES: readonly Figure[] = [
  { title: "ROLE", of: roleOf, rank: 1 },
  { title: "REQ/S", of: ({ rates }) => short(rates?.received), rank: 0 },
  { title: "ANS/S", of: ({ rates }) => short(rates?.sent), rank: 6 },
  { title: "QUEUED", of: ({ sample }) => short(sample?.outstanding), rank: 3 },
  { title: "MS", of: (reading) => short(latencyOf(reading)), rank: 2 },
  { title: "CONNS", of: ({ sample }) => short(sample?.connections), rank: 4 },
  { title: "ZNODES", of: ({ sample }) => short(sample?.znodes), rank: 7 },
  { title: "WATCHES", of: ({ sample }) => short(sample?.watches), rank: 8 },
  { title: "ZXID/S", of: ({ rates }) => short(rates?.zxids), rank: 5 },
];

/** The figures that fit, and a plot of the requests in what is left. */
function columnsOf(readings: readonly ServerReading[], width: number, view: View): Column[] {
  const server = {
    title: "SERVER",
    cells: readings.map((reading) => escapeName(reading.server)),
    least: MIN_SERVER,
  };
  let figures = FIGURES.map(({ title, of, rank }) => ({ title, rank, cells: readings.map(of) }));
  const sum = () => figures.reduce((all, column) => all + GAP + widthOf(column), 0);
  for (;;) {
    const last = Math.max(...figures.map(({ rank }) => rank));
    const plot = last > PLOT_RANK ? GAP + MIN_PLOT : 0;
    if (last === 0 || sum() + Math.min(widthOf(server), USUAL_SERVER) + plot <= width) break;
    figures = figures.filter(({ rank }) => rank !== last);
  }
  const name = Math.min(widthOf(server), USUAL_SERVER);
  const left = Math.min(width - sum() - name - GAP, MAX_PLOT);
  if (left < MIN_PLOT) return [server, ...figures];
  const most = readings.reduce(
    (all, { history }) => history.reduce<number>((max, one) => Math.max(max, one ?? 0), all),
    0,
  );
  const { isAscii } = view;
  const plots = readings.map(({ history }) => sparkline(history, { most, width: left, isAscii }));
  return [server, ...figures, { title: "REQUESTS", cells: plots }];
}

function widthOf({ title, cells }: Pick<Column, "title" | "cells">): number {
  return cells.reduce((most, cell) => Math.max(most, displayWidth(cell)), title.length);
}
