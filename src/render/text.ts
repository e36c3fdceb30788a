/** For people on a terminal, and for pipes: one value a line, exact bytes, UTC times. */

import type { ConnectedResult } from "../results/shell.ts";
import type { ChildrenResult } from "../results/znodes.ts";
import { formatAcl } from "../session/acl.ts";
import { kindOf } from "../session/node-kind.ts";
import type { Stat } from "../session/session.ts";
import { escapeName, escapeText, escapeTextControls } from "../text/escape.ts";
import { hexId } from "../text/hex-id.ts";
import { shorten } from "../text/shorten.ts";
import { textPermission } from "./access.ts";
import { type Cell, columns } from "./columns.ts";
import { clientsOf } from "./config.ts";
import { textData } from "./data.ts";
import { textExamined, textFinding } from "./doctor.ts";
import { textCommandHelp, textHelp, textTopic } from "./help.ts";
import { textLockProgress } from "./lock-progress.ts";
import { textLockBoard, textLocks, textLocksWatched, textRevocation } from "./lock-report.ts";
import {
  textLeader,
  textLocked,
  textLockHeld,
  textOwnLocks,
  textUnlocked,
} from "./lock-results.ts";
import { textLongListing } from "./long-listing.ts";
import { textOnceFound, textOnceRuns } from "./once.ts";
import { quotaWarnings, textQuota } from "./quota.ts";
import {
  type Failure,
  namesFor,
  type Rendered,
  type Renderer,
  type ResultRenderers,
  renderWith,
  type View,
} from "./renderer.ts";
import { serverRenderers } from "./servers.ts";
import { textSettings } from "./settings.ts";
import { isoTime, statLines, statTable } from "./stat.ts";
import { textTransaction } from "./transaction.ts";
import { treeRenderers } from "./trees.ts";
import { textRan, textWatched } from "./watch.ts";
import { watchEventLine } from "./watch-event.ts";

export function textRenderer(view: View): Renderer {
  const renderers = textRenderers(view);
  return {
    result: (result) => renderWith(renderers, result),
    error: (failure) => (failure.isExpected ? "" : textError(failure, view)),
  };
}

