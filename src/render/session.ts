/** The answers of `session`: one session, or all that the servers tell. */
import type { SessionLock } from "../recipes/locks/inspect/locks-of-session.ts";
import type { Gap, ToldSession } from "../recipes/servers/told-sessions.ts";
import type { SessionResult, SessionsResult } from "../results/servers.ts";
import { formatDuration } from "../text/duration.ts";
import { escapeControls, escapeName } from "../text/escape.ts";
import { hexId } from "../text/hex-id.ts";
import { nameParty } from "../text/party-name.ts";
import { ago } from "./age.ts";
import { listed } from "./lock-names.ts";
import type { Rendered, View } from "./renderer.ts";
import { isoTime } from "./stat.ts";
import { tableLines } from "./table.ts";

export function textSession(result: SessionResult, view: View): Rendered {
  const out = view.isTTY ? sessionLines(result, view) : plainLines(result);
  const notes = view.isQuiet ? [] : notesOf(result);
  return { out: `${out.join("\n")}\n`, err: notes.map((note) => `note: ${note}\n`).join("") };
}

/** In a pipe: what it is, then its values, with tabs between. */
function plainLines({ ephemerals, locks, ...result }: SessionResult): string[] {
  const { session, server, address, timeoutMs, establishedAt } = result;
  const rows = [
    ["session", hexId(session)],
    ...(server === undefined ? [] : [["server", server]]),
    ...(address === undefined ? [] : [["client", address]]),
    ...(timeoutMs === undefined ? [] : [["timeout", formatDuration(timeoutMs)]]),
    ...(establishedAt === undefined ? [] : [["connected", isoTime(establishedAt)]]),
    ...ephemerals.map((path) => ["ephemeral", path]),
    ...locks.map(({ path, member: { mode, node }, position }) =>
      position === undefined
        ? ["holds", path, mode, node]
        : ["waits", path, mode, node, String(position)],
    ),
  ];
  return rows.map((row) => row.map(escapeControls).join("\t"));
}

function sessionLines(result: SessionResult, { theme, now }: View): string[] {
  const { session, server, address, timeoutMs, establishedAt, ephemerals, locks } = result;
  const since = establishedAt === undefined ? "" : `, connected ${ago(now() - establishedAt)}`;
  const line = (label: string, value: string) => `${theme.faint(label.padEnd(12))}${value}`;
  return [
    line("session", `${hexId(session)}${result.isOwn ? " (this session)" : ""}`),
    ...(server === undefined ? [] : [line("server", escapeName(server))]),
    ...(address === undefined ? [] : [line("client", `${escapeName(address)}${since}`)]),
    ...(timeoutMs === undefined ? [] : [line("timeout", formatDuration(timeoutMs))]),
    ...requests(result).map((text) => line("requests", text)),
    line("ephemerals", String(ephemerals.length)),
    ...ephemerals.map((path) => `  ${escapeName(path)}`),
    line("locks", String(locks.length)),
    ...locks.map((lock) => `  ${lockText(lock)}`),
  ];
}

function requests({ received, queued, lastOperation }: SessionResult): string[] {
  if (received === undefined) return [];
  const waiting = queued ? `, ${queued} waiting` : "";
  return [`${received}${waiting}${lastOperation === undefined ? "" : `, last ${lastOperation}`}`];
}

function lockText({ path, member: { mode }, position, holders }: SessionLock): string {
  if (position === undefined) return `holds ${escapeName(path)} (${mode})`;
  const ahead = position === 1 ? "next" : `${position - 1} waiting ahead`;
  const names = holders.slice(0, 2).map((holder) => escapeName(nameParty(holder)));
  const held = names.length === 0 ? "" : `, held by ${listed(names, holders.length)}`;
  return `waits for ${escapeName(path)} (${mode}), ${ahead}${held}`;
}

function notesOf(result: SessionResult): string[] {
  const { isShortLived, isLocalAddress, outside, search, unreadLocks, gaps } = result;
  const notes = gapNotes(gaps);
  if (isShortLived) notes.push("this session is new, and ends with this command");
  if (isLocalAddress)
    notes.push("the client's address is this end's; behind NAT the server sees another one");
  if (outside > 0) notes.push(`${znodes(outside, "ephemeral")} outside the chroot left out`);
  if (search) {
    const isAll = search.isPartial
      ? `; there may be more: find / --owner ${hexId(result.session)} searches all`
      : "";
    notes.push(`the ephemerals were searched in ${znodes(search.znodes, "znode")}${isAll}`);
    if (search.unreadable > 0)
      notes.push(`${znodes(search.unreadable, "znode")} could not be listed`);
  }
  if (unreadLocks > 0) notes.push(`${znodes(unreadLocks, "possible lock")} not read`);
  return notes;
}

