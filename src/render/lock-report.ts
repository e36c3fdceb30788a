/** Queues for people, in a table that fits the terminal, and for pipes: a line each, tabs between. */
import type { Deadlock } from "../recipes/locks/deadlocks.ts";
import { CURATOR_OR_ZKSH } from "../recipes/locks/holder-record.ts";
import type { LockReport, Standing } from "../recipes/locks/inspect.ts";
import {
  type LocksResult,
  type LocksWatchedResult,
  nameHolder,
  type RevocationResult,
  whoIs,
} from "../results/lock-reports.ts";
import { escapeName } from "./escape.ts";
import { age, heldSince } from "./lock.ts";
import type { Rendered, View } from "./renderer.ts";
import { hexId, isoTime } from "./stat.ts";
import { strangersText } from "./strangers.ts";
import { type Column, tableLines, wrapText } from "./table.ts";

export function textLocks({ reports, root, deadlocks }: LocksResult, view: View): Rendered {
  const err = reports.flatMap(warnings).join("");
  if (!view.isTTY) {
    const tangles = deadlocks.map((deadlock) => `deadlock: ${deadlockText(deadlock)}\n`);
    return { out: [...reports.map(plainLines), ...tangles].join(""), err };
  }
  if (root !== undefined && reports.length === 0)
    return { out: `free: nobody holds a lock below ${escapeName(root)}\n` };
  const tangles = deadlocks.map((deadlock) => tangle(deadlock, view)).join("");
  const blocks = reports.map((report) => block(report, view));
  return { out: [...blocks, ...(tangles === "" ? [] : [tangles])].join("\n"), err };
}

