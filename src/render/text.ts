/** For people on a terminal, and for pipes: one value a line, exact bytes, UTC times. */
import type { ChildrenResult, CommandHelpResult, DataResult, HelpResult, HelpRow } from "../result.ts";
import type { Stat } from "../session/session.ts";
import { hexDump, isReadable } from "./bytes.ts";
import { type Cell, columns, displayWidth } from "./columns.ts";
import { escapeName, escapeText } from "./escape.ts";
import { prettyJson } from "./pretty-json.ts";
import { type Failure, type Rendered, type Renderer, type ResultRenderers, renderWith, type View } from "./renderer.ts";
import { isoTime, readableTime, statLines } from "./stat.ts";

export function textRenderer(view: View): Renderer {
  const renderers = textRenderers(view);
  return {
    result: (result) => renderWith(renderers, result),
    error: (failure) => textError(failure, view),
  };
}

function textRenderers(view: View): ResultRenderers {
  const { isTTY, isQuiet } = view;
  const name = isTTY ? escapeName : (text: string) => text;
  const stat = (of: Stat) => statLines(of, isTTY ? (ms) => readableTime(ms, view.now()) : isoTime);
  const confirm = (text: string) => (isTTY && !isQuiet ? text : "");
  return {
    data: (result) => textData(result, view, stat),
    children: (result) => ({ out: textChildren(result, view) + (result.stat ? stat(result.stat) : "") }),
    paths: ({ paths }) => ({ out: paths.length === 0 ? "" : `${paths.map(name).join("\n")}\n` }),
    created: ({ path, isShortLived }) => ({
      out: isTTY ? `Created ${name(path)}\n` : `${path}\n`,
      ...(isShortLived && !isQuiet && { err: "note: an ephemeral ends with its session, and this session ends now\n" }),
    }),
    changed: (result) => ({
      out: result.withStat
        ? stat(result.stat)
        : confirm(`Changed ${name(result.path)} (version ${result.stat.version})\n`),
    }),
    existence: ({ path, exists }) => ({ out: confirm(`${name(path)} ${exists ? "exists" : "does not exist"}\n`) }),
    deleted: ({ path }) => ({ out: confirm(`Deleted ${name(path)}\n`) }),
    stat: (result) => ({ out: stat(result.stat) }),
    help: (result) => ({ out: textHelp(result, view) }),
    "command-help": (result) => ({ out: textCommandHelp(result, view) }),
    version: ({ version }) => ({ out: `zksh ${version}\n` }),
  };
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
  if (!isTTY) return children.map((name) => `${name}\n`).join("");
  const cells = children.map((name): Cell => {
    const text = escapeName(name);
    const stat = childStats?.get(name);
    if (stat && stat.ephemeralOwner !== 0n) return { text: `${text}*`, colored: `${colors.ephemeral(text)}*` };
    if (stat && stat.numChildren > 0) return { text: `${text}/`, colored: `${colors.parent(text)}/` };
    return { text };
  });
  return columns(cells, width);
}

function textHelp({ groups }: HelpResult, { colors }: View): string {
  const width = Math.max(...groups.flatMap(({ rows }) => rows.map(({ term }) => displayWidth(term))));
  const sections = groups.map(({ title, rows }) => section(title, table(rows, width), colors));
  return ["Usage: zksh [options] command [args]\n", ...sections, "help COMMAND shows one command in full\n"].join("\n");
}

function textCommandHelp(help: CommandHelpResult, { colors }: View): string {
  const rows = [...help.args, ...help.options];
  const width = Math.max(0, ...rows.map(({ term }) => displayWidth(term)));
  return [
    `${help.name}: ${help.summary}\n`,
    section("Examples", help.examples.map((example) => `  ${example}\n`).join(""), colors),
    section("Usage", `  ${help.usage}\n`, colors),
    section("Arguments", table(help.args, width), colors),
    section("Options", table(help.options, width), colors),
    help.aliases.length > 0 ? section("Also called", `  ${help.aliases.join(", ")}\n`, colors) : "",
    help.details === undefined ? "" : `${help.details}\n`,
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function section(title: string, body: string, colors: View["colors"]): string {
  return body === "" ? "" : `${colors.heading(title)}\n${body}`;
}

function table(rows: readonly HelpRow[], width: number): string {
  return rows.map(({ term, summary }) => `  ${term}${" ".repeat(width - displayWidth(term))}  ${summary}\n`).join("");
}

function textError({ message, hint, stack, where }: Failure, { colors }: View): string {
  const at = where === undefined ? "" : `${escapeName(where.file)}:${where.line}: `;
  const lines = [`${at}${colors.error("error:")} ${escapeName(message)}`];
  if (hint !== undefined) lines.push(colors.faint(`  ${escapeName(hint)}`));
  if (stack !== undefined) lines.push(colors.faint(escapeText(stack)));
  return `${lines.join("\n")}\n`;
}
