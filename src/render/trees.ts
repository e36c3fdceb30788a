/** Results of `tree`, `find`, `grep` and `du` as text. */

import { isUtf8 } from "node:buffer";
import type { Condition } from "../recipes/watching/wait-for-znode.ts";
import type {
  DiskUsageResult,
  ExportedResult,
  GrepMatch,
  KeptForUndoResult,
  LargestResult,
  SizeUnit,
  SubtreeSize,
  TreeLine,
  TreeMovedResult,
  TreeResult,
  TreeWrittenResult,
} from "../results/trees.ts";
import { kindOf } from "../session/node-kind.ts";
import { baseName } from "../session/path.ts";
import { escapeText, escapeTextControls } from "../text/escape.ts";
import { formatSize } from "../text/size.ts";
import { namesFor, type Rendered, type ResultRenderers, type View } from "./renderer.ts";
import { cut } from "./table.ts";
import { textDifference } from "./tree-diff.ts";

type TreeRenderers = Pick<ResultRenderers, TreeResult["kind"]>;

export function treeRenderers(view: View): TreeRenderers {
  const name = namesFor(view);
  const data = view.isTTY ? escapeText : escapeTextControls;
  return {
    "tree-lines": ({ lines }) => ({ out: lines.map((line) => drawn(line, view)).join("") }),
    found: ({ paths, endsWithNul }) => ({
      out: endsWithNul
        ? paths.map((path) => `${path}\0`).join("")
        : paths.map((path) => `${name(path)}\n`).join(""),
    }),
    "grep-matches": ({ matches }) => ({
      out: matches.map((match) => `${grepLine(match, view, data)}\n`).join(""),
    }),
    "no-match": () => ({
      ...(view.isTTY && !view.isQuiet && { err: `${view.theme.faint("(no matches)")}\n` }),
    }),
    "disk-usage": (result) => ({ out: diskUsage(result, view) }),
    largest: (result) => ({ out: largest(result, view) }),
    difference: (result) => ({ out: textDifference(result, view) }),
    differs: () => ({}),
    "tree-file": ({ text }) => ({ out: view.isTTY ? data(text) : text }),
    exported: (result) => exported(result, view),
    "tree-written": (result) => written(result, view),
    "tree-moved": (result) => moved(result, view),
    "kept-for-undo": (result) => (view.isQuiet ? {} : { err: keptForUndo(result, view) }),
    waited: ({ path, condition }) => ({
      ...(view.isTTY && !view.isQuiet && { out: `${name(path)} ${metCondition(condition)}\n` }),
    }),
    "near-limit": ({ path, what, bytes, limit }) => ({
      err:
        `${view.theme.warning("warning:")} the ${what === "data" ? "data" : "list of children"} of ${name(path)} ` +
        `takes ${formatSize(bytes)} of the ${formatSize(limit)} that servers allow by default (jute.maxbuffer)\n`,
    }),
  };
}

function metCondition(condition: Condition): string {
  if (condition.kind === "children") return `has ${childCount(condition.count)}`;
  return { exists: "exists", gone: "is gone", value: "has the value" }[condition.kind];
}

const MAX_NAMED = 20;

function exported(
  { path, file, znodes, ephemerals, changed, reread = 0, isEveryChangeKnown }: ExportedResult,
  view: View,
): Rendered {
  const name = namesFor(view);
  const lines: string[] = [];
  if (view.isTTY && !view.isQuiet) {
    const left = ephemerals > 0 ? `; ${counted(ephemerals, "ephemeral")} left out` : "";
    const to = file === undefined ? "" : ` to ${name(file)}`;
    const again = reread > 0 ? `; ${counted(reread, "znode")} read again` : "";
    lines.push(`Exported ${counted(znodes, "znode")} of ${name(path)}${to}${left}${again}`);
  }
  const warnings = changeWarnings("export", { changed, isEveryChangeKnown }, view);
  return { err: lines.map((line) => `${line}\n`).join("") + warnings };
}

