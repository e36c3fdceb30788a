import { describe, expect, test } from "vitest";
import { Outside } from "../../../src/commands/arguments.ts";
import type { CommandEntry } from "../../../src/commands/command.ts";
import { commands } from "../../../src/commands/index.ts";
import { UsageError } from "../../../src/errors.ts";
import { type Dialect, type Invocation, parse } from "../../../src/shell/parsing/parser.ts";
import { PlainLines } from "../../../src/shell/parsing/plain-lines.ts";
import { QuickParser } from "../../../src/shell/parsing/quick-parser.ts";

const SEED = Number(process.env.ZKSH_FUZZ_SEED ?? 6);
const LINES_PER_COMMAND = 300;
const WORDS = [
  "/a",
  "/a/b",
  "b",
  "../c",
  ".",
  "",
  "x y",
  "watch",
  "true",
  "1",
  "5s",
  "0",
  "world:anyone:r",
  "@f",
  "@@f",
];
const ODD = [
  "-",
  "--",
  "-1",
  "-h",
  "--help",
  "-zz",
  "--none",
  "-v",
  "-v=1",
  "-v1",
  "/",
  "//",
  "/a/",
  "on",
  "12",
  "u:p",
];

/** The same numbers for the same seed. */
function randoms(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

async function linesOf(entry: CommandEntry, next: (below: number) => number): Promise<string[][]> {
  const command = await entry.load();
  const keys = Object.keys(command.options).map(
    (key) => `--${key.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`,
  );
  const shorts = Object.values<{ short: string }>(command.options).map(({ short }) => short);
  const options = [...keys, ...shorts.filter((short) => short !== "")];
  const bundle = shorts.filter((short) => short !== "").map((short) => short.slice(1));
  const word = () => {
    const kind = next(10);
    if (kind < 6) return WORDS[next(WORDS.length)] ?? "";
    if (kind < 9 && options.length > 0) return options[next(options.length)] ?? "";
    if (bundle.length > 0 && next(3) === 0)
      return `-${bundle[next(bundle.length)]}${bundle[next(bundle.length)]}`;
    return ODD[next(ODD.length)] ?? "";
  };
  return Array.from({ length: LINES_PER_COMMAND }, () => [
    entry.name,
    ...Array.from({ length: next(6) }, word),
    ...("program" in command.args && next(2) === 0 ? ["--", "ls", "-s", "--", "--wait"] : []),
  ]);
}

/** What a parser made of a line, in a form that can be compared. */
async function outcome(parsing: () => Promise<Invocation> | Invocation): Promise<unknown> {
  try {
    const { entry, command, args, options } = await parsing();
    return { entry, command, args: comparable(args), options: comparable(options) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { message: error.message, reason: error.reason, hint: error.hint, path: error.path };
  }
}

/** No two functions are equal, and what is read from outside is one too. */
function comparable(values: Invocation["args"]): unknown {
  const own = (value: unknown) =>
    value instanceof Outside ? "from outside" : typeof value === "function" ? String(value) : value;
  return Object.entries(values).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map(own) : own(value),
  ]);
}

describe("plain lines", () => {
  test.each(commands)(
    "a line of $name that is taken for plain has the values that commander gives",
    async (entry) => {
      const lines = await linesOf(entry, randoms(SEED + entry.name.length));
      const command = await entry.load();
      const plain = new PlainLines(entry, command);
      for (const words of lines) {
        const expected = await outcome(() => parse(words, { commands, cwd: "/w" }));
        const found = await outcome(
          () => plain.parse(words, "/w") ?? parse(words, { commands, cwd: "/w" }),
        );
        expect({ words, found }).toEqual({ words, found: expected });
      }
    },
  );

  test.each([
    { words: ["get", "/a"], isPlain: true },
    { words: ["get", "-s", "/a"], isPlain: true },
    { words: ["get", "/a", "--stat"], isPlain: true },
    { words: ["create", "/a", "some data"], isPlain: true },
    { words: ["get", "-sw", "/a"], isPlain: false },
    { words: ["set", "-v", "3", "/a", "x"], isPlain: false },
    { words: ["set", "/a", "-"], isPlain: false },
    { words: ["get", "--help"], isPlain: false },
    { words: ["get"], isPlain: false },
    { words: ["exists", "/a", "/b"], isPlain: true },
    { words: ["sync", "/a", "/b"], isPlain: false },
    { words: ["lock", "/a"], isPlain: true },
    { words: ["lock", "/a", "/b", "--explain", "--", "ls", "-l"], isPlain: true },
    { words: ["rwlock", "read", "/a", "--", "ls"], isPlain: true },
    { words: ["lock", "-w", "1s", "/a", "--", "ls"], isPlain: false },
    { words: ["lock", "/a", "--"], isPlain: false },
    { words: ["rwlock", "read", "--", "ls"], isPlain: false },
  ])("$words: $isPlain", async ({ words, isPlain }) => {
    const entry = commands.find(({ name }) => name === words[0]) as CommandEntry;
    const invocation = new PlainLines(entry, await entry.load()).parse(words, "/");
    expect(invocation !== undefined).toBe(isPlain);
  });
});

describe("a parser for many lines", () => {
  test.each<Dialect>(["zksh", "zkcli"])(
    "%s: the tenth line is read as the first",
    async (dialect) => {
      const next = randoms(SEED);
      const parser = new QuickParser({ commands, dialect });
      for (const entry of commands) {
        for (const words of (await linesOf(entry, next)).slice(0, 40)) {
          const expected = await outcome(() => parse(words, { commands, cwd: "/w", dialect }));
          const later = await outcome(() => parser.parse(words, "/w"));
          const now = await outcome(
            () => parser.parseNow(words, "/w") ?? parser.parse(words, "/w"),
          );
          expect({ words, later, now }).toEqual({ words, later: expected, now: expected });
        }
      }
    },
  );

  test("knows no other commands than commander does", async () => {
    const parser = new QuickParser({ commands, dialect: "zksh" });
    expect(parser.parseNow(["get", "/a"], "/")).toBeUndefined();
    for (const words of [["gte", "/a"], [""], ["?"], ["exit"]]) {
      const expected = await outcome(() => parse(words, { commands, cwd: "/" }));
      expect(await outcome(() => parser.parse(words, "/"))).toEqual(expected);
    }
  });
});
