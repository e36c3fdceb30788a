/** For people on a terminal, and for pipes: one value a line, exact bytes, UTC times. */

import type { ConnectedResult } from "../results/shell.ts";
import type { ChildrenResult, DataResult } from "../results/znodes.ts";
import { formatAcl } from "../session/acl.ts";
import type { Stat } from "../session/session.ts";
import { hexDump, isReadable } from "./bytes.ts";
import { type Cell, columns } from "./columns.ts";
import { clientsOf } from "./config.ts";
import { escapeName, escapeText } from "./escape.ts";
import { textCommandHelp, textHelp, textTopic } from "./help.ts";
import { assignments, textLeader, textLockProgress } from "./lock.ts";
import { textLocks, textLocksWatched, textRevocation } from "./lock-report.ts";
import { prettyJson } from "./pretty-json.ts";
import { quotaWarnings, textQuota } from "./quota.ts";
import { type Failure, type Rendered, type Renderer, type ResultRenderers, renderWith, type View } from "./renderer.ts";
import { hexId, isoTime, readableTime, statLines } from "./stat.ts";
import { textRan, textWatched } from "./watch.ts";
import { watchEventLine } from "./watch-event.ts";

export function textRenderer(view: View): Renderer {
  const renderers = textRenderers(view);
  return {
    result: (result) => renderWith(renderers, result),
    error: (failure) => textError(failure, view),
  };
}

function textRenderers(view: View): ResultRenderers {
  const { isTTY, isQuiet } = view;
  const lines = isTTY ? escapeText : (text: string) => text;
  const name = isTTY ? escapeName : (text: string) => text;
  const stat = (of: Stat) => statLines(of, isTTY ? (ms) => readableTime(ms, view.now()) : isoTime);
  const confirm = (text: string) => (isTTY && !isQuiet ? text : "");
  return {
    data: (result) => textData(result, view, stat),
    children: (result) => ({ out: textChildren(result, view) + (result.stat ? stat(result.stat) : "") }),
    paths: ({ paths }) => ({ out: oneALine(isTTY ? paths.map(name) : paths) }),
    created: ({ path, isShortLived }) => ({
      out: isTTY ? `Created ${name(path)}\n` : `${path}\n`,
      ...(isShortLived && !isQuiet && { err: "note: an ephemeral ends with its session, and this session ends now\n" }),
    }),
    changed: (result) => ({
      out: result.withStat
        ? stat(result.stat)
        : confirm(
            result.isNew
              ? `Created ${name(result.path)}\n`
              : `Changed ${name(result.path)} (version ${result.stat.version})\n`,
          ),
    }),
    existence: ({ path, exists }) => ({ out: confirm(`${name(path)} ${exists ? "exists" : "does not exist"}\n`) }),
    deleted: ({ path }) => ({ out: confirm(`Deleted ${name(path)}\n`) }),
    "tree-deleted": ({ path, count }) => ({
      out: confirm(count > 1 ? `Deleted ${name(path)} and ${count - 1} below it\n` : `Deleted ${name(path)}\n`),
    }),
    failed: ({ error }) => ({ err: `${escapeName(error.message)}\n` }),
    "lock-progress": (result) => textLockProgress(result, view),
    "lock-held": ({ paths, environment }) => ({
      out: assignments(environment),
      ...(!isQuiet && { err: `holding ${paths.map(escapeName).join(", ")} until stdin ends or a signal comes\n` }),
    }),
    locked: ({ path, token, count }) => ({
      out: confirm(`Locked ${name(path)} (token ${token})${count > 1 ? `, ${count} times` : ""}\n`),
    }),
    unlocked: ({ path, count }) => ({
      out: confirm(count === 0 ? `Unlocked ${name(path)}\n` : `Still locked: ${name(path)}, ${count} more to unlock\n`),
    }),
    leader: (result) => textLeader(result, view),
    "lock-ended": () => ({}),
    locks: (result) => textLocks(result, view),
    "locks-watched": (result) => textLocksWatched(result, view),
    revocation: (result) => textRevocation(result, view),
    sequencer: ({ isCurrent }) => ({ out: isCurrent ? "current\n" : "stale\n" }),
    token: ({ path, token }) => ({ out: confirm(`${name(path)} is at token ${token}\n`) }),
    acl: ({ acl, stat: of, withStat }) => ({
      out: acl.map((entry) => `${name(formatAcl(entry))}\n`).join("") + (withStat ? stat(of) : ""),
    }),
    "acl-changed": ({ path, stat: of, withStat }) => ({
      out: withStat ? stat(of) : confirm(`Changed the ACL of ${name(path)} (version ${of.aversion})\n`),
    }),
    "tree-acl-changed": ({ path, count }) => ({
      out: confirm(`Changed the ACL of ${name(path)}${count > 1 ? ` and ${count - 1} below it` : ""}\n`),
    }),
    identified: ({ scheme, isShortLived }) => ({
      out: confirm(`Identified (${name(scheme)})\n`),
      ...(isShortLived &&
        !isQuiet && { err: "note: an identity ends with its session; --auth SCHEME:CRED gives one to a command\n" }),
    }),
    identities: ({ identities }) => ({
      out: identities.map(({ scheme, id }) => `${name(scheme)}:${name(id)}\n`).join(""),
    }),
    synced: () => ({ out: confirm("Sync is OK\n") }),
    ephemerals: ({ paths, isOneShot }) => ({
      out: paths
        .toSorted()
        .map((path) => `${name(path)}\n`)
        .join(""),
      ...(isOneShot && !isQuiet && { err: "note: a session sees only its own ephemerals, and this one is new\n" }),
    }),
    count: ({ count }) => ({ out: `${count}\n` }),
    config: ({ text, stat: of, withStat, isBrief, isNew }) => ({
      out:
        confirm(isNew ? "Committed new configuration:\n" : "") +
        withLineEnd(lines(isBrief ? clientsOf(text) : text)) +
        (withStat ? stat(of) : ""),
    }),
    quota: (result) => ({ out: textQuota(result) }),
    "quota-changed": (result) => ({
      out: confirm(`Changed the quota of ${name(result.path)}\n`),
      err: quotaWarnings(result),
    }),
    "quota-deleted": ({ path }) => ({ out: confirm(`Deleted the quota of ${name(path)}\n`) }),
    stat: (result) => ({ out: stat(result.stat) }),
    help: (result) => ({ out: textHelp(result, view) }),
    "command-help": (result) => ({ out: textCommandHelp(result, view) }),
    topic: (result) => ({ out: textTopic(result, view) }),
    "watch-added": ({ path, isRecursive }) => ({
      out: confirm(`Watching ${name(path)}${isRecursive ? " and everything below it" : ""}\n`),
    }),
    "watches-removed": ({ path }) => ({ out: confirm(`No longer watching ${name(path)}\n`) }),
    watched: (result) => textWatched(result, view),
    ran: textRan,
    "working-znode": ({ path, hasMoved }) => ({ out: hasMoved ? "" : `${name(path)}\n` }),
    connected: (result) => ({ out: confirm(`Connected to ${connectedTo(result)}\n`) }),
    disconnected: () => ({ out: confirm("Closed the session\n") }),
    serving: ({ address }) => ({
      out: isTTY ? `Serving on ${name(address)}, in memory only; Ctrl-C stops it\n` : `${name(address)}\n`,
    }),
    history: ({ entries }) => ({ out: entries.map(({ number, line }) => `${number} - ${name(line)}\n`).join("") }),
    "watch-printing": ({ isOn, hasChanged }) => ({ out: hasChanged ? "" : `printwatches is ${isOn ? "on" : "off"}\n` }),
    "watch-event": (result) => ({ out: watchEventLine(result, view) }),
    version: ({ version }) => ({ out: `zksh ${version}\n` }),
  };
}

