/**
 * The table of `whoholds`: one queue for people, in columns that fit the terminal, and below each
 * row what there is to say beyond it.
 */

import type { LockReport, QueueMember } from "../recipes/locks/inspect/inspect-lock.ts";
import { escapeName } from "../text/escape.ts";
import { hexId } from "../text/hex-id.ts";
import { whoIs } from "../text/party-name.ts";
import { age, ago, heldSince } from "./age.ts";
import type { View } from "./renderer.ts";
import { type Column, tableLines } from "./table.ts";
import type { Theme } from "./theme.ts";
import { wrapText } from "./wrap-text.ts";

/** At most `room` lines; what does not fit is counted in the last one. */
export function queueTable(
  report: LockReport,
  view: View,
  room = Number.POSITIVE_INFINITY,
): string[] {
  const { path, holders, waiters, exists } = report;
  const { theme, columns } = view;
  if (holders.length + waiters.length === 0) {
    return wrapText(
      `${escapeName(path)} is free${exists ? "" : " (there is no such znode)"}`,
      columns,
    );
  }
  const all = [...holders, ...waiters];
  // Each takes a line at least: of thousands only those are laid out that may be shown.
  const rows = all.slice(0, room);
  const { head, lines, indent } = tableLines(columnsOf(rows, holders.length, view.now()), columns);
  const title = wrapText(`${escapeName(path)}: ${summary(report)}`, columns);
  const text = [...title.map((line) => theme.heading(line)), theme.heading(head)];
  for (const [index, party] of rows.entries()) {
    const more = facts(party, index < holders.length, view);
    const indented = more.length === 0 ? [] : wrapText(more.join("; "), columns - indent.length);
    const isLast = index === all.length - 1;
    if (text.length + 1 + indented.length > room - (isLast ? 0 : 1)) {
      return [...text, theme.faint(`… and ${all.length - index} more`)];
    }
    text.push(
      paintRow(
        lines[index] ?? "",
        stateOf(party, index, holders.length),
        { isHolder: index < holders.length, isNext: index === holders.length },
        theme,
      ),
    );
    for (const line of indented) text.push(theme.faint(indent + line));
  }
  return text;
}

/**
 * A holder's state has a colour, but not the rest of its row, because green is hard to read on
 * white; the whole row of the next one is bold.
 */
function paintRow(
  line: string,
  state: string,
  { isHolder, isNext }: { readonly isHolder: boolean; readonly isNext: boolean },
  theme: Theme,
): string {
  if (isNext) return theme.next(line);
  return isHolder ? line.replace(state, (word) => theme.held(word)) : line;
}

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
  const waiting =
    waiters.length === 0
      ? "no waiters"
      : waiters.length === 1
        ? "1 waits"
        : `${waiters.length} wait`;
  return `${held}, ${waiting}`;
}

function columnsOf(rows: readonly QueueMember[], holders: number, now: number): Column[] {
  const isShared = rows.some(({ mode }) => mode === "read" || mode === "write");
  const column = (
    title: string,
    cell: (party: QueueMember, index: number) => string,
    least?: number,
  ): Column => ({
    title,
    cells: rows.map(cell),
    ...(least !== undefined && { least }),
  });
  return [
    column("STATE", (party, index) => stateOf(party, index, holders)),
    ...(isShared ? [column("MODE", ({ mode }) => mode)] : []),
    column("WHO", (party) => escapeName(whoIs(party) ?? "-"), 10),
    column("PID", ({ pid }) => String(pid ?? "-")),
    column("CMD", ({ cmd }) => escapeName(cmd ?? "-"), 6),
    column("SINCE", (party) => age(now - heldSince(party))),
    column("TOKEN", ({ token }) => String(token)),
    column("CLIENT", ({ client }) => escapeName(client), 7),
  ];
}

export function stateOf({ mode }: QueueMember, index: number, holders: number): string {
  if (index >= holders) return `waiter ${index - holders + 1}`;
  return mode === "leader" ? "leader" : "holder";
}

/** The facts of a contender that the table has no column for. */
function facts(party: QueueMember, isHolder: boolean, { isVerbose = false, now }: View): string[] {
  const { why, revoke, session, pid, nodes, node, permits } = party;
  const told: string[] = [];
  if (permits !== undefined) told.push(`${permits} permits`);
  if (why !== undefined) told.push(escapeName(why));
  if (revoke) told.push(askedText(revoke, now()));
  if (session === 0n) told.push("not ephemeral: it stays until a client deletes it");
  else if (isVerbose || (isHolder && pid === undefined)) told.push(`session ${hexId(session)}`);
  return isVerbose ? told.concat((nodes.length > 0 ? nodes : [node]).map(escapeName)) : told;
}

function askedText({ by, at, reason }: NonNullable<QueueMember["revoke"]>, now: number): string {
  const asked = at === undefined ? Number.NaN : Date.parse(at);
  return [
    "asked to release it",
    by === undefined ? "" : ` by ${escapeName(String(by))}`,
    Number.isNaN(asked) ? "" : ` ${ago(now - asked)}`,
    reason === undefined ? "" : `: ${escapeName(String(reason))}`,
  ].join("");
}
