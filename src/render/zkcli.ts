/**
 * stdout as Apache zkCli 3.8 writes it, byte for byte, and its error texts. On a terminal
 * everything is escaped; in a pipe data stays exact, and names and ids have their control
 * characters escaped: no name that ZooKeeper allows has any.
 */
import { isUtf8 } from "node:buffer";
import type { DataResult, OldForm } from "../results/znodes.ts";
import type { Stat } from "../session/session.ts";
import { escapeText, escapeTextControls } from "../text/escape.ts";
import { zkcliAcl } from "./acl.ts";
import { framedHexDump } from "./bytes.ts";
import { zkcliClients } from "./config.ts";
import { javaDate } from "./java-date.ts";
import { quotaWarnings, zkcliQuota } from "./quota.ts";
import {
  namesFor,
  type Renderer,
  type ResultRenderers,
  renderWith,
  type View,
} from "./renderer.ts";
import { statLines } from "./stat.ts";
import { textRenderer } from "./text.ts";
import { zkcliWatchesRemoved } from "./watch.ts";
import { watcherBlock } from "./watch-event.ts";
import { keeperMessage, zkcliError } from "./zkcli-errors.ts";
import { commandFailure } from "./zkcli-failures.ts";

export function zkcliRenderer(view: View): Renderer {
  const renderers = zkcliRenderers(view);
  return {
    result: (result) => renderWith(renderers, result),
    error: zkcliError,
    failure: commandFailure,
  };
}

function zkcliRenderers(view: View): ResultRenderers {
  const name = namesFor(view);
  const data = view.isTTY ? escapeText : (raw: string) => raw;
  const text = view.isTTY ? escapeText : escapeTextControls;
  // zkCli has no help; its own is printed with an unknown command, to stderr.
  const help = textRenderer(view);
  return {
    data: (result) => ({
      out: `${data(zkcliData(result))}\n${result.withStat ? block(result.stat) : ""}`,
      ...deprecation(result),
    }),
    children: ({ children, stat, oldForm }) => ({
      out: `[${children.map(name).join(", ")}]\n${stat ? block(stat) : ""}`,
      ...deprecation({ oldForm }),
    }),
    // zkCli has no -l.
    "long-listing": help.result,
    // One path a line, as everywhere.
    paths: help.result,
    // zkCli has no commands for trees.
    "tree-lines": help.result,
    found: help.result,
    "grep-matches": help.result,
    "no-match": help.result,
    "disk-usage": help.result,
    largest: help.result,
    "near-limit": help.result,
    difference: help.result,
    differs: help.result,
    "tree-file": help.result,
    exported: help.result,
    "tree-written": help.result,
    "tree-moved": help.result,
    "kept-for-undo": help.result,
    unedited: help.result,
    "text-kept": help.result,
    waited: help.result,
    transaction: help.result,
    permission: help.result,
    // Nor for servers.
    "word-answer": help.result,
    "server-failed": help.result,
    "servers-tick": help.result,
    session: help.result,
    sessions: help.result,
    finding: help.result,
    examined: help.result,
    created: ({ path, existed = false }) => ({
      err: existed ? `${name(path)} exists\n` : `Created ${name(path)}\n`,
    }),
    changed: ({ stat, withStat }) => ({ out: withStat ? block(stat) : "" }),
    deleted: ({ oldForm }) => deprecation({ oldForm }),
    existence: ({ exists }) => ({ out: `${exists}\n` }),
    stat: ({ stat, oldForm }) => ({ out: block(stat), ...deprecation({ oldForm }) }),
    "tree-deleted": () => ({}),
    // One behind the other on one line, as zkCli does it; of a deletion it tells nothing but that
    // it failed.
    failed: ({ what, path, error }) => ({
      out: what === "setAcl" ? name(keeperMessage(error, path)) : "",
    }),
    acl: ({ acl, stat, withStat }) => ({
      out: text(zkcliAcl(acl)) + (withStat ? block(stat) : ""),
    }),
    "acl-changed": ({ stat, withStat }) => ({ out: withStat ? block(stat) : "" }),
    "tree-acl-changed": () => ({}),
    identified: () => ({}),
    identities: ({ identities }) => ({
      out: `Auth scheme: User\n${identities.map(({ scheme, id }) => `${name(scheme)}: ${name(id)}\n`).join("")}`,
    }),
    synced: () => ({ out: "Sync is OK\n" }),
    ephemerals: ({ paths }) => ({ out: `[${paths.map(name).join(", ")}]\n` }),
    count: ({ count }) => ({ out: `${count}\n` }),
    config: ({ text: lines, stat, withStat, isBrief, isNew }) => ({
      out:
        (isNew ? "Committed new configuration:\n" : "") +
        `${text(isBrief ? zkcliClients(lines) : lines)}\n${withStat ? block(stat) : ""}`,
    }),
    quota: (result) => zkcliQuota(result, name),
    "quota-changed": (result) => ({ out: quotaWarnings(result) }),
    "quota-deleted": () => ({}),
    help: help.result,
    "command-help": help.result,
    topic: help.result,
    "watch-added": () => ({}),
    "watches-removed": (result) => ({ out: zkcliWatchesRemoved(result, name) }),
    // zkCli has nothing like them.
    watched: help.result,
    "lock-progress": help.result,
    "lock-held": help.result,
    locked: help.result,
    "own-locks": help.result,
    unlocked: help.result,
    leader: help.result,
    "lock-ended": help.result,
    "once-found": help.result,
    "once-runs": help.result,
    locks: help.result,
    "locks-watched": help.result,
    "lock-board": help.result,
    revocation: help.result,
    sequencer: help.result,
    token: help.result,
    ran: help.result,
    "working-znode": ({ path, hasMoved }) => ({ out: hasMoved ? "" : `${name(path)}\n` }),
    connected: () => ({}),
    disconnected: () => ({}),
    serving: ({ address }) => ({ out: `${name(address)}\n` }),
    warning: help.result,
    settings: help.result,
    history: ({ entries }) => ({
      out: entries.map(({ number, line }) => `${number} - ${name(line)}\n`).join(""),
    }),
    "watch-printing": ({ isOn, hasChanged }) => ({
      out: hasChanged ? "" : `printwatches is ${isOn ? "on" : "off"}\n`,
    }),
    "watch-event": (result) => ({ out: watcherBlock(result, name) }),
    version: ({ version }) => ({ out: `ZooKeeper CLI version: zksh-${version}\n` }),
  };
}

