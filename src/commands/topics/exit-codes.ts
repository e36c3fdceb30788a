/** The exit codes, as `help exit-codes` lists them. */
import type { HelpRow } from "../../results/help.ts";

export const EXIT_CODES: readonly HelpRow[] = [
  { term: "0", summary: "done, or true" },
  { term: "1", summary: "a false answer (exists), or a server refusal not listed below" },
  { term: "2", summary: "usage: unknown command, bad argument, bad path" },
  { term: "3", summary: "no such znode" },
  { term: "4", summary: "not permitted, or authentication failed" },
  { term: "5", summary: "conflict: node exists, bad version, not empty, child of an ephemeral" },
  { term: "6", summary: "cannot connect, connection lost, session expired" },
  { term: "7", summary: "a deadline passed" },
  { term: "8", summary: "partly failed (recursive commands, --keep-going)" },
  {
    term: "9",
    summary: "refused: confirmation needed without a terminal, read-only, protected path",
  },
  { term: "70", summary: "a bug in zksh; --debug shows where" },
  { term: "129", summary: "hung up: the terminal was closed" },
  { term: "130", summary: "interrupted (Ctrl-C)" },
  { term: "141", summary: "the reader of a script's output went away before its last line" },
  { term: "143", summary: "terminated" },
];