function znodes(count: number, what: string): string {
  return `${count.toLocaleString("en-US")} ${what}${count === 1 ? "" : "s"}`;
}

/** One sentence for the servers that refuse a word, and one for each that did not answer. */
function gapNotes(gaps: readonly Gap[]): string[] {
  const refused = new Map<string, string[]>();
  for (const { word, server, isNotAllowed } of gaps)
    if (isNotAllowed) refused.set(word, [...(refused.get(word) ?? []), escapeName(server)]);
  const silent = gaps.filter(({ isNotAllowed }) => !isNotAllowed);
  return [
    ...[...refused].map(
      ([word, servers]) => `${listed(servers)} does not allow ${word} (4lw.commands.whitelist)`,
    ),
    ...silent.map(
      ({ server, word, says = "no answer" }) =>
        `${escapeName(server)} did not answer ${word}: ${escapeName(says)}`,
    ),
  ];
}

export function textSessions(
  { sessions, gaps, hasEphemerals }: SessionsResult,
  view: View,
): Rendered {
  const err = view.isQuiet
    ? ""
    : gapNotes(gaps)
        .map((note) => `note: ${note}\n`)
        .join("");
  const cells = (session: ToldSession) => rowOf(session, hasEphemerals, view);
  if (!view.isTTY) {
    const lines = sessions.map((session) => `${cells(session).map(escapeControls).join("\t")}\n`);
    return { out: lines.join(""), err };
  }
  if (sessions.length === 0) return { out: "no sessions\n", err };
  const rows = sessions.map((session) => cells(session).map(escapeName));
  const { head, lines } = tableLines(
    TITLES.map((title, index) => ({
      title,
      cells: rows.map((row) => row[index] ?? ""),
      ...((title === "SERVER" || title === "CLIENT") && { least: 10 }),
    })),
    view.columns,
  );
  return { out: `${[view.theme.heading(head), ...lines].join("\n")}\n`, err };
}

const TITLES: readonly string[] = [
  "SESSION",
  "SERVER",
  "CLIENT",
  "TIMEOUT",
  "EPHEMERALS",
  "REQUESTS",
  "CONNECTED",
];

function rowOf(told: ToldSession, hasEphemerals: boolean, { isTTY, now }: View): string[] {
  const { session, server = "-", address = "-", timeoutMs, received, establishedAt } = told;
  const since = establishedAt ?? Number.NaN;
  return [
    hexId(session),
    server,
    address,
    timeoutMs === undefined ? "-" : formatDuration(timeoutMs),
    hasEphemerals ? String(told.ephemerals?.length ?? 0) : "-",
    String(received ?? "-"),
    Number.isNaN(since) ? "-" : isTTY ? ago(now() - since) : isoTime(since),
  ];
}

export function jsonSession(result: SessionResult): object {
  const { ephemerals, locks, gaps, search, outside, unreadLocks } = result;
  return {
    ...jsonTold(result),
    isOwn: result.isOwn,
    ephemerals,
    ...(outside > 0 && { outsideChroot: outside }),
    locks: locks.map(({ path, member: { mode, node, token }, position }) => ({
      path,
      state: position === undefined ? "holds" : "waits",
      mode,
      node,
      token: String(token),
      ...(position !== undefined && { position }),
    })),
    ...(unreadLocks > 0 && { unreadLocks }),
    ...(search && { search }),
    ...(gaps.length > 0 && { gaps }),
  };
}

export function jsonSessions({ sessions, gaps, hasEphemerals }: SessionsResult): object {
  const told = sessions.map((session) => ({
    ...jsonTold(session),
    ...(hasEphemerals && { ephemerals: session.ephemerals?.length ?? 0 }),
  }));
  return { sessions: told, ...(gaps.length > 0 && { gaps }) };
}

function jsonTold(told: Omit<ToldSession, "ephemerals">): object {
  const { session, server, address, timeoutMs, establishedAt } = told;
  const { queued, received, sent, lastOperation } = told;
  return {
    sessionId: hexId(session),
    ...(server !== undefined && { server }),
    ...(address !== undefined && { client: address }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(establishedAt !== undefined && { connectedAt: isoTime(establishedAt) }),
    ...(queued !== undefined && { queued }),
    ...(received !== undefined && { received }),
    ...(sent !== undefined && { sent }),
    ...(lastOperation !== undefined && { lastOperation }),
  };
}
