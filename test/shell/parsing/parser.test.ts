import { describe, expect, test } from "vitest";
import {
  duration,
  flag,
  Outside,
  option,
  optional,
  required,
  rest,
  version,
  word,
  znodePath,
} from "../../../src/commands/arguments.ts";
import { type CommandEntry, defineCommand } from "../../../src/commands/command.ts";
import { commands as registered } from "../../../src/commands/index.ts";
import { parse } from "../../../src/shell/parsing/parser.ts";

const probe = defineCommand({
  examples: [],
  effect: "none",
  args: {
    path: required(znodePath, "a path"),
    second: optional(word, "a word"),
    more: rest(word, "words"),
  },
  options: {
    all: flag("-a", "all"),
    big: flag("-b", "big"),
    version: option("-v", "version", version, "a version"),
    waitTime: option("-t", "time", duration, "a duration"),
  },
  async run() {
    return { kind: "version", version: "" };
  },
});

const entry: CommandEntry = {
  name: "probe",
  summary: "try",
  group: "shell",
  load: async () => probe,
};
const commands = [...registered, entry];
const none = { all: false, big: false, version: undefined, waitTime: undefined };

const rows = [
  { words: ["/a"], args: { path: "/a", second: undefined, more: [] }, options: none },
  {
    words: ["/a", "b", "c", "d"],
    args: { path: "/a", second: "b", more: ["c", "d"] },
    options: none,
  },
  { words: ["-a", "/a"], args: { path: "/a" }, options: { ...none, all: true } },
  { words: ["/a", "-ab"], args: { path: "/a" }, options: { ...none, all: true, big: true } },
  {
    words: ["/a", "--wait-time", "5s"],
    args: { path: "/a" },
    options: { ...none, waitTime: 5000 },
  },
  { words: ["-v5", "/a"], args: { path: "/a" }, options: { ...none, version: 5 } },
  { words: ["-v=5", "/a"], args: { path: "/a" }, options: { ...none, version: 5 } },
  { words: ["-v", "-5", "/a"], args: { path: "/a" }, options: { ...none, version: -5 } },
  { words: ["--version=5", "/a"], args: { path: "/a" }, options: { ...none, version: 5 } },
  { words: ["/a", "--", "-v=5"], args: { path: "/a", second: "-v=5" }, options: none },
  { words: ["/a", "-5"], args: { path: "/a", second: "-5" }, options: none },
  { words: ["x"], args: { path: "/w/x" }, options: none },
  { words: ["/a/"], args: { path: "/a" }, options: none },
  { words: ["a/b/"], args: { path: "/w/a/b" }, options: none },
  { words: ["../x/./y"], args: { path: "/x/y" }, options: none },
  { words: ["../../.."], args: { path: "/" }, options: none },
  { words: ["."], args: { path: "/w" }, options: none },
];

const USAGE = "probe [-a] [-b] [-v version] [-t time] path [second] [more...]";
const errors = [
  {
    words: ["probe"],
    reason: "missing-argument",
    message: "missing required argument 'path'",
    hint: USAGE,
  },
  {
    words: ["probe", "/a", "-z"],
    reason: "unknown-option",
    message: "unknown option '-z'",
    hint: USAGE,
  },
  {
    words: ["probe", "/a", "-o", "json"],
    reason: "unknown-option",
    message: "unknown option '-o'",
    hint: USAGE,
  },
  {
    words: ["probe", "/a", "-f", "x"],
    reason: "unknown-option",
    message: "unknown option '-f'",
    hint: USAGE,
  },
  {
    words: ["probe", "/a", "--bigg"],
    reason: "unknown-option",
    message: "unknown option '--bigg'",
    hint: "did you mean --big?",
  },
  {
    words: ["probe", "/a", "-v"],
    reason: "option-missing-argument",
    message: "option '-v, --version <version>' argument missing",
    hint: USAGE,
  },
  {
    words: ["probe", "/a", "-v", "1.5"],
    reason: "usage",
    message: "bad version '1.5'",
    hint: "use a whole number, like dataVersion in the output of stat",
  },
  {
    words: ["probe", "/a", "-v", "2147483648"],
    reason: "usage",
    message: "bad version '2147483648'",
    hint: "use a whole number, like dataVersion in the output of stat",
  },
  { words: ["probe", ""], reason: "bad-path", message: "the path is empty" },
  {
    words: ["sync", "/a", "/b"],
    reason: "excess-arguments",
    message: "too many arguments",
    hint: "sync path",
  },
  {
    words: ["sett"],
    reason: "unknown-command",
    message: "unknown command 'sett'",
    hint: "did you mean settings?",
  },
  {
    words: ["sat"],
    reason: "unknown-command",
    message: "unknown command 'sat'",
    hint: "did you mean one of set, stat?",
  },
  {
    words: ["frobnicate"],
    reason: "unknown-command",
    message: "unknown command 'frobnicate'",
    hint: "help lists all commands",
  },
  {
    words: ["rm", "/a"],
    reason: "unknown-command",
    message: "unknown command 'rm'",
    hint: "in zksh this is called delete",
  },
  {
    words: ["del", "/a"],
    reason: "unknown-command",
    message: "unknown command 'del'",
    hint: "did you mean one of delete, deleteall, delquota?",
  },
  {
    words: ["DELETEALL", "/a"],
    reason: "unknown-command",
    message: "unknown command 'DELETEALL'",
    hint: "did you mean deleteall?",
  },
  {
    words: ["probe", "/a", "--jsno"],
    reason: "unknown-option",
    message: "unknown option '--jsno'",
    hint: "did you mean --json?",
  },
  {
    words: ["--x"],
    reason: "unknown-command",
    message: "unknown command '--x'",
    hint: "help lists all commands",
  },
];

describe("parse", () => {
  test.each(rows)("reads $words", async ({ words, args, options }) => {
    const invocation = await parse(["probe", ...words], { commands, cwd: "/w" });
    expect({ args: invocation.args, options: invocation.options }).toEqual({
      args: { second: undefined, more: [], ...args },
      options,
    });
  });

  test.each(errors)("refuses $words", async ({ words, reason, message, hint }) => {
    await expect(parse(words, { commands, cwd: "/" })).rejects.toThrow(
      expect.objectContaining({ reason, message, hint }),
    );
  });

  test("leaves stdin and files for later", async () => {
    const { args } = await parse(["set", "/a", "-"], { commands, cwd: "/" });
    expect(args.data).toBeInstanceOf(Outside);
  });

  test("remembers nothing of the line before", async () => {
    await parse(["probe", "-a", "-v", "5", "/a"], { commands, cwd: "/" });
    const { options } = await parse(["probe", "/b"], { commands, cwd: "/" });
    expect(options).toEqual(none);
  });

  test("--help asks for the command's page, even where words are missing", async () => {
    const invocation = await parse(["get", "--help"], { commands, cwd: "/" });
    expect([invocation.entry.name, invocation.args]).toEqual(["help", { subject: "get" }]);
  });

  test("leaves everything behind the first -- to a command that runs a program", async () => {
    const words = ["watch", "-R", "/a", "--", "sh", "-c", "x", "--", "--help", "-R"];
    const { args, options } = await parse(words, { commands, cwd: "/" });
    expect(args).toEqual({ path: "/a", program: ["sh", "-c", "x", "--", "--help", "-R"] });
    expect(options).toMatchObject({ recursive: true });
    expect((await parse(["watch", "/a"], { commands, cwd: "/" })).args).toEqual({
      path: "/a",
      program: [],
    });
  });
});