/** On a terminal the picture takes the place of the one before. */
export function textLocksWatched({ reports, changed }: LocksWatchedResult, view: View): Rendered {
  if (!view.isTTY) return { out: changed.map(watchedLine).join("") };
  // No line may be longer than the terminal: it is by their number that the next picture finds the place of this one.
  const warned = (report: LockReport) => warnings(report).map((warning) => wrapped(warning.trimEnd(), view.columns));
  const text = reports.map((report) => block(report, view) + warned(report).join("")).join("\n");
  const lines = text.split("\n").slice(0, -1);
  const room = Math.max((view.rows ?? 24) - 1, 3);
  if (lines.length <= room) return { out: text, isFrame: true };
  const shown = [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more lines`];
  return { out: `${shown.join("\n")}\n`, isFrame: true };
}

function block(report: LockReport, view: View): string {
  const { path, holders, waiters, exists } = report;
  const { colors, columns } = view;
  if (holders.length + waiters.length === 0) {
    return wrapped(`free: ${escapeName(path)}${exists ? "" : " (there is no such znode)"}`, columns);
  }
  const rows = [...holders, ...waiters];
  const { head, lines, indent } = tableLines(columnsOf(report, view.now()), columns);
  const title = wrapText(`${escapeName(path)}: ${summary(report)}`, columns);
  const text = [...title.map((line) => colors.heading(line)), colors.faint(head)];
  for (const [index, party] of rows.entries()) {
    text.push(lines[index] ?? "");
    const more = facts(party, index < holders.length, view);
    const indented = wrapText(more.join("; "), columns - indent.length);
    if (more.length > 0) text.push(...indented.map((line) => colors.faint(indent + line)));
  }
  return `${text.join("\n")}\n`;
}

function wrapped(text: string, columns: number): string {
  return `${wrapText(text, columns).join("\n")}\n`;
}

function tangle(deadlock: Deadlock, { colors, columns }: View): string {
  const [first = "", ...others] = wrapText(`deadlock: ${deadlockText(deadlock)}`, columns - DEADLOCK_INDENT.length);
  const begin = first.replace("deadlock:", colors.error("deadlock:"));
  return `${[begin, ...others.map((line) => DEADLOCK_INDENT + line)].join("\n")}\n`;
}

const DEADLOCK_INDENT = " ".repeat("deadlock: ".length);

function summary({ holders, waiters, limit }: LockReport): string {
  const permits = holders.reduce((sum, holder) => sum + (holder.permits ?? 1), 0);
  const held =
    limit !== undefined
      ? `${permits} of ${limit} ${limit === 1 ? "permit" : "permits"} held`
      : holders.length === 1
        ? "held"
        : holders.length === 0
          ? "free"
          : `${holders.length} hold it`;
  const waiting = waiters.length === 0 ? "nobody waits" : waiters.length === 1 ? "1 waits" : `${waiters.length} wait`;
  return `${held}, ${waiting}`;
}

function columnsOf({ holders, waiters }: LockReport, now: number): Column[] {
  const rows = [...holders, ...waiters];
  const isShared = rows.some(({ mode }) => mode === "read" || mode === "write");
  const column = (title: string, cell: (party: Standing, index: number) => string, least?: number): Column => ({
    title,
    cells: rows.map(cell),
    ...(least !== undefined && { least }),
  });
  return [
    column("STATE", (party, index) => stateOf(party, index, holders.length)),
    ...(isShared ? [column("MODE", ({ mode }) => mode)] : []),
    column("WHO", (party) => escapeName(whoIs(party) ?? "-"), 10),
    column("PID", ({ pid }) => String(pid ?? "-")),
    column("CMD", ({ cmd }) => escapeName(cmd ?? "-"), 6),
    column("SINCE", (party) => age(now - heldSince(party))),
    column("TOKEN", ({ token }) => String(token)),
    column("CLIENT", ({ client }) => escapeName(client), 7),
  ];
}

function stateOf({ mode }: Standing, index: number, holders: number): string {
  if (index >= holders) return `waiter ${index - holders + 1}`;
  return mode === "leader" ? "leader" : "holder";
}

/** What there is to say of somebody beyond the table. */
function facts(party: Standing, isHolder: boolean, { isVerbose = false, now }: View): string[] {
  const { why, revoke, session, pid, nodes, node, permits } = party;
  const told: string[] = [];
  if (permits !== undefined) told.push(`${permits} permits`);
  if (why !== undefined) told.push(escapeName(why));
  if (revoke) told.push(askedText(revoke, now()));
  if (session === 0n) told.push("not ephemeral: it stays until somebody deletes it");
  else if (isVerbose || (isHolder && pid === undefined)) told.push(`session ${hexId(session)}`);
  if (isVerbose) told.push(...(nodes.length > 0 ? nodes : [node]).map(escapeName));
  return told;
}

function askedText({ by, at, reason }: NonNullable<Standing["revoke"]>, now: number): string {
  const asked = at === undefined ? Number.NaN : Date.parse(at);
  return [
    "asked to give way",
    by === undefined ? "" : ` by ${escapeName(String(by))}`,
    Number.isNaN(asked) ? "" : ` ${age(now - asked)} ago`,
    reason === undefined ? "" : `: ${escapeName(String(reason))}`,
  ].join("");
}

/** path, state, mode, who, pid, command, since, token, client, session, znode. */
function plainLines({ path, holders, waiters }: LockReport): string {
  if (holders.length + waiters.length === 0) return `${path}\tfree\n`;
  return [...holders, ...waiters]
    .map((party, index) => {
      const { mode, pid, cmd, token, client, session, node } = party;
      const state = stateOf(party, index, holders.length);
      const who = whoIs(party) ?? "-";
      const values = [path, state, mode, who, pid ?? "-", cmd ?? "-", isoTime(heldSince(party)), token, client];
      return `${[...values, hexId(session), node].map((value) => escapeName(String(value))).join("\t")}\n`;
    })
    .join("");
}

function watchedLine({ path, holders, waiters }: LockReport): string {
  const waiting = waiters.length === 0 ? "" : `; ${waiters.length} ${waiters.length === 1 ? "waits" : "wait"}`;
  if (holders.length === 0) return `free ${path}${waiting}\n`;
  const names = holders.map(
    (party) => `${escapeName(nameHolder(party))} token ${party.token}${party.revoke ? " asked to give way" : ""}`,
  );
  return `held ${path} by ${names.join(", ")}${waiting}\n`;
}

function warnings({ path, strangers }: LockReport): string[] {
  if (strangers.length === 0) return [];
  return [`warning: ${strangersText(escapeName(path), strangers)}\n`];
}

function deadlockText(steps: Deadlock): string {
  const id = ({ session }: Standing) => hexId(session);
  const name = (party: Standing) => `${id(party)} (${escapeName(nameHolder(party))})`;
  const first = steps[0];
  if (!first) return "";
  const parts = steps.map(({ path, blocker, isHolder }, index) => {
    const next = steps[index + 1];
    const waiter = (next ?? first).waiter;
    const isSame = waiter.session === blocker.session;
    const whom = `waits for ${escapeName(path)} ${isHolder ? "held by" : "behind"} ${!next && isSame ? id(blocker) : name(blocker)}`;
    // One program may wait in another session than the one around it holds with.
    const link = waiter.within?.includes(String(blocker.token)) ? "inside which" : "together with which";
    if (next) return `${whom}, ${isSame ? "which" : `${link} ${name(waiter)}`} `;
    return isSame ? whom : `${whom}, ${link} ${id(waiter)} waits`;
  });
  return `${name(first.waiter)} ${parts.join("")}`;
}

export function textRevocation(
  { path, holder, event, mayNotListen, mayRunOn }: RevocationResult,
  view: View,
): Rendered {
  const who = escapeName(nameHolder(holder));
  const lock = escapeName(path);
  const say = (text: string): Rendered => (view.isTTY && !view.isQuiet ? { out: `${text}\n` } : {});
  switch (event) {
    case "asked":
      return {
        ...say(`Asked ${who} to give up ${lock}`),
        ...(mayNotListen && {
          err: `warning: ${who} hears this only if it is zksh: Curator's LeaderLatch does not listen\n`,
        }),
      };
    case "released":
      return say(`Given up by ${who}: ${lock}`);
    case "gone":
      return say(`${lock} was given up meanwhile by ${who}`);
    case "deleted":
      return {
        ...say(`Deleted ${escapeName(holder.node)}`),
        ...(mayRunOn && {
          err: `warning: ${who} ${holder.client === CURATOR_OR_ZKSH ? "may not be" : "is not"} told that it lost ${lock}, and may keep running beside the next holder\n`,
        }),
      };
    case "unaskable":
      // The error at the end names all of them.
      return {};
  }
}
