import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const hint = "  once /cron/backup --per day -- COMMAND\n";
const rows: Row[] = [
  {
    name: "needs a period",
    argv: ["once", "/cron/backup", "--", "true"],
    stderr: `error: once needs --per\n${hint}`,
    exit: 125,
  },
  {
    name: "needs a command",
    argv: ["once", "/cron/backup", "--per", "day"],
    stderr: `error: no command given\n${hint}`,
    exit: 125,
  },
  {
    name: "lists runs or runs a command, not both",
    argv: ["once", "--status", "/cron/backup", "--", "true"],
    stderr: "error: --status cannot be combined with a command\n",
    exit: 125,
  },
];

describe("once", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