/** What became of the source while it was read. */
function changeWarnings(
  work: "export" | "copy",
  {
    changed,
    isEveryChangeKnown,
  }: Pick<ExportedResult | TreeWrittenResult, "changed" | "isEveryChangeKnown">,
  view: View,
): string {
  const warning = view.theme.warning("warning:");
  const verb = changed.length === 1 ? "was" : "were";
  const names = changed.slice(0, MAX_NAMED).map(namesFor(view)).join(", ");
  const more = changed.length > MAX_NAMED ? ", …" : "";
  const named =
    changed.length === 0
      ? ""
      : `${warning} ${counted(changed.length, "znode")} ${verb} changed during the ${work}: ${names}${more}\n`;
  const unknown = isEveryChangeKnown
    ? ""
    : `${warning} changes during the ${work} may be missing from this list: the connection broke, ` +
      "the server is older than 3.6, or more than 10,000 znodes changed\n";
  return named + unknown;
}

function written(result: TreeWrittenResult, view: View): Rendered {
  const { path, created, overwritten, unchanged, skipped, ephemerals, pruned, failed, isDryRun } =
    result;
  const { childrenLeft } = result;
  const warnings = changeWarnings("copy", result, view);
  if (view.isQuiet || (!view.isTTY && failed === 0 && !isDryRun)) return { err: warnings };
  const parts = [
    `${counted(created, "znode")} ${isDryRun ? "would be created" : "created"}`,
    overwritten > 0 ? `${separated(overwritten)} overwritten` : "",
    unchanged > 0 ? `${separated(unchanged)} unchanged` : "",
    skipped > 0 ? `${separated(skipped)} skipped` : "",
    pruned > 0 ? `${separated(pruned)} deleted` : "",
    ephemerals > 0 ? `${counted(ephemerals, "ephemeral")} left out` : "",
    childrenLeft > 0 ? `${childCount(childrenLeft)} left out (-r copies what is below)` : "",
    failed > 0 ? `${separated(failed)} failed` : "",
  ];
  const text = parts.filter((part) => part !== "").join(", ");
  const line = `${namesFor(view)(path)}: ${text}\n`;
  return isDryRun || view.isTTY ? { out: line, err: warnings } : { err: line + warnings };
}

function moved({ from, to, znodes, isAtomic, isDryRun }: TreeMovedResult, view: View): Rendered {
  if (view.isQuiet || (!view.isTTY && !isDryRun)) return {};
  const name = namesFor(view);
  const how = isAtomic ? "atomic: one transaction" : "not atomic: copied, compared, then deleted";
  const verb = isDryRun ? "Would move" : "Moved";
  return { out: `${verb} ${name(from)} to ${name(to)}: ${counted(znodes, "znode")} (${how})\n` };
}

/** `29,500`. */
function separated(number: number): string {
  return number.toLocaleString("en-US");
}

function counted(number: number, noun: string): string {
  return `${separated(number)} ${noun}${number === 1 ? "" : "s"}`;
}

function drawn({ path, isLast, stat, data, showsStat }: TreeLine, view: View): string {
  const { isTTY, isAscii, theme, columns } = view;
  const [bar, tee, corner] = isAscii ? ["|   ", "|-- ", "`-- "] : ["│   ", "├── ", "└── "];
  const branches = isLast
    .map((last, level) => {
      if (level < isLast.length - 1) return last ? "    " : bar;
      return last ? corner : tee;
    })
    .join("");
  const plainName = namesFor(view)(isLast.length === 0 ? path : baseName(path));
  const isEphemeral = stat !== undefined && kindOf(stat) === "ephemeral";
  const label = isEphemeral ? `${theme.ephemeral(plainName)}${isTTY ? "*" : ""}` : plainName;
  const sizes =
    stat && showsStat
      ? `  ${theme.faint(`${formatSize(stat.dataLength)}, ${childCount(stat.numChildren)}`)}`
      : "";
  const text = data === undefined || data === null ? "" : shortData(data);
  if (text === "") return `${branches}${label}${sizes}\n`;
  const room = isTTY ? Math.max(10, columns - branches.length - plainName.length - 3) : 80;
  const shown = isTTY ? escapeText(text) : escapeTextControls(text);
  return `${branches}${label}${sizes}  ${theme.string(cut(shown, room))}\n`;
}

function childCount(children: number): string {
  return children === 1 ? "1 child" : `${children} children`;
}

/** More than fits on any line is not decoded. */
const MAX_SHOWN = 1_000;

