/**
 * Every command with every option that holds for one line, in each front end. An option on the line
 * must do what the same option does when the program is started with it, or be the same usage error
 * everywhere.
 */
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { CommandEntry } from "../../src/commands/command.ts";
import { commands } from "../../src/commands/index.ts";
import { longName } from "../../src/commands/usage.ts";
import {
  type GlobalOption,
  globalOptions,
  oneLineOptions,
} from "../../src/config/global-options.ts";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import { main } from "../../src/main.ts";
import type { GuardedChild } from "../../src/processes/child-requests.ts";
import { parseConnectString } from "../../src/session/connect-string.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { lex } from "../../src/shell/parsing/lexer.ts";
import { type MemoryIoOptions, memoryIo } from "../commands/memory-io.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";

/** Where a command's first example would go on for ever, or needs what is not here. */
const LINES: Readonly<Record<string, string>> = {
  addauth: "addauth digest ann:secret",
  // The name of another server is looked up while this one is asked: any of both can be first.
  cp: "cp /app/config /app/copy",
  elect: "elect --leader /scheduler",
  lock: "lock /deploy -- deploy.sh",
  serve: "serve --port none",
  // It prints the settings of the program, which options of one line do not change.
  settings: "settings all",
  watch: "watch --count none /app",
};

const VALUES: Readonly<Record<string, string>> = { output: "json", color: "always" };

