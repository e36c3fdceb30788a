import { describe, expect, test } from "vitest";
import { commands } from "../../../src/commands/index.ts";
import {
  commandIndex,
  splitGlobals,
  splitStatement,
} from "../../../src/shell/parsing/split-globals.ts";

const rows: { line: string; flags?: Record<string, string[]>; words?: string[] }[] = [
  { line: "" },
  { line: "get /a", words: ["get", "/a"] },
  { line: "-s h get /a", flags: { server: ["h"] }, words: ["get", "/a"] },
  { line: "-sh:1 get /a", flags: { server: ["h:1"] }, words: ["get", "/a"] },
  { line: "-ojson ls", flags: { output: ["json"] }, words: ["ls"] },
  { line: "-qr ls", flags: { quiet: ["true"], "read-only": ["true"] }, words: ["ls"] },
  { line: "-rs h ls", flags: { "read-only": ["true"], server: ["h"] }, words: ["ls"] },
  { line: "--server h get /a", flags: { server: ["h"] }, words: ["get", "/a"] },
  { line: "--server=h=1 get /a", flags: { server: ["h=1"] }, words: ["get", "/a"] },
  { line: "get --server h /a", flags: { server: ["h"] }, words: ["get", "/a"] },
  { line: "get /a --json", flags: { json: ["true"] }, words: ["get", "/a"] },
  { line: "get /a --json=0", flags: { json: ["0"] }, words: ["get", "/a"] },
  { line: "create -s -t 5 /a", words: ["create", "-s", "-t", "5", "/a"] },
  { line: "set -v 3 /a x", words: ["set", "-v", "3", "/a", "x"] },
  { line: "set --version 3 /a x", words: ["set", "--version", "3", "/a", "x"] },
  { line: "set /a -- --json", words: ["set", "/a", "--", "--json"] },
  { line: "-- get --json", words: ["get", "--json"] },
  {
    line: "-server h -timeout 5000 -r get /a",
    flags: { server: ["h"], timeout: ["5000ms"], "read-only": ["true"] },
    words: ["get", "/a"],
  },
  { line: "-waitforconnection ls /", flags: { waitforconnection: ["true"] }, words: ["ls", "/"] },
  {
    line: "-client-configuration f ls /",
    flags: { "client-configuration": ["f"] },
    words: ["ls", "/"],
  },
  {
    line: "-zk-tls-config-file f ls /",
    flags: { "zk-tls-config-file": ["f"] },
    words: ["ls", "/"],
  },
  {
    line: "zk1:2182,zk2:2182/app -zk-tls-config-file f ls /",
    flags: { server: ["zk1:2182,zk2:2182/app"], "zk-tls-config-file": ["f"] },
    words: ["ls", "/"],
  },
  { line: "-s h zk1:2182 ls", flags: { server: ["h"] }, words: ["zk1:2182", "ls"] },
  { line: "ls zk1:2182", words: ["ls", "zk1:2182"] },
  { line: "--auth a:1 ls --auth b:2", flags: { auth: ["a:1", "b:2"] }, words: ["ls"] },
  { line: "-c text", flags: { command: ["text"] } },
  { line: "-f -", flags: { file: ["-"] } },
  { line: "--help", words: ["help"] },
  { line: "-h get /a --json", flags: { json: ["true"] }, words: ["help", "get"] },
  { line: "--version", words: ["version"] },
  { line: "-V --json", flags: { json: ["true"] }, words: ["version"] },
  { line: "get --help", words: ["get", "--help"] },
  { line: "get --unknown", words: ["get", "--unknown"] },
  { line: "lock -v /a", flags: { verbose: ["true"] }, words: ["lock", "/a"] },
  { line: "lock -nv /a", flags: { verbose: ["true"] }, words: ["lock", "-n", "/a"] },
  { line: "lock -vw 5s /a", flags: { verbose: ["true"] }, words: ["lock", "-w", "5s", "/a"] },
  { line: "lock -w -q /a", words: ["lock", "-w", "-q", "/a"] },
  { line: "lock --why --json /a", words: ["lock", "--why", "--json", "/a"] },
  { line: "lock --why=--json /a", words: ["lock", "--why=--json", "/a"] },
  { line: "lock /a -- cmd -v --json", words: ["lock", "/a", "--", "cmd", "-v", "--json"] },
  { line: "ls -Rq /", flags: { quiet: ["true"] }, words: ["ls", "-R", "/"] },
  { line: "ls -o json /", flags: { output: ["json"] }, words: ["ls", "/"] },
  { line: "ls -ojson /", flags: { output: ["json"] }, words: ["ls", "/"] },
  { line: "exists / -s h", flags: { server: ["h"] }, words: ["exists", "/"] },
  {
    line: "exists / -t 5s -yr",
    flags: { timeout: ["5s"], yes: ["true"], "read-only": ["true"] },
    words: ["exists", "/"],
  },
  { line: "reconfig -add 1=h -members x", words: ["reconfig", "-add", "1=h", "-members", "x"] },
  { line: "deleteall -rf /a", words: ["deleteall", "-rf", "/a"] },
  { line: "set /a -5", words: ["set", "/a", "-5"] },
  { line: "nope -q --json", flags: { json: ["true"] }, words: ["nope", "-q"] },
  {
    line: "-o zkcli ls -q / --debug",
    flags: { output: ["zkcli"], debug: ["true"] },
    words: ["ls", "-q", "/"],
  },
];

