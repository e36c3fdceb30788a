import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

/** Mistakes are found before anything is asked of a server; what locks do is shown in test/e2e. */
const rows: Row[] = [
  {
    name: "wants a path",
    argv: ["lock"],
    stderr: "error: no path given\n  lock PATH... [-- COMMAND...]\n",
    exit: 125,
  },
  {
    name: "takes a word without a slash for a command",
    argv: ["lock", "/deploy", "./deploy.sh"],
    stderr:
      "error: './deploy.sh' is not a lock path (paths start with /); put the command after --: lock /x -- ./deploy.sh\n",
    exit: 125,
  },
  {
    name: "does not lock the root",
    argv: ["lock", "/", "--", "true"],
    stderr: "error: / cannot be locked\n  choose another path, for example /locks/deploy\n",
    exit: 125,
  },
  {
    name: "wants a command behind --",
    argv: ["lock", "/a", "--"],
    stderr:
      "error: there is no command after --\n  lock [-n] [-w dur] [--explain] [--recipe name] [paths...] [-- program...]\n",
    exit: 125,
  },
  ...["1000h", "0s"].map((text) => ({
    name: `cannot ask for a session timeout of ${text}`,
    argv: ["lock", "--session-timeout", text, "/a", "--", "true"],
    stderr: `error: bad duration '${text}'\n  more than 0, less than 25 days\n`,
    exit: 125,
  })),
  {
    name: "knows two recipes",
    argv: ["lock", "--recipe", "cake", "/a", "--", "true"],
    stderr:
      "error: unknown recipe 'cake'\n  use queue (fair, the default) or unique (one well-known znode)\n",
    exit: 125,
  },
  {
    name: "the unique recipe takes one path",
    argv: ["lock", "--recipe", "unique", "/a", "/b", "--", "true"],
    stderr: "error: --recipe unique takes only one path\n",
    exit: 125,
  },
  {
    name: "checks exit codes",
    argv: ["lock", "-E", "256", "/a", "--", "true"],
    stderr: "error: bad exit code '256'\n  use a number from 0 to 255\n",
    exit: 125,
  },
  {
    name: "checks choices",
    argv: ["lock", "--on-lost", "pray", "/a", "--", "true"],
    stderr: "error: bad value 'pray'\n  use one of term, kill, warn\n",
    exit: 125,
  },
  {
    name: "checks signals",
    argv: ["lock", "--stop-signal", "nine", "/a", "--", "true"],
    stderr: "error: bad signal 'nine'\n  use one of TERM, INT, HUP, QUIT, USR1, USR2, KILL\n",
    exit: 125,
  },
  {
    name: "wants to know of what a number is",
    argv: ["lock", "-w", "30", "/a", "--", "true"],
    stderr: "error: duration '30' needs a unit: 30s or 30ms\n",
    exit: 125,
  },
  {
    name: "does not write in read-only mode",
    argv: ["-r", "lock", "/a", "--", "true"],
    stderr:
      "error: lock is refused: the session is read-only\n  leave out --read-only (-r) to allow writes\n",
    exit: 125,
  },
];

describe("lock", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
