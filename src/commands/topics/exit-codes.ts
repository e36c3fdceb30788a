/** The exit codes, as `help exit-codes` lists them. */
import type { HelpRow } from "../../results/help.ts";

export const EXIT_CODES: readonly HelpRow[] = [
  { term: "0", summary: "done, or true" },
  {
    term: "1",
    summary: "false (exists, whoholds), or an error of the server that has no code below",
  },
  { term: "2", summary: "usage: unknown command, bad argument, bad path" },
  { term: "3", summary: "no such znode" },
  { term: "4", summary: "not permitted, or authentication failed" },
  { term: "5", summary: "conflict: node exists, bad version, not empty, child of an ephemeral" },
  { term: "6", summary: "cannot connect, connection lost, session expired" },
  { term: "7", summary: "a deadline passed" },
  { term: "8", summary: "partly failed (several znodes, --keep-going)" },
  {
    term: "9",
    summary: "refused: no terminal for a confirmation, read-only, protected path",
  },
  { term: "70", summary: "a bug in zksh; --debug prints the stack trace" },
  { term: "129", summary: "the terminal was closed (SIGHUP)" },
  { term: "130", summary: "interrupted (Ctrl-C, SIGINT)" },
  {
    term: "141",
    summary: "the reader of a script's output, such as head, ended before the script",
  },
  { term: "143", summary: "terminated (SIGTERM)" },
];
