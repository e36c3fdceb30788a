/** Help pages for people. The overview is made to fit one screen of 24 lines by 80 columns. */
import type { CommandHelpResult, HelpResult, HelpRow, TopicResult } from "../results/help.ts";
import { displayWidth } from "./display-width.ts";
import type { View } from "./renderer.ts";
import type { Paint, Theme } from "./theme.ts";
import { wrapText } from "./wrap-text.ts";

const WIDTH = 80;
/** Options and paths are for copying. */
const WHOLE = { keepsWords: true };

export function textHelp({ groups, topics, aliases }: HelpResult, { theme }: View): string {
  const own = { title: "Your aliases", rows: aliases };
  const listed = aliases.length > 0 ? [...groups, own] : groups;
  const indent = Math.max(...listed.map(({ title }) => displayWidth(title))) + 2;
  const lines = listed.map(({ title, rows }) => {
    const names = wrapText(rows.map(({ term }) => term).join("  "), WIDTH - indent, {
      ...WHOLE,
      gap: "  ",
    });
    return `${theme.heading(title)}${" ".repeat(indent - displayWidth(title))}${names.join(`\n${" ".repeat(indent)}`)}\n`;
  });
  const width = widthOf(EXAMPLES);
  const pages = topics.map(({ term }) => term.replace(/^help /, "")).join(", ");
  return [
    "zksh [options] [command [args]]        without a command: the interactive shell\n",
    lines.join(""),
    section("Examples", table(EXAMPLES, width, command(theme)), theme),
    table(
      [
        { term: "help COMMAND", summary: "one command in full, examples first" },
        { term: "help TOPIC", summary: pages },
      ],
      width,
      (term) => term.replace(/[A-Z]+/, (word) => theme.placeholder(word)),
    ),
  ].join("\n");
}

const EXAMPLES: readonly HelpRow[] = [
  { term: "zksh -s zk1,zk2/app ls -R /", summary: "every znode below /app" },
  { term: "zksh -c 'create /a x; get /a'", summary: "a script; -f FILE and stdin work too" },
  { term: "zksh lock /deploy -- make", summary: "run a program under a lock" },
  { term: "zksh whoholds /deploy", summary: "who has it, and who waits" },
];

export function textCommandHelp(help: CommandHelpResult, { theme }: View): string {
  const width = widthOf([...help.args, ...help.options]);
  return [
    `${theme.heading(`${help.name}:`)} ${help.summary}\n`,
    section(
      "Examples",
      help.examples.map((example) => `  ${command(theme)(example)}\n`).join(""),
      theme,
    ),
    section("Usage", usageLines(help, theme) + table(help.args, width, placeholders(theme)), theme),
    section("Options", table(help.options, width, placeholders(theme)), theme),
    help.aliases.length > 0 ? section("Also called", `  ${help.aliases.join(", ")}\n`, theme) : "",
    help.details === undefined ? "" : paragraph(help.details),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

function usageLines({ name, usage }: CommandHelpResult, theme: Theme): string {
  const lines = displayWidth(usage) <= WIDTH - 2 ? [usage] : wrapText(usage, WIDTH - 6, WHOLE);
  const text = lines.join("\n      ");
  return `  ${name}${placeholders(theme)(text.slice(name.length))}\n`;
}

/** Paints the first word of a line that can be typed. */
function command(theme: Theme): Paint {
  return (line) => line.replace(/^\S+/, (word) => theme.command(word));
}

/**
 * Paints the words that stand for a value: `-w, --wait dur`, `[paths...]`, `--auth SCHEME:CRED`.
 */
function placeholders(theme: Theme): Paint {
  return (term) => term.replace(/(?<![\w-])[a-z][\w:]*/gi, (word) => theme.placeholder(word));
}

export function textTopic({ name, summary, sections }: TopicResult, { theme }: View): string {
  const parts = sections.map(({ title, text, rows = [] }) => {
    const paint: Paint = (term) => (term.startsWith("-") ? placeholders(theme)(term) : term);
    const body = (text === undefined ? "" : paragraph(text)) + table(rows, widthOf(rows), paint);
    return title === undefined ? body : section(title, body, theme);
  });
  return [`${theme.heading(`${name}:`)} ${summary}\n`, ...parts].join("\n");
}

function section(title: string, body: string, theme: Theme): string {
  return body === "" ? "" : `${theme.heading(title)}\n${body}`;
}

function widthOf(rows: readonly HelpRow[]): number {
  return Math.max(0, ...rows.map(({ term }) => displayWidth(term)));
}

function table(rows: readonly HelpRow[], width: number, paint: Paint): string {
  const indent = `\n${" ".repeat(width + 4)}`;
  return rows
    .map(({ term, summary }) => {
      const lines = wrapText(summary, Math.max(WIDTH - width - 4, WIDTH / 3), WHOLE);
      return `  ${paint(term)}${" ".repeat(width - displayWidth(term))}  ${lines.join(indent)}\n`;
    })
    .join("");
}

function paragraph(text: string): string {
  return `${wrapText(text, WIDTH, WHOLE).join("\n")}\n`;
}
