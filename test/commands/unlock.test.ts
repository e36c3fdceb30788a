import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  {
    name: "a one-shot holds no lock to release",
    argv: ["unlock", "/a"],
    stderr: "error: this process does not hold /a\n  revoke /a asks the holder to release it\n",
    exit: 1,
  },
  {
    name: "releases only locks of the shell",
    argv: ["-c", "unlock /a"],
    stderr: "-c:1: error: this shell does not hold /a\n  whoholds /a shows the holder\n",
    exit: 1,
  },
];

describe("unlock", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
