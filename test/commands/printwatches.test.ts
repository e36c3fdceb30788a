import { describe, expect, test } from "vitest";
import { expected, outcome, type Row } from "./run.ts";

const rows: Row[] = [
  { name: "tells", argv: ["printwatches"], stdout: "printwatches is on\n" },
  {
    name: "changes, silently, and only on is on",
    argv: [
      "-c",
      "printwatches off; printwatches; printwatches on; printwatches; printwatches x; printwatches",
    ],
    stdout: "printwatches is off\nprintwatches is on\nprintwatches is off\n",
  },
  { name: "as zkCli", argv: ["-o", "zkcli", "printwatches"], stdout: "printwatches is on\n" },
  { name: "in JSON", argv: ["--json", "printwatches", "off"], stdout: '{"printwatches":false}\n' },
];

describe("printwatches", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });
});
