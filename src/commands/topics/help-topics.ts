/** The pages of `help` that are not about one command. */

import type { HelpRow, TopicResult } from "../../results/help.ts";
import type { CommandEntry, CommandGroup, Program } from "../command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { lockTopic } from "./lock-topic.ts";
import { optionsTopic } from "./options-topic.ts";

export interface Topic {
  readonly name: string;
  readonly summary: string;
  sections(program: Program): TopicResult["sections"];
}

const GROUPS: Readonly<Record<CommandGroup, string>> = {
  znodes: "Znodes",
  locks: "Locks",
  access: "Access",
  watches: "Watches",
  quotas: "Quotas",
  server: "Servers",
  shell: "Shell",
};

/** The commands of each group that has any. */
export function byGroup(commands: readonly CommandEntry[]): { title: string; rows: HelpRow[] }[] {
  return Object.entries(GROUPS)
    .map(([group, title]) => ({
      title,
      rows: commands
        .filter((entry) => entry.group === group)
        .map(({ name, summary }) => ({ term: name, summary })),
    }))
    .filter(({ rows }) => rows.length > 0);
}

export const topics: readonly Topic[] = [
  lockTopic,
  {
    name: "commands",
    summary: "all commands with a line each",
    sections: ({ commands }) => byGroup(commands),
  },
  optionsTopic,
  {
    name: "output",
    summary: "what is written where, and in which form",
    sections: () => [
      { text: "stdout carries results only. Notes, questions, progress and errors go to stderr." },
      {
        title: "Forms",
        rows: [
          {
            term: "text on a terminal",
            summary: "made for people: columns, colour, indented JSON, hex dumps",
          },
          {
            term: "text in a pipe",
            summary: "made for programs: one name a line, exact bytes, ISO-8601 times in UTC",
          },
          {
            term: "--json",
            summary:
              'one object a line; zxids and session ids are "0x…" strings, data is {"data": …, "encoding": "utf8" or ' +
              '"base64"}; an error is one object on stderr',
          },
          { term: "-o zkcli", summary: "stdout exactly as zkCli 3.8 writes it" },
        ],
      },
      {
        title: "Colour",
        text: "--color always or never decides; else NO_COLOR turns it off, FORCE_COLOR on; else a terminal has it.",
      },
    ],
  },
  {
    name: "exit-codes",
    summary: "what the exit code says",
    sections: () => [
      { rows: EXIT_CODES },
      {
        text: "lock, rwlock, sem and elect let the code of their command through: see help locks.",
      },
      {
        text: "A script stops at its first failure with that code; with --keep-going it goes on and ends with 8.",
      },
    ],
  },
  {
    name: "environment",
    summary: "variables that stand for options",
    sections: ({ globalOptions }) => [
      {
        rows: [
          ...globalOptions.flatMap(({ env, term }) =>
            env === undefined ? [] : [{ term: env, summary: `as ${term}` }],
          ),
          { term: "NO_COLOR", summary: "no colour" },
          { term: "FORCE_COLOR", summary: "colour even in a pipe; NO_COLOR wins" },
          { term: "TERM", summary: "dumb: no colour" },
        ],
      },
      {
        text:
          "The commands that lock, rwlock, sem, elect and watch run find ZKSH_SERVER set to the servers in use, and the " +
          "timeouts and TLS options that were given: a zksh in there asks the same servers. --auth and --auth-file are " +
          "not passed on.",
      },
    ],
  },
  {
    name: "quoting",
    summary: "how a line becomes words, paths and data",
    sections: () => [
      {
        rows: [
          { term: "'…'", summary: "everything as it stands" },
          {
            term: '"…"',
            summary:
              'as it stands, but \\n \\t \\r \\0 \\" \\\\ \\x1b \\u200b are what they are in C',
          },
          { term: "a'b c'd", summary: "adjacent pieces join: one word" },
          { term: '{"k":1}', summary: "a word that is JSON keeps its quotes" },
          { term: "; or a line end", summary: "ends the command" },
          { term: "# …", summary: "a comment, at the beginning of a word" },
          { term: "--", summary: "what follows is no option: set /a -- -5" },
        ],
      },
      {
        title: "Data and paths",
        rows: [
          { term: "-", summary: "as data: all of stdin, byte for byte" },
          { term: "@file", summary: "as data: the file; @@x is the text @x" },
          { term: "a/b, ..", summary: "paths without a first / start at the working znode (cd)" },
        ],
      },
    ],
  },
];
