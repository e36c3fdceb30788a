/** The help topics: the pages that are not about one command. */

import type { HelpRow, TopicResult } from "../../results/help.ts";
import type { CommandEntry, CommandGroup, Program } from "../command.ts";
import { EXIT_CODES } from "./exit-codes.ts";
import { lockTopic } from "./lock-topic.ts";
import { optionsTopic } from "./options-topic.ts";
import { pipesTopic } from "./pipes-topic.ts";
import { saslTopic } from "./sasl-topic.ts";
import { serversTopic } from "./servers-topic.ts";
import { settingsTopic } from "./settings-topic.ts";
import { tlsTopic } from "./tls-topic.ts";
import { variablesTopic } from "./variables-topic.ts";

export interface Topic {
  readonly name: string;
  readonly summary: string;
  sections(program: Program): TopicResult["sections"];
}

const GROUPS: Readonly<Record<CommandGroup, string>> = {
  znodes: "Znodes",
  trees: "Trees",
  locks: "Locks",
  access: "Access",
  watches: "Watches",
  quotas: "Quotas",
  server: "Servers",
  shell: "Shell",
};

/** Returns the commands by group, without empty groups. */
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
  pipesTopic,
  variablesTopic,
  {
    name: "commands",
    summary: "all commands with their summaries",
    sections: ({ commands }) => byGroup(commands),
  },
  optionsTopic,
  tlsTopic,
  settingsTopic,
  saslTopic,
  serversTopic,
  {
    name: "output",
    summary: "what goes to stdout and stderr, and in which format",
    sections: () => [
      { text: "Results go to stdout. Errors, warnings, questions and progress go to stderr." },
      {
        title: "Formats",
        rows: [
          {
            term: "text on a terminal",
            summary: "for people: columns, colour, indented JSON, hex dumps",
          },
          {
            term: "text in a pipe",
            summary: "for programs: one name per line, exact bytes, ISO-8601 times in UTC",
          },
          {
            term: "--json",
            summary:
              'one JSON object per line; zxids and session ids are "0x…" strings, data is {"data": …, "encoding": "utf8" or ' +
              '"base64"}; an error is one JSON object on stderr',
          },
          { term: "-o zkcli", summary: "stdout exactly like zkCli 3.8" },
        ],
      },
      {
        title: "Colour",
        text:
          "--color always or never decides. Otherwise NO_COLOR turns colour off and FORCE_COLOR " +
          "turns it on. Otherwise only a terminal has colour.",
      },
    ],
  },
  {
    name: "exit-codes",
    summary: "the exit codes of zksh",
    sections: () => [
      { rows: EXIT_CODES },
      {
        text:
          "lock, rwlock, sem and elect end with the exit code of their command, or with codes of " +
          "their own: see help locks.",
      },
      {
        text:
          "A script stops at the first failure and ends with its code. With --keep-going it " +
          "continues and ends with 8.",
      },
    ],
  },
  {
    name: "environment",
    summary: "the environment variables of zksh",
    sections: ({ globalOptions }) => [
      {
        rows: [
          ...globalOptions.flatMap(({ env, term }) =>
            env === undefined ? [] : [{ term: env, summary: `like ${term}` }],
          ),
          {
            term: "ZKSH_PAGER, PAGER",
            summary:
              "the pager for results longer than the screen (less -FRX); empty or cat: none; not in pipes",
          },
          { term: "NO_COLOR", summary: "no colour" },
          { term: "FORCE_COLOR", summary: "colour even in a pipe; NO_COLOR wins" },
          { term: "TERM", summary: "dumb means no colour" },
        ],
      },
      {
        text:
          "lock, rwlock, sem, elect and watch set ZKSH_SERVER for the command they run, and the " +
          "variables of the timeout " +
          "and TLS options that were given, so that a zksh in the command uses the same " +
          "servers. Of a login by SASL they pass on who logs in and the names of files (ZKSH_SASL, " +
          "ZKSH_SASL_FILE, ZKSH_JAAS). They do not pass on --auth, --auth-file and passwords.",
      },
    ],
  },
  {
    name: "quoting",
    summary: "quotes, escapes, comments, paths and data",
    sections: () => [
      {
        rows: [
          { term: "'…'", summary: "takes everything literally" },
          {
            term: '"…"',
            summary:
              'takes everything literally except variables and escapes as in C: \\n \\t \\r \\0 \\" \\\\ \\x1b \\u200b \\$',
          },
          { term: "a'b c'd", summary: "joins adjacent pieces into one word" },
          { term: '{"k":1}', summary: "keeps its quotes, because the word is JSON" },
          { term: "; or a line end", summary: "ends the command" },
          { term: "# …", summary: "starts a comment at the beginning of a word" },
          { term: "| …", summary: "behind a blank: pipes the line to a command (help pipes)" },
          { term: "$x", summary: "is replaced by a variable, not in '…' (help variables)" },
          { term: "--", summary: "ends the options: set /a -- -5" },
        ],
      },
      {
        title: "Data and paths",
        rows: [
          { term: "-", summary: "as data: all of stdin, byte for byte" },
          { term: "@file", summary: "as data: the contents of the file; @@x is the text @x" },
          {
            term: "/a/*/b",
            summary:
              "ls, get, stat, exists, delete and deleteall: each znode that matches; * ? and [a-z] stand for names of one " +
              "level, quoted ones for themselves. A znode of exactly that name is meant alone. A command that writes asks " +
              "first, with the list",
          },
          { term: "a/b, ..", summary: "paths without a leading / start at the working znode (cd)" },
        ],
      },
    ],
  },
];