const DEPRECATIONS: Readonly<Record<OldForm, string>> = {
  get: "'get path [watch]' has been deprecated. Please use 'get [-s] [-w] path' instead.",
  ls: "'ls path [watch]' has been deprecated. Please use 'ls [-w] path' instead.",
  stat: "'stat path [watch]' has been deprecated. Please use 'stat [-w] path' instead.",
  delete:
    "'delete path [version]' has been deprecated. Please use 'delete [-v version] path' instead.",
  ls2: "'ls2' has been deprecated. Please use 'ls [-s] path' instead.",
};

function deprecation({ oldForm }: { readonly oldForm?: OldForm | undefined }): { err?: string } {
  return oldForm === undefined ? {} : { err: `${DEPRECATIONS[oldForm]}\n` };
}

function block(stat: Stat): string {
  return statLines(stat, javaDate);
}

/** No data at all becomes the word null before it is formatted, as in zkCli. */
function zkcliData({ data, encoding }: DataResult): string {
  const bytes = data ?? Buffer.from("null");
  if (encoding === "hex") return framedHexDump(bytes);
  return encoding === "base64" ? bytes.toString("base64") : javaText(bytes);
}

/**
 * As Java decodes UTF-8: for half of a surrogate pair it puts one U+FFFD, where Node puts one for
 * each byte.
 */
function javaText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  const marked = bytes.toString("latin1").replace(/\xed[\xa0-\xbf][\x80-\xbf]?/g, "\xef\xbf\xbd");
  return Buffer.from(marked, "latin1").toString();
}