interface Ran {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Way = (line: string, options: { readonly program?: readonly string[] }) => Promise<Ran>;

const ways: Readonly<Record<"one-shot" | "-c" | "script file" | "prompt", Way>> = {
  "one-shot": (line, { program = [] }) => {
    const words = lex(line).statements[0]?.words.map(({ text }) => text) ?? [];
    return run([...program, ...words]);
  },
  "-c": (line, { program = [] }) => run([...program, "-c", line]),
  "script file": (line, { program = [] }) =>
    run([...program, "-f", "s.zk"], { files: { "s.zk": `${line}\n` } }),
  prompt: async (line, { program = [] }) => {
    const stdin = new PassThrough();
    stdin.write(`${line}\nquit\n`);
    const home = temporaryDirectory("one-line");
    // A dumb terminal: no cursor is moved, so that the output can be read as it comes.
    const ran = await run([...program], { tty: true, stdin, env: { TERM: "dumb", HOME: home } });
    removeDirectory(home);
    return ran;
  },
};

async function run(argv: readonly string[], options: MemoryIoOptions = {}): Promise<Ran> {
  const server = await startEmbeddedServer();
  const session = openSession({ ...parseConnectString(server.address), timeoutMs: 10_000 });
  await Promise.all(
    ["/app", "/app/config", "/app/old", "/deploy"].map((path) => session.create(path, null)),
  );
  await session.close();
  const io = memoryIo({ ...options, startGuarded: async () => endedChild });
  const exit = await main(
    { programName: "zksh", argv: ["-s", server.address, "--no-input", ...argv] },
    io,
    {
      openSession: async (sessionOptions) => openSession(sessionOptions),
      onSignal: () => () => {},
    },
  );
  await server.stop();
  return {
    exit,
    stdout: sameForAll(String(io.written.stdout)),
    stderr: sameForAll(io.written.stderr),
  };
}

const endedChild: GuardedChild = {
  pid: 1,
  hasOwnGroup: true,
  reach: "all",
  ended: Promise.resolve({ code: 0, signal: null }),
  signal: () => [],
  gone: async () => {},
  permit() {},
  wasOutOfTime: () => false,
  dispose: async () => {},
};

/** Without prompts, with no spinner, and without what differs from run to run. */
function sameForAll(text: string): string {
  const lines = text
    .replaceAll("\x1b", "␛")
    .replace(/(␛\[[\d;]*m)*zksh .*?[›>](␛\[[\d;]*m)* /g, "")
    .replace(/␛\[[\d;]*[A-HJK]|␛\[\?25[hl]/g, "")
    .split("\n")
    // The session is opened and closed for a line, or for the whole program.
    .filter(
      (line) =>
        !/^(␛\[2m)?(attached to|left|session over|createSession|closeSession|connected to|zksh )/.test(
          line,
        ),
    )
    // The history has the line itself.
    .filter((line) => !line.includes("history"))
    .map((line) => line.replace(/^(-c|s\.zk):1: /, "").replace(/.*\r/, ""));
  return (
    lines
      .join("\n")
      .replace(/"file":"(-c|s\.zk)"/g, '"file":"SCRIPT"')
      .replace(/127\.0\.0\.1:\d+/g, "SERVER")
      .replace(/0x[0-9a-f]{6,}/g, "ID")
      .replace(/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/g, "UUID")
      .replace(/\d{4}-\d\d-\d\d[T ][\d:.]+(Z|[ \d+:-]*)/g, "TIME")
      .replace(/("\w*(?:Ms|time|since|at)":)("[^"]*"|[\d.]+)/gi, "$1T")
      .replace(/\b\d+(\.\d+)? ?m?s\b/g, "DURATION")
      .replace(/\n +at .*/g, "")
      // Lines of a script may share what they ask for.
      .replace(/(\w+ \S* -> \w+ in DURATION\n?)+/g, "TRACE\n")
      .trim()
  );
}

async function lineOf(entry: CommandEntry): Promise<string> {
  return LINES[entry.name] ?? (await entry.load()).examples[0] ?? entry.name;
}

/** `ls /` and `-q` → `ls -q /`, before what is behind `--`. */
function behind(line: string, words: string): string {
  const [name = "", ...rest] = line.split(" ");
  return [name, words, ...rest].join(" ");
}

async function spellings(
  entry: CommandEntry,
  option: GlobalOption,
): Promise<{ long: string; behind: string }> {
  const { options } = await entry.load();
  const value = VALUES[option.name] === undefined ? "" : ` ${VALUES[option.name]}`;
  const own = Object.entries<{ short: string }>(options).flatMap(([key, { short }]) => [
    short,
    longName(key),
  ]);
  const isShort = option.short !== undefined && !own.includes(option.short);
  return {
    long: `--${option.name}${value}`,
    behind: `${isShort ? option.short : `--${option.name}`}${value}`,
  };
}

describe.each(commands)("$name", (entry) => {
  test.each(oneLineOptions)("--$name", async (option) => {
    const line = await lineOf(entry);
    const spelt = await spellings(entry, option);
    const program = spelt.long.split(" ");
    const oneShot = await ways["one-shot"](line, { program });
    const lines = { behind: behind(line, spelt.behind), before: `${spelt.long} ${line}` };
    expect({ [lines.behind]: await ways["one-shot"](lines.behind, {}) }).toEqual({
      [lines.behind]: oneShot,
    });
    const script = await ways["-c"](line, { program });
    for (const text of [lines.behind, lines.before]) {
      expect({ [text]: await ways["-c"](text, {}) }).toEqual({ [text]: script });
    }
    expect({ [lines.behind]: await ways["script file"](lines.behind, {}) }).toEqual({
      [lines.behind]: script,
    });
    const prompt = await ways.prompt(line, { program });
    for (const text of [lines.behind, lines.before]) {
      expect({ [text]: await ways.prompt(text, {}) }).toEqual({ [text]: prompt });
    }
  });
});

test.each((globalOptions as readonly GlobalOption[]).filter((option) => !option.holdsForOneLine))(
  "--$name on one line is the same usage error everywhere",
  async (option) => {
    const spelling = option.long === false ? (option.zkcli ?? option.short) : `--${option.name}`;
    const line = `${spelling}${option.value === undefined ? "" : " x"} ls /`;
    const message = `error: ${spelling} applies to the whole program, not to one line`;
    const ran = await Promise.all([
      ways["-c"](line, {}),
      ways["script file"](line, {}),
      ways.prompt(line, {}),
    ]);
    for (const { stderr } of ran) expect(stderr).toContain(message);
    expect(ran.map(({ exit }) => exit)).toEqual([2, 2, 0]);
  },
);
