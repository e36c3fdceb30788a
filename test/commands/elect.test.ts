import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  {
    name: "tells or stands, not both",
    argv: ["elect", "--leader", "/scheduler", "--", "true"],
    stderr: "error: --observe and --leader cannot be combined with each other or with a command\n",
    exit: 125,
  },
  {
    name: "tells once or for ever",
    argv: ["elect", "--leader", "--observe", "/scheduler"],
    stderr: "error: --observe and --leader cannot be combined with each other or with a command\n",
    exit: 125,
  },
];

describe("elect", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
