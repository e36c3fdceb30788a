/** One object a line. The fields are an interface: they are added to, never changed. */

import { isUtf8 } from "node:buffer";
import type { ComparedZnode, Difference } from "../recipes/trees/diff-trees.ts";
import type { WatchedResult } from "../results/watches.ts";
import type { DataResult } from "../results/znodes.ts";
import { formatPerms } from "../session/acl.ts";
import { parseConfig } from "../session/ensemble-config.ts";
import type { Acl, Stat } from "../session/session.ts";
import { escapeJson } from "../text/escape.ts";
import { hexId } from "../text/hex-id.ts";
import { jsonPermission } from "./access.ts";
import { jsonExamined, jsonFinding } from "./doctor.ts";
import { jsonLockProgress, jsonOwnLock, jsonParty } from "./lock-json.ts";
import { jsonDeadlock, jsonLock, jsonRevocation } from "./lock-report-json.ts";
import { jsonOnceFound, jsonOnceRuns } from "./once.ts";
import { jsonQuota, jsonUsage } from "./quota.ts";
import {
  type Failure,
  type Rendered,
  type Renderer,
  type ResultRenderers,
  renderWith,
} from "./renderer.ts";
import { jsonServersTick } from "./server-lines.ts";
import { jsonWordAnswer } from "./servers.ts";
import { jsonSession, jsonSessions } from "./session.ts";
import { isoTime } from "./stat.ts";
import { jsonView } from "./stored-view.ts";

export function jsonRenderer(): Renderer {
  return { result: (result) => renderWith(renderers, result), error: jsonError };
}