function connectedTo({ server, sessionId, isReadOnly }: ConnectedResult): string {
  return `${escapeName(server)}, session ${hexId(sessionId)}${isReadOnly ? ", read-only" : ""}`;
}

function textData(
  { data, stat, withStat, encoding }: DataResult,
  view: View,
  statText: (of: Stat) => string,
): Rendered {
  const bytes = data ?? Buffer.alloc(0);
  const tail = withStat ? statText(stat) : "";
  if (encoding === "base64") return { out: `${bytes.toString("base64")}\n${tail}` };
  if (encoding === "hex") return { out: withLineEnd(hexDump(bytes)) + tail };
  if (view.isTTY) return { out: withLineEnd(readableData(bytes)) + tail };
  return { out: withStat ? Buffer.concat([bytes, Buffer.from(`\n${tail}`)]) : bytes };
}

function readableData(bytes: Buffer): string {
  if (!isReadable(bytes)) return hexDump(bytes);
  const text = bytes.toString();
  return escapeText(prettyJson(text) ?? text);
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function textChildren({ children, childStats }: ChildrenResult, { isTTY, columns: width, colors }: View): string {
  if (!isTTY) return oneALine(children);
  const cells = children.map((name): Cell => {
    const text = escapeName(name);
    const stat = childStats?.get(name);
    if (stat && stat.ephemeralOwner !== 0n) return { text: `${text}*`, colored: `${colors.ephemeral(text)}*` };
    if (stat && stat.numChildren > 0) return { text: `${text}/`, colored: `${colors.parent(text)}/` };
    return { text };
  });
  return columns(cells, width);
}

function oneALine(texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${texts.join("\n")}\n`;
}

function textError({ message, hint, stack, where }: Failure, { colors }: View): string {
  const at = where === undefined ? "" : `${escapeName(where.file)}:${where.line}: `;
  const lines = [`${at}${colors.error("error:")} ${escapeName(message)}`];
  if (hint !== undefined) lines.push(colors.faint(`  ${escapeName(hint)}`));
  if (stack !== undefined) lines.push(colors.faint(escapeText(stack)));
  return `${lines.join("\n")}\n`;
}