const errors: { line: string; message: string; hint?: string }[] = [
  { line: "-s", message: "option -s needs a value: HOSTS" },
  { line: "get --server", message: "option --server needs a value: HOSTS" },
  { line: "--servr h get", message: "unknown option '--servr'", hint: "did you mean --server?" },
  { line: "-sever h get", message: "unknown option '-sever'", hint: "did you mean -server?" },
  { line: "-z get", message: "unknown option '-z'", hint: "help options lists all options" },
  { line: "--file x", message: "unknown option '--file'", hint: "help options lists all options" },
];

const options = {
  commands,
  isZkcli: ({ output }: { output?: readonly string[] }) => output?.at(-1) === "zkcli",
};

describe("splitGlobals", () => {
  test.each(rows)("splits $line", async ({ line, flags = {}, words = [] }) => {
    expect(await splitGlobals(wordsOf(line), options)).toEqual({ flags, words });
  });

  test.each(errors)("refuses $line", async ({ line, message, hint }) => {
    expect((await splitGlobals(wordsOf(line), options)).mistake).toMatchObject({ message, hint });
  });

  test("keeps the options before a mistake, which say how it is shown", async () => {
    const { flags, mistake } = await splitGlobals(["--json", "--nope", "get"], options);
    expect([flags, mistake?.message]).toEqual([{ json: ["true"] }, "unknown option '--nope'"]);
  });
});

const statements: { line: string; flags?: Record<string, string[]>; words: string[] }[] = [
  { line: "ls /", words: ["ls", "/"] },
  { line: "--json ls /", flags: { json: ["true"] }, words: ["ls", "/"] },
  { line: "-qo json ls /", flags: { quiet: ["true"], output: ["json"] }, words: ["ls", "/"] },
  { line: "ls / --color=always", flags: { color: ["always"] }, words: ["ls", "/"] },
  { line: "lock -v /a", flags: { verbose: ["true"] }, words: ["lock", "/a"] },
  { line: "set -v 3 /a x", words: ["set", "-v", "3", "/a", "x"] },
  { line: "create -s -t 5s /a", words: ["create", "-s", "-t", "5s", "/a"] },
  { line: "set /a -- --json", words: ["set", "/a", "--", "--json"] },
  { line: "lock /a -- cmd -v --json", words: ["lock", "/a", "--", "cmd", "-v", "--json"] },
  { line: "--help get", words: ["help", "get"] },
];

const refused: { line: string; message: string; hint: string }[] = [
  {
    line: "ls / --server h",
    message: "--server applies to the whole program, not to one line",
    hint: "start zksh with this option, or use connect HOSTS",
  },
  {
    line: "-s h ls /",
    message: "-s (--server) applies to the whole program, not to one line",
    hint: "start zksh with this option, or use connect HOSTS",
  },
  {
    line: "--auth digest:a:b ls /",
    message: "--auth applies to the whole program, not to one line",
    hint: "start zksh with this option, or use addauth SCHEME CREDENTIAL",
  },
  {
    line: "--tls ls /",
    message: "--tls applies to the whole program, not to one line",
    hint: "start zksh with this option",
  },
  {
    line: "-f x ls /",
    message: "-f applies to the whole program, not to one line",
    hint: "start zksh with this option",
  },
  { line: "--json", message: "there is no command after --json", hint: "help lists all commands" },
  { line: "--jsn ls /", message: "unknown option '--jsn'", hint: "did you mean --json?" },
];

describe("splitStatement", () => {
  test.each(statements)("splits $line", async ({ line, flags = {}, words }) => {
    expect(await splitStatement(wordsOf(line), { commands, dialect: "zksh" })).toEqual({
      flags,
      words,
    });
  });

  test.each(refused)("refuses $line", async ({ line, message, hint }) => {
    const { mistake } = await splitStatement(wordsOf(line), { commands, dialect: "zksh" });
    expect(mistake).toMatchObject({ message, hint });
  });

  test("leaves zkCli's lines alone", async () => {
    const words = ["ls", "--json", "-q", "/"];
    expect(await splitStatement(words, { commands, dialect: "zkcli" })).toEqual({
      flags: {},
      words,
    });
  });
});

test.each([
  { line: "ls /", index: 0 },
  { line: "--json ls /", index: 1 },
  { line: "-o json --quiet ls /", index: 3 },
  { line: "--color=never ls", index: 1 },
  { line: "-- ls", index: 1 },
  { line: "--json", index: -1 },
  { line: "-o json", index: -1 },
])("the command word of $line is number $index", ({ line, index }) => {
  expect(commandIndex(wordsOf(line))).toBe(index);
});

function wordsOf(line: string): string[] {
  return line.split(" ").filter((word) => word !== "");
}