const renderers: ResultRenderers = {
  data: (result) =>
    object({
      path: result.path,
      ...jsonData(result),
      ...(result.view && { view: jsonView(result.view) }),
      stat: jsonStat(result.stat),
    }),
  children: ({ path, children, stat }) =>
    object({ path, children, ...(stat && { stat: jsonStat(stat) }) }),
  "long-listing": ({ entries }) => ({
    out: entries.map(({ path, stat }) => line({ path, stat: jsonStat(stat) })).join(""),
  }),
  paths: ({ paths }) => ({ out: paths.map((path) => line({ path })).join("") }),
  "tree-lines": ({ lines }) => ({
    out: lines
      .map(({ path, stat, data }) =>
        line({
          path,
          ...(stat && { stat: jsonStat(stat) }),
          ...(data !== undefined && jsonData({ data, encoding: "auto" })),
        }),
      )
      .join(""),
  }),
  found: ({ paths }) => ({ out: paths.map((path) => line({ path })).join("") }),
  "grep-matches": ({ matches }) => ({
    out: matches.map(({ kind: _, ...match }) => line(match)).join(""),
  }),
  "no-match": () => ({}),
  "disk-usage": ({ subtrees }) => ({
    out: subtrees
      .map(({ path, bytes, znodes, children }) => line({ path, bytes, znodes, children }))
      .join(""),
  }),
  largest: ({ path, znodes, subtrees, parents }) => object({ path, znodes, subtrees, parents }),
  difference: ({ difference }) => object(jsonDifference(difference)),
  differs: () => ({}),
  // The file is JSON lines already.
  "tree-file": ({ text }) => ({ out: text }),
  exported: ({ kind: _, ...result }) => ({ err: line({ exported: result }) }),
  "tree-written": ({ kind: _, ...result }) => object(result),
  "tree-moved": ({ from, to, znodes, isAtomic, zxid, isDryRun }) =>
    object({
      from,
      to,
      znodes,
      atomic: isAtomic,
      dryRun: isDryRun,
      ...(zxid !== undefined && { zxid: hexId(zxid) }),
    }),
  waited: ({ path, condition }) => object({ path, condition: condition.kind }),
  "near-limit": ({ path, what, bytes, limit }) => ({
    err: line({ warning: { reason: "near-limit", path, what, bytes, limit } }),
  }),
  created: ({ path, existed }) => object({ path, ...(existed && { existed }) }),
  changed: ({ path, stat, isNew }) =>
    object({ path, stat: jsonStat(stat), ...(isNew && { created: true }) }),
  unedited: ({ path }) => object({ path, changed: false }),
  "kept-for-undo": ({ znodes, bytes, ephemerals, unreadable }) => ({
    err: line({ notice: { event: "kept-for-undo", znodes, bytes, ephemerals, unreadable } }),
  }),
  "text-kept": ({ path, file }) => ({ err: line({ notice: { event: "text-kept", path, file } }) }),
  deleted: ({ path }) => object({ path }),
  stat: ({ path, stat }) => object({ path, stat: jsonStat(stat) }),
  existence: ({ path, exists }) => object({ path, exists }),
  help: ({ kind: _, ...help }) => object(help),
  "tree-deleted": ({ path, count }) => object({ path, deleted: count }),
  failed: ({ path, error }) => ({
    err: line({
      error: { reason: error.reason ?? "internal", message: error.message, code: error.code, path },
    }),
  }),
  "lock-progress": (result) => ({ err: line(jsonLockProgress(result)) }),
  "lock-held": ({ environment }) => object(environment),
  locked: ({ path, node, token, count, mode }) =>
    object({ path, node, token: String(token), count, mode }),
  "own-locks": ({ locks }) => object({ locks: locks.map(jsonOwnLock) }),
  unlocked: ({ path, count }) => object({ path, count }),
  "once-found": (result) => object(jsonOnceFound(result)),
  "once-runs": (result) => object(jsonOnceRuns(result)),
  leader: ({ path, leader }) => object({ path, leader: leader ? jsonParty(leader) : null }),
  "lock-ended": () => ({}),
  locks: ({ reports, deadlocks, isExplained }) => ({
    out: [...reports.map((report) => jsonLock(report, isExplained)), ...deadlocks.map(jsonDeadlock)]
      .map(line)
      .join(""),
  }),
  "locks-watched": ({ changed }) => ({
    out: changed.map((report) => line(jsonLock(report))).join(""),
  }),
  "lock-board": ({ changed, newDeadlocks }) => ({
    out: [...changed.map((report) => jsonLock(report)), ...newDeadlocks.map(jsonDeadlock)]
      .map(line)
      .join(""),
  }),
  revocation: (result) => object(jsonRevocation(result)),
  sequencer: ({ node, czxid, isCurrent }) =>
    object({ node, czxid: hexId(czxid), current: isCurrent }),
  token: ({ path, token, before }) =>
    object({ path, token: String(token), ...(before !== undefined && { before: String(before) }) }),
  acl: ({ path, acl, stat }) => object({ path, acl: acl.map(jsonAcl), stat: jsonStat(stat) }),
  "acl-changed": ({ path, stat }) => object({ path, stat: jsonStat(stat) }),
  "tree-acl-changed": ({ path, count }) => object({ path, changed: count }),
  transaction: ({ steps, isDryRun, zxid }) =>
    object({
      dryRun: isDryRun,
      ...(zxid !== undefined && { zxid: hexId(zxid) }),
      results: steps.map(({ line: number, op, path, stat }) => ({
        line: number,
        op,
        path,
        ...(stat && { stat: jsonStat(stat) }),
      })),
    }),
  identified: ({ scheme }) => object({ scheme }),
  identities: ({ identities }) => object({ identities }),
  permission: (result) => object(jsonPermission(result)),
  "word-answer": (result) => object(jsonWordAnswer(result)),
  session: (result) => object(jsonSession(result)),
  sessions: (result) => object(jsonSessions(result)),
  "servers-tick": (result) => ({ out: jsonServersTick(result).map(line).join("") }),
  "server-failed": ({ server, error: { reason, message } }) => ({
    err: line({ error: { reason, message, server } }),
  }),
  finding: (result) => object(jsonFinding(result)),
  examined: (result) => ({ err: line({ examined: jsonExamined(result) }) }),
  synced: ({ path }) => object({ path }),
  ephemerals: ({ paths }) => object({ ephemerals: paths.toSorted() }),
  count: ({ path, count }) => object({ path, count }),
  config: ({ text, stat }) => object({ ...parseConfig(text), text, stat: jsonStat(stat) }),
  quota: ({ path, limits, usage }) =>
    object({ path, limits: jsonQuota(limits), ...(usage && { usage: jsonUsage(usage) }) }),
  "quota-changed": ({ path, limits, usage, exceeded }) =>
    object({ path, limits: jsonQuota(limits), usage: jsonUsage(usage), exceeded }),
  "quota-deleted": ({ path }) => object({ path }),
  "command-help": ({ kind: _, ...help }) => object(help),
  topic: ({ kind: _, ...topic }) => object(topic),
  "watch-added": ({ path, isRecursive }) => object({ path, isRecursive }),
  "watches-removed": ({ path, removed }) => object({ path, removed }),
  watched: jsonWatched,
  ran: ({ path, argv, end }) =>
    "code" in end && end.code === 0
      ? {}
      : { err: line({ notice: { event: "command-failed", path, argv, ...end } }) },
  "working-znode": ({ path }) => object({ path }),
  connected: ({ server, sessionId, isReadOnly }) =>
    object({ server, sessionId: hexId(sessionId), isReadOnly }),
  disconnected: () => object({ closed: true }),
  serving: ({ address, reach }) => object({ address, reach }),
  warning: ({ reason, message }) => ({ err: line({ warning: { reason, message } }) }),
  settings: ({ rows, file }) =>
    object({
      file: file ?? null,
      settings: Object.fromEntries(
        rows.map(({ name, value, origin }) => [name, { value, origin }]),
      ),
    }),
  history: ({ entries }) => ({ out: entries.map((entry) => line(entry)).join("") }),
  "watch-printing": ({ isOn }) => object({ printwatches: isOn }),
  "watch-event": ({ type, path, at }) =>
    object({ event: type, path, time: isoTime(at), timeMs: at }),
  version: ({ version }) => object({ version }),
};