function textRenderers(view: View): ResultRenderers {
  const { isTTY, isQuiet } = view;
  const lines = isTTY ? escapeText : escapeTextControls;
  const name = namesFor(view);
  const stat = (of: Stat) =>
    isTTY ? statTable(of, view.now(), view.theme) : statLines(of, isoTime);
  const confirm = (text: string) => (isTTY && !isQuiet ? text : "");
  return {
    data: (result) => headed(result, textData(result, view, stat), view),
    children: (result) => ({
      out:
        listHead(result, view) +
        textChildren(result, view) +
        (result.stat ? stat(result.stat) : ""),
    }),
    "long-listing": (result) => ({
      out:
        listHead(result, view) +
        textLongListing(result, view) +
        (result.stat ? stat(result.stat) : ""),
    }),
    paths: ({ paths }) => ({ out: oneALine(paths.map(name)) }),
    ...treeRenderers(view),
    created: ({ path, existed = false, isShortLived }) => ({
      out: isTTY
        ? `${existed ? `${name(path)} exists, nothing changed` : `Created ${name(path)}`}\n`
        : `${name(path)}\n`,
      ...(existed && !isTTY && !isQuiet && { err: `note: ${name(path)} exists\n` }),
      ...(isShortLived &&
        !isQuiet && {
          err: "note: the session ends now, and the ephemeral znode is deleted with it\n",
        }),
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
    unedited: ({ path }) => ({ out: confirm(`${name(path)} was not changed\n`) }),
    "text-kept": ({ file }) => ({ err: `note: your text is in ${escapeName(file)}\n` }),
    existence: ({ path, exists, isOneOfMany }) => ({
      out:
        isOneOfMany && !isTTY && !isQuiet
          ? `${name(path)}\t${exists}\n`
          : confirm(`${name(path)} ${exists ? "exists" : "does not exist"}\n`),
    }),
    deleted: ({ path }) => ({ out: confirm(`Deleted ${name(path)}\n`) }),
    "tree-deleted": ({ path, count }) => ({
      out: confirm(
        count > 1 ? `Deleted ${name(path)} and ${count - 1} below it\n` : `Deleted ${name(path)}\n`,
      ),
    }),
    transaction: (result) => textTransaction(result, view),
    failed: ({ error }) => ({
      err: `${view.theme.error("error:")} ${escapeName(error.message)}\n`,
    }),
    "lock-progress": (result) => textLockProgress(result, view),
    "lock-held": (result) => textLockHeld(result, view),
    locked: (result) => textLocked(result, view),
    "own-locks": (result) => textOwnLocks(result, view),
    unlocked: (result) => textUnlocked(result, view),
    leader: (result) => textLeader(result, view),
    "lock-ended": () => ({}),
    "once-found": (result) => textOnceFound(result, view),
    "once-runs": (result) => textOnceRuns(result, view),
    locks: (result) => textLocks(result, view),
    "locks-watched": (result) => textLocksWatched(result, view),
    "lock-board": (result) => textLockBoard(result, view),
    revocation: (result) => textRevocation(result, view),
    sequencer: ({ isCurrent }) => ({ out: isCurrent ? "current\n" : "stale\n" }),
    token: ({ path, token }) => ({ out: confirm(`${name(path)} is at token ${token}\n`) }),
    acl: ({ acl, stat: of, withStat }) => ({
      out: acl.map((entry) => `${name(formatAcl(entry))}\n`).join("") + (withStat ? stat(of) : ""),
    }),
    "acl-changed": ({ path, stat: of, withStat }) => ({
      out: withStat
        ? stat(of)
        : confirm(`Changed the ACL of ${name(path)} (version ${of.aversion})\n`),
    }),
    "tree-acl-changed": ({ path, count }) => ({
      out: confirm(
        `Changed the ACL of ${name(path)}${count > 1 ? ` and ${count - 1} below it` : ""}\n`,
      ),
    }),
    identified: ({ scheme, isShortLived }) => ({
      out: confirm(`Authenticated (${name(scheme)})\n`),
      ...(isShortLived &&
        !isQuiet && {
          err:
            "note: the identity ends with this session; give it to a single command with --auth " +
            "SCHEME:CRED\n",
        }),
    }),
    identities: ({ identities }) => ({
      out: identities.map(({ scheme, id }) => `${name(scheme)}:${name(id)}\n`).join(""),
    }),
    permission: (result) => textPermission(result, view),
    ...serverRenderers(view),
    finding: (result) => textFinding(result, view),
    examined: (result) => textExamined(result, view),
    synced: () => ({ out: confirm("Sync is OK\n") }),
    ephemerals: ({ paths, isOneShot }) => ({
      out: paths
        .toSorted()
        .map((path) => `${name(path)}\n`)
        .join(""),
      ...(isOneShot &&
        !isQuiet && {
          err: "note: only the ephemeral znodes of this session are listed, and the session is new\n",
        }),
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
    stat: (result) => {
      const path = result.isOneOfMany && !isTTY ? `path = ${name(result.path)}\n` : "";
      return headed(result, { out: path + stat(result.stat) }, view);
    },
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
    serving: ({ address, reach }) => ({
      out: isTTY
        ? `Serving on ${name(address)}, in memory only, to ${REACHES[reach]}; Ctrl-C stops it\n`
        : `${name(address)}\n`,
    }),
    settings: (result) => ({ out: textSettings(result, view) }),
    warning: ({ message }) =>
      isQuiet ? {} : { err: `${view.theme.warning("warning:")} ${escapeName(message)}\n` },
    history: ({ entries }) => ({
      out: entries.map(({ number, line }) => `${number} - ${name(line)}\n`).join(""),
    }),
    "watch-printing": ({ isOn, hasChanged }) => ({
      out: hasChanged ? "" : `printwatches is ${isOn ? "on" : "off"}\n`,
    }),
    "watch-event": (result) => ({ out: watchEventLine(result, view) }),
    version: ({ version }) => ({ out: `zksh ${version}\n` }),
  };
}

const REACHES = {
  machine: "every user of this machine",
  network: "every client that can reach it",
} as const;

function connectedTo({ server, sessionId, isReadOnly }: ConnectedResult): string {
  return `${escapeName(server)}, session ${hexId(sessionId)}${isReadOnly ? ", read-only" : ""}`;
}

/**
 * One of several results on a terminal begins with its path. In a pipe nothing is added: data stays
 * exact.
 */
function headed(
  { path, isOneOfMany }: { readonly path: string; readonly isOneOfMany?: boolean },
  rendered: Rendered,
  { isTTY, theme }: View,
): Rendered {
  if (!isOneOfMany || !isTTY) return rendered;
  return { ...rendered, out: `${theme.heading(escapeName(path))}\n${rendered.out ?? ""}` };
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** One of several lists begins with its znode, as with ls of Unix. */
function listHead(
  { path, isOneOfMany }: { readonly path?: string; readonly isOneOfMany?: boolean },
  view: View,
): string {
  if (!isOneOfMany || path === undefined) return "";
  return `${view.theme.heading(`${namesFor(view)(path)}:`)}\n`;
}

function textChildren({ children, childStats }: ChildrenResult, view: View): string {
  const { isTTY, columns: width, theme } = view;
  if (!isTTY) return oneALine(children.map(namesFor(view)));
  if (children.length === 0) return view.isQuiet ? "" : `${theme.faint("(no children)")}\n`;
  const cells = children.map((name): Cell => {
    const text = escapeName(name);
    const stat = childStats?.get(name);
    if (stat && kindOf(stat) === "ephemeral")
      return { text: `${text}*`, colored: `${theme.ephemeral(text)}*` };
    if (stat && stat.numChildren > 0)
      return { text: `${text}/`, colored: `${theme.parent(text)}/` };
    return { text };
  });
  return columns(cells, width);
}

function oneALine(texts: readonly string[]): string {
  return texts.length === 0 ? "" : `${texts.join("\n")}\n`;
}

/** Of a message on a terminal: a name in it can have a megabyte. */
const MAX_MESSAGE = 2_000;

/** Ctrl-C and the answer no are the user's wish, not errors. */
const NO_ERRORS: ReadonlySet<string> = new Set(["interrupted", "declined"]);

function textError(
  { reason, message: whole, hint, stack, where }: Failure,
  { theme, isTTY }: View,
): string {
  const message = isTTY ? shorten(whole, MAX_MESSAGE) : whole;
  const at = where === undefined ? "" : `${escapeName(where.file)}:${where.line}: `;
  const label = NO_ERRORS.has(reason) ? "" : `${theme.error("error:")} `;
  const lines = [`${at}${label}${escapeName(message)}`];
  if (hint !== undefined) lines.push(theme.faint(`  ${escapeName(hint)}`));
  if (stack !== undefined) lines.push(theme.faint(escapeText(stack)));
  return `${lines.join("\n")}\n`;
}
