/** The pages of `help` that are not about one command. */

import type { HelpRow, TopicResult } from "../results/help.ts";
import type { CommandEntry, CommandGroup, Program } from "./command.ts";
import { lockTopic } from "./lock-topic.ts";

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
      rows: commands.filter((entry) => entry.group === group).map(({ name, summary }) => ({ term: name, summary })),
    }))
    .filter(({ rows }) => rows.length > 0);
}

const EXIT_CODES: readonly HelpRow[] = [
  { term: "0", summary: "done, or true" },
  { term: "1", summary: "a false answer (exists), or a server refusal not listed below" },
  { term: "2", summary: "usage: unknown command, bad argument, bad path" },
  { term: "3", summary: "no such znode" },
  { term: "4", summary: "not permitted, or authentication failed" },
  { term: "5", summary: "conflict: node exists, bad version, not empty, child of an ephemeral" },
  { term: "6", summary: "cannot connect, connection lost, session expired" },
  { term: "7", summary: "a deadline passed" },
  { term: "8", summary: "partly failed (recursive commands, --keep-going)" },
  { term: "9", summary: "refused: confirmation needed without a terminal, read-only, protected path" },
  { term: "70", summary: "a bug in zksh; --debug shows where" },
  { term: "129", summary: "hung up: the terminal was closed" },
  { term: "130", summary: "interrupted (Ctrl-C)" },
  { term: "143", summary: "terminated" },
];

export const topics: readonly Topic[] = [
  lockTopic,
  {
    name: "commands",
    summary: "all commands with a line each",
    sections: ({ commands }) => byGroup(commands),
  },
  {
    name: "options",
    summary: "options of zksh itself",
    sections: ({ globalOptions }) => [
      {
        text:
          "Long options may stand before or after the command, short ones only before it. zkCli's spellings (-server, " +
          "-timeout, -r) are understood too.",
      },
      { rows: globalOptions.map(({ term, summary }) => ({ term, summary })) },
    ],
  },
  {
    name: "output",
    summary: "what is written where, and in which form",
    sections: () => [
      { text: "stdout carries results only. Notes, questions, progress and errors go to stderr." },
      {
        title: "Forms",
        rows: [
          { term: "text on a terminal", summary: "made for people: columns, colour, indented JSON, hex dumps" },
          { term: "text in a pipe", summary: "made for programs: one name a line, exact bytes, ISO-8601 times in UTC" },
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
      { text: "lock, rwlock, sem and elect let the code of their command through: see help locks." },
      { text: "A script stops at its first failure with that code; with --keep-going it goes on and ends with 8." },
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
          { term: '"…"', summary: 'as it stands, but \\n \\t \\r \\0 \\" \\\\ are what they are in C' },
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