function object(value: object): Rendered {
  return { out: line(value) };
}

function line(value: object): string {
  return `${escapeJson(JSON.stringify(value))}\n`;
}

function jsonWatched({ kind: _, ...result }: WatchedResult): Rendered {
  const { event, path } = result;
  const at = result.at === undefined ? undefined : isoTime(result.at);
  switch (event) {
    case "session-lost":
    case "session-replaced":
      return { err: line({ notice: { event, path, at } }) };
    case "unreadable":
      return { err: line({ notice: { event, path, message: result.error.message, at } }) };
    case "absent":
    case "deleted":
      return object({ event, path, at });
    case "children":
      return object({ event, path, added: result.added, removed: result.removed, at });
    default: {
      const { data, stat } = result;
      const version = stat.version;
      return object({
        event,
        path,
        version,
        ...jsonData({ data, encoding: "auto" }),
        stat: jsonStat(stat),
        at,
      });
    }
  }
}

/** Text where the bytes are text, so that nothing is lost either way. */
function jsonData({ data, encoding }: Pick<DataResult, "data" | "encoding">): {
  data: string | null;
  encoding: string;
} {
  if (data === null) return { data, encoding: encoding === "auto" ? "utf8" : encoding };
  if (encoding !== "auto") return { data: data.toString(encoding), encoding };
  const own = isUtf8(data) ? "utf8" : "base64";
  return { data: data.toString(own), encoding: own };
}

function jsonDifference(difference: Difference): object {
  const { kind, path } = difference;
  const side = ({ data, acl }: ComparedZnode) => ({
    ...jsonData({ data, encoding: "auto" }),
    ...(acl && { acl: acl.map(jsonAcl) }),
  });
  return {
    difference: kind,
    path: path || "/",
    ...("left" in difference && { left: side(difference.left) }),
    ...("right" in difference && { right: side(difference.right) }),
  };
}

function jsonAcl({ scheme, id, perms }: Acl): object {
  return { scheme, id, perms: formatPerms(perms) };
}

function jsonStat(stat: Stat): object {
  return {
    czxid: hexId(stat.czxid),
    mzxid: hexId(stat.mzxid),
    pzxid: hexId(stat.pzxid),
    ctime: isoTime(stat.ctime),
    ctimeMs: stat.ctime,
    mtime: isoTime(stat.mtime),
    mtimeMs: stat.mtime,
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    ephemeralOwner: hexId(stat.ephemeralOwner),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  };
}

function jsonError({
  reason,
  message,
  exitCode,
  where,
  command: _,
  isExpected: _isExpected,
  ...more
}: Failure): string {
  return line({ error: { reason, message, exitCode, ...more, ...where } });
}