function shortData(data: Buffer): string {
  if (data.length === 0) return "";
  if (!isUtf8(data)) return `(${formatSize(data.length)} of binary data)`;
  return data.toString("utf8", 0, MAX_SHOWN).replace(/\s+/g, " ").trim();
}

function grepLine(match: GrepMatch, view: View, data: (text: string) => string): string {
  const { theme } = view;
  const path = theme.path(namesFor(view)(match.path));
  if (match.kind === "path") return path;
  if (match.kind === "count") return `${path}:${match.count}`;
  if (match.kind === "binary") return `${path}: binary match`;
  return `${path}:${theme.number(String(match.line))}:${data(match.text)}`;
}

function diskUsage({ subtrees, by }: DiskUsageResult, view: View): string {
  const name = namesFor(view);
  const cells = (subtree: SubtreeSize) => columnsBy(by).map((unit) => cell(subtree, unit, view));
  if (!view.isTTY)
    return subtrees.map((one) => `${cells(one).join("\t")}\t${name(one.path)}\n`).join("");
  const widths = columnsBy(by).map((unit) => (unit === "bytes" ? 9 : 14));
  const line = (one: SubtreeSize) =>
    cells(one)
      .map((text, index) => text.padStart(widths[index] ?? 0))
      .join("  ");
  return subtrees.map((one) => `${line(one)}  ${name(one.path)}\n`).join("");
}

/** What is sorted by comes first; the column of children only where it is asked for. */
function columnsBy(by: SizeUnit): readonly SizeUnit[] {
  if (by === "bytes") return ["bytes", "znodes"];
  return by === "znodes" ? ["znodes", "bytes"] : ["children", "znodes", "bytes"];
}

const UNIT_WORDS = { bytes: "bytes", znodes: "znodes", children: "children" } as const;

function cell(subtree: SubtreeSize, unit: SizeUnit, { isTTY }: View): string {
  if (unit === "bytes") return isTTY ? formatSize(subtree.bytes) : String(subtree.bytes);
  const number = String(subtree[unit]);
  if (!isTTY) return number;
  return `${number} ${subtree[unit] === 1 ? UNIT_WORDS[unit].replace(/(ren)?s?$/, "") : UNIT_WORDS[unit]}`;
}

function largest({ znodes, subtrees, parents }: LargestResult, view: View): string {
  const { isTTY, theme } = view;
  const name = namesFor(view);
  const size = (bytes: number) => (isTTY ? formatSize(bytes).padStart(10) : String(bytes));
  const sections = [
    {
      title: "largest znodes",
      kind: "znode",
      rows: znodes.map(({ path, bytes }) => [size(bytes), path]),
    },
    {
      title: "largest subtrees",
      kind: "subtree",
      rows: subtrees.map(({ path, bytes, znodes: below }) => [
        isTTY ? `${size(bytes)}  ${String(below).padStart(9)} znodes` : `${bytes}\t${below}`,
        path,
      ]),
    },
    {
      title: "widest parents",
      kind: "parent",
      rows: parents.map(({ path, children }) => [
        isTTY ? `${String(children).padStart(10)} children` : String(children),
        path,
      ]),
    },
  ];
  return sections
    .map(({ title, kind, rows }) => {
      const lines = rows.map(([text = "", path = ""]) =>
        isTTY ? `${text}  ${name(path)}\n` : `${kind}\t${text}\t${name(path)}\n`,
      );
      return (isTTY ? `${theme.heading(title)}\n` : "") + lines.join("");
    })
    .join(isTTY ? "\n" : "");
}

/** Said before anything is destroyed. */
function keptForUndo(
  { znodes, bytes, ephemerals, unreadable }: KeptForUndoResult,
  { theme }: View,
): string {
  const count = (number: number, what: string) =>
    `${number.toLocaleString("en-US")} ${what}${number === 1 ? "" : "s"}`;
  const lost = [
    "versions and times",
    ...(ephemerals > 0 ? [count(ephemerals, "ephemeral")] : []),
    ...(unreadable > 0 ? [`${count(unreadable, "znode")} that cannot be read`] : []),
  ];
  const kept = `undo can bring back ${count(znodes, "znode")} (${formatSize(bytes)})`;
  return `${theme.faint(`${kept}, but not ${lost.join(", nor ")}`)}\n`;
}
