/** The runs of `once`, and why nothing was run. */
import type { Run } from "../recipes/locks/once/runs.ts";
import type { OnceFoundResult, OnceRunsResult } from "../results/locks.ts";
import { escapeName } from "../text/escape.ts";
import { age, ago } from "./age.ts";
import { stepsView } from "./lock-progress.ts";
import { namesFor, type Rendered, type View } from "./renderer.ts";
import { isoTime } from "./stat.ts";
import { tableLines } from "./table.ts";
import { wrapText } from "./wrap-text.ts";

/** On stderr, as all that is told of a lock: stdout is the command's. */
export function textOnceFound(result: OnceFoundResult, view: View): Rendered {
  const { path, what, run, attempts, period } = result;
  if (view.isQuiet && what === "done") return {};
  const who = escapeName(nameOf(run));
  const when = `${ago(view.now() - run.begunAt)}`;
  const next = `the next period begins at ${isoTime(period.endMs)}`;
  const times = attempts === 1 ? "once" : `${attempts} times`;
  const found =
    what === "done"
      ? `is done: ${who} ran it ${when}${took(run)}`
      : `has failed ${times} in this period, last ${when} by ${who}: ${stateOf(run)}`;
  const said = `${escapeName(path)} ${found}; ${next}`;
  const { isTTY, columns } = stepsView(view);
  const lines = isTTY ? wrapText(said, columns, { keepsWords: true }) : [said];
  return { err: `${lines.join("\n")}\n` };
}

export function textOnceRuns({ path, runs }: OnceRunsResult, view: View): Rendered {
  const name = namesFor(view);
  const rows = runs.map((run) => [
    isoTime(run.period.beginMs),
    stateOf(run),
    name(nameOf(run)),
    isoTime(run.begunAt),
    run.endedAt === undefined ? "-" : age(run.endedAt - run.begunAt),
    String(run.token),
  ]);
  if (!view.isTTY) return { out: rows.map((row) => `${row.join("\t")}\n`).join("") };
  if (rows.length === 0) return { out: `no run of ${name(path)} is recorded\n` };
  const titles = ["PERIOD", "STATE", "WHO", "BEGAN", "TOOK", "TOKEN"];
  const columns = titles.map((title, at) => ({
    title,
    cells: rows.map((row) => row[at] ?? ""),
    ...(title === "WHO" && { least: 12 }),
  }));
  const { head, lines } = tableLines(columns, view.columns);
  return { out: [view.theme.heading(head), ...lines, ""].join("\n") };
}

export function jsonOnceFound(result: OnceFoundResult): Record<string, unknown> {
  const { path, what, attempts, period, run } = result;
  return { path, result: what, attempts, periodEnd: isoTime(period.endMs), run: jsonRun(run) };
}

export function jsonOnceRuns({ path, runs }: OnceRunsResult): Record<string, unknown> {
  return { path, runs: runs.map(jsonRun) };
}

function jsonRun({ period, token, begunAt, endedAt, ...run }: Run): Record<string, unknown> {
  return {
    ...run,
    period: isoTime(period.beginMs),
    token: String(token),
    begunAt: isoTime(begunAt),
    ...(endedAt !== undefined && { endedAt: isoTime(endedAt) }),
  };
}

function stateOf({ state, code }: Run): string {
  if (state !== "ended") return state;
  return code === 0 ? "ok" : `exit ${code}`;
}

function took({ begunAt, endedAt }: Run): string {
  return endedAt === undefined ? "" : ` (it took ${age(endedAt - begunAt)})`;
}

function nameOf({ who, host, pid, cmd }: Run): string {
  const user =
    who === undefined || who.includes("@") || host === undefined ? who : `${who}@${host}`;
  const name = user ?? host ?? "an unnamed host";
  return [
    name,
    ...(pid === undefined ? [] : [`pid ${pid}`]),
    ...(cmd === undefined ? [] : [cmd]),
  ].join(" ");
}
