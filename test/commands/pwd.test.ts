import { expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  { name: "text", argv: ["pwd"], stdout: "/\n" },
  { name: "JSON", argv: ["--json", "pwd"], stdout: '{"path":"/"}\n' },
  { name: "zkcli", argv: ["-o", "zkcli", "pwd"], stdout: "/\n" },
];

test.each(rows)("pwd prints the working znode: $name", async (row) => {
  expect(await outcome(row)).toEqual(expected(row));
});
