import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const NOTE = "note: only the ephemeral znodes of this session are listed, and the session is new\n";
const script = (line: string) => `create -e /b; create -e /a; create /c; ${line}`;

const rows: Row[] = [
  { name: "tells a one-shot that it cannot have any", argv: ["getEphemerals"], stderr: NOTE },
  { name: "-q leaves the note out", argv: ["-q", "getEphemerals"] },
  { name: "has zkCli's empty list", argv: ["-o", "zkcli", "getEphemerals", "/"], stdout: "[]\n" },
  {
    name: "JSON has an empty list",
    argv: ["--json", "getEphemerals"],
    stdout: '{"ephemerals":[]}\n',
  },
  {
    name: "writes one a line, sorted",
    argv: ["-c", script("getEphemerals")],
    stdout: "/b\n/a\n/c\n/a\n/b\n",
  },
  { name: "takes a prefix", argv: ["-c", script("getEphemerals /a")], stdout: "/b\n/a\n/c\n/a\n" },
];

describe("getEphemerals", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("keeps the server's order as zkCli", async () => {
    const input = "create -e /b\ncreate -e /a\ngetEphemerals\n";
    const { stdout } = await run(["-o", "zkcli", "-f", "-"], { stdin: input });
    expect(stdout).toBe("[/a, /b]\n");
  });
});
