import { describe, expect, test } from "vitest";
import { elect } from "../../src/commands/elect.ts";
import { commands } from "../../src/commands/index.ts";
import { lock } from "../../src/commands/lock.ts";
import { rwlock } from "../../src/commands/rwlock.ts";
import { sem } from "../../src/commands/sem.ts";
import { topics } from "../../src/commands/topics/help-topics.ts";
import { sharedOptions } from "../../src/commands/under-lock/options.ts";
import { globalOptions, globalTerm } from "../../src/config/global-options.ts";
import { ExitCode } from "../../src/exit-codes.ts";
import { expected, outcome, type Row, run } from "./run.ts";

const GET = `\
get: print a znode's data

Examples
  get -s /app/config
  get /app/config /app/limits
  get --view gzip /app/state

Usage
  get [-s] [-w] [-b] [-x] [--view kind] [--all] path [paths...]
  path          the znode
  [paths...]    more znodes

Options
  -s, --stat    print the stat too
  -w, --watch   report the next change (only in the shell)
  -b, --base64  print the data as base64
  -x, --hex     print the data as a hex dump
  --view kind   auto, text, json, hex, gzip, java or protobuf
  --all         print all rows on a terminal, not 200

In a pipe get writes the exact bytes and adds nothing. On a terminal it indents
JSON, unpacks gzip, reads Java-serialised strings and protobuf, and shows other
binary data in hex. Of several znodes one that cannot be read is reported, and
the exit code is 8. get PATH watch is zkCli's form of get -w PATH.
`;

const rows: Row[] = [
  { name: "shows one command in full", argv: ["help", "get"], stdout: GET },
  { name: "get --help is the same", argv: ["get", "--help"], stdout: GET },
  {
    name: "get -h is the same, with any other words",
    argv: ["get", "/a", "-h", "-s"],
    stdout: GET,
  },
  { name: "--help get is the same", argv: ["--help", "get", "/a"], stdout: GET },
  {
    name: "shows other names",
    argv: ["?", "?"],
    stdout: `\
help: explain a command or a topic

Examples
  help
  help create
  help exit-codes

Usage
  help [subject]
  [subject]  a command, or locks, pipes, variables, commands, options, tls,
             settings-file, sasl, servers, output, exit-codes, environment,
             quoting

Also called
  ?
`,
  },
  {
    name: "suggests a command for a misspelt one",
    argv: ["help", "gte"],
    stderr: "error: there is no help for 'gte'\n  did you mean help get?\n",
    exit: 2,
  },
  {
    name: "suggests a topic for a misspelt one",
    argv: ["help", "exit-cods"],
    stderr: "error: there is no help for 'exit-cods'\n  did you mean help exit-codes?\n",
    exit: 2,
  },
  {
    name: "does not know every word",
    argv: ["help", "weather"],
    stderr: "error: there is no help for 'weather'\n  help lists all commands and topics\n",
    exit: 2,
  },
];

describe("help", () => {
  test.each(rows)("$name", async (row) => {
    expect(await outcome(row)).toEqual(expected(row));
  });

  test("fits a screen with all commands by group, and the topics", async () => {
    const { stdout } = await run(["help"]);
    const lines = stdout.split("\n").slice(0, -1);
    // One line is the prompt's.
    expect(lines.length).toBeLessThanOrEqual(23);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toMatch(/^Znodes {3}get {2}ls {2}stat {2}/m);
    expect(stdout).toMatch(/^Watches {2}watch {2}addWatch {2}removewatches$/m);
    const words = stdout.split(/\s+/);
    expect(commands.filter(({ name }) => !words.includes(name))).toEqual([]);
    expect(
      topics.filter(({ name }) => !words.includes(name) && !words.includes(`${name},`)),
    ).toEqual([]);
    expect((await run(["-h"])).stdout).toBe(stdout);
    expect((await run(["--help"])).stdout).toBe(stdout);
  });

  test("JSON has the same facts", async () => {
    const { groups, topics: pages } = JSON.parse((await run(["help", "--json"])).stdout);
    expect(groups[0].rows[0]).toEqual({ term: "get", summary: "print a znode's data" });
    expect(pages).toContainEqual({
      term: "help commands",
      summary: "all commands with their summaries",
    });
  });

  test("asks no server", async () => {
    expect((await run(["help", "get"])).opened).toEqual([]);
    expect((await run(["get", "--help"])).opened).toEqual([]);
  });

  /** Commands whose page may have more than 24 lines. */
  const longer: Readonly<Record<string, number>> = {
    // A line for each of its ten tests.
    find: 33,
    // The limits from which on something is a finding.
    doctor: 26,
    once: 27,
  };

  test.each(commands)("$name fits a screen", async ({ name }) => {
    const lines = (await run(["help", name])).stdout.split("\n").slice(0, -1);
    expect(lines.length).toBeLessThanOrEqual(longer[name] ?? 24);
  });

  test.each(commands)("$name --help is help $name, within 80 columns", async ({ name }) => {
    const { stdout } = await run(["help", name]);
    expect(stdout).toContain(`\nExamples\n  ${name}`);
    expect(
      stdout.split("\n").filter((line) => line.length > 80 && !/^ {2}\S+ \S+$/.test(line)),
    ).toEqual([]);
    expect((await run([name, "--help"])).stdout).toBe(stdout);
  });
});

describe("topics", () => {
  test.each(topics)("$name has a page within 80 columns", async ({ name }) => {
    const { stdout, exit } = await run(["help", name]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(new RegExp(`^${name}: `));
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  test.each(Object.entries(sharedOptions))(
    "locks: %s is an option of all it is said to be of",
    (key, { summary }) => {
      const all = Object.entries({ lock, rwlock, sem, elect });
      const having = all.filter(([, { options }]) => key in options).map(([name]) => name);
      const [, said = "lock, rwlock, sem, elect"] = /^(\w+(?:, \w+)*): with /.exec(summary) ?? [];
      expect(having.join(", ")).toBe(said);
    },
  );

  test("commands: every command with its line", async () => {
    const { stdout } = await run(["help", "commands"]);
    for (const { name, summary } of commands)
      expect(stdout.replace(/\s+/g, " ")).toContain(`${name} ${summary}`);
  });

  test("help options names every global option", async () => {
    const { stdout } = await run(["help", "options"]);
    for (const option of globalOptions) expect(stdout).toContain(`  ${globalTerm(option)} `);
  });

  test("help exit-codes names every exit code", async () => {
    const { stdout } = await run(["help", "exit-codes"]);
    expect([...stdout.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => Number(code))).toEqual(
      Object.values(ExitCode),
    );
  });

  test("help environment names the variable of every option", async () => {
    const { stdout } = await run(["help", "environment"]);
    for (const option of globalOptions)
      if ("env" in option) expect(stdout).toContain(`  ${option.env} `);
  });
});
