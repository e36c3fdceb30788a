import { describe, expect, test } from "vitest";
import { expected, outcome, type Row, run } from "./run.ts";

const GET = `\
get: print a znode's data

Examples
  get /zookeeper/config
  get -s /app/config

Usage
  get [-s] [-w] [-b] [-x] path

Arguments
  path          the znode

Options
  -s, --stat    print its stat too
  -w, --watch   watch for the next change (in the shell)
  -b, --base64  print the data as base64
  -x, --hex     print the data as a hex dump

In a pipe the exact bytes are written, nothing added. On a terminal JSON is indented and binary data is shown as a hex dump.
`;

const rows: Row[] = [
  { name: "shows one command in full", argv: ["help", "get"], stdout: GET },
  { name: "get --help is the same", argv: ["get", "--help"], stdout: GET },
  { name: "get -h is the same, whatever else is there", argv: ["get", "/a", "-h", "-s"], stdout: GET },
  { name: "--help get is the same", argv: ["--help", "get", "/a"], stdout: GET },
  {
    name: "shows other names",
    argv: ["?", "?"],
    stdout: `\
help: show all commands, or one in full

Examples
  help
  help create

Usage
  help [command]

Arguments
  [command]  the command to show in full

Also called
  ?
`,
  },
  {
    name: "does not know every word",
    argv: ["help", "gte"],
    stderr: "error: unknown command 'gte'\n  help lists all commands\n",
    exit: 2,
  },
];

describe("help", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("lists commands by group, then the global options", async () => {
    const { stdout } = await run(["help"]);
    expect(stdout).toMatch(/^Usage: zksh \[options\] command \[args\]\n\nZnodes\n {2}get {25}print a znode's data\n/);
    expect(stdout).toMatch(/\n\nShell\n {2}help .*\n\nGlobal options\n {2}-s, --server HOSTS {10}host\[:port\]/s);
    expect((await run(["-h"])).stdout).toBe(stdout);
  });

  test("JSON has the same facts", async () => {
    const { stdout } = await run(["help", "--json"]);
    expect(JSON.parse(stdout).groups[0].rows[0]).toEqual({ term: "get", summary: "print a znode's data" });
  });

  test("asks no server", async () => {
    expect((await run(["help", "get"])).opened).toEqual([]);
    expect((await run(["get", "--help"])).opened).toEqual([]);
  });
});
