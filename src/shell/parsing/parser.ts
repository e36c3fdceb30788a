/**
 * Parses words into an Invocation, with a new commander program for each line, so that no state is
 * left from another line.
 */
import { Command as CommanderCommand, CommanderError } from "commander";
import type { Argument, Option, Outside } from "../../commands/arguments.ts";
import { type AnyCommand, type CommandEntry, findCommand } from "../../commands/command.ts";
import { data, QUOTE_DATA } from "../../commands/data.ts";
import { longName, spelling, usage } from "../../commands/usage.ts";
import { oneLineOptions } from "../../config/global-options.ts";
import { UsageError } from "../../errors.ts";
import { didYouMean } from "../../text/suggest.ts";
import { declarationOf, invocationOf, splitCommand } from "./invocation-values.ts";
import type { Marks } from "./marked-words.ts";

/** A command and its values. Values of type Outside still have to be read from a file or stdin. */
export interface Invocation {
  readonly entry: CommandEntry;
  readonly command: AnyCommand;
  readonly args: Readonly<Record<string, unknown | Outside<unknown>>>;
  readonly options: Readonly<Record<string, unknown | Outside<unknown>>>;
}

export interface ParseOptions {
  readonly commands: readonly CommandEntry[];
  readonly cwd: string;
  /** The dialect of the line. Default: zksh. */
  readonly dialect?: Dialect;
  /** The words of the line that stand for others. */
  readonly marks?: Marks | undefined;
}

/** `zkcli`: the syntax of Apache zkCli, so that its scripts mean the same here. */
export type Dialect = "zksh" | "zkcli";

/** Throws UsageError. `get --help` becomes an invocation of `help get`. */
export async function parse(line: readonly string[], options: ParseOptions): Promise<Invocation> {
  if (options.dialect === "zkcli")
    return (await import("./zkcli-parser.ts")).parseZkcli(line, options);
  const { marks } = options;
  const [name = "", ...rest] = line;
  const where = { cwd: options.cwd };
  const entry = findCommand(options.commands, name);
  if (!entry) throw unknownCommand(name, options.commands);
  const command = await entry.load();
  const program = buildProgram(entry, command);
  const declaration = declarationOf(entry, command);
  const { words: own, behind } = splitCommand(rest, declaration);
  try {
    program.parse(withoutEquals(own, command), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") return parse(["help", entry.name], options);
    throw usageError(error, usageHint(error, entry, command));
  }
  if (behind?.length === 0)
    throw new UsageError("there is no command after --", { hint: usage(entry.name, command) });
  const end = own.indexOf("--");
  const literalFrom = end < 0 ? undefined : program.args.length - (own.length - end - 1);
  const words = program.processedArgs;
  const given = program.opts();
  return invocationOf(declaration, { words, given, behind, literalFrom, marks, where });
}

function usageHint(
  { code, message }: CommanderError,
  { name }: CommandEntry,
  command: AnyCommand,
): string {
  const unknown = /unknown option '([^']*)'/.exec(message)?.[1];
  const like = unknown === undefined ? undefined : didYouMean(unknown, longOptions(command));
  if (like !== undefined) return like;
  const takesData = Object.values<Argument<unknown>>(command.args).some(
    ({ parse: read }) => read === data,
  );
  return takesData && code === "commander.excessArguments" ? QUOTE_DATA : usage(name, command);
}

/** The long options that may follow the command word. */
function longOptions(command: AnyCommand): string[] {
  return [
    ...Object.keys(command.options).map(longName),
    ...oneLineOptions.map((option) => `--${option.name}`),
  ];
}

function buildProgram(entry: CommandEntry, command: AnyCommand): CommanderCommand {
  const silent = { writeOut() {}, writeErr() {}, outputError() {} };
  const program = new CommanderCommand(entry.name).exitOverride().configureOutput(silent);
  program.allowExcessArguments(false).showSuggestionAfterError(false);
  for (const [key, { arity }] of Object.entries<Argument<unknown>>(command.args)) {
    if (arity === "command") continue;
    program.argument(
      arity === "required" ? `<${key}>` : arity === "optional" ? `[${key}]` : `[${key}...]`,
    );
  }
  for (const [key, option] of Object.entries<Option<unknown>>(command.options)) {
    const value = option.kind === "value" ? ` <${option.placeholder}>` : "";
    program.option(`${spelling(key, option)}${value}`);
  }
  // Without an action commander would not check arguments. execute() runs the command.
  return program.action(() => {});
}

/**
 * Rewrites zkCli's `-v=5` to commander's `-v5`, and its long options with one dash, as `-add`, to
 * two dashes.
 */
function withoutEquals(words: readonly string[], command: AnyCommand): string[] {
  const longs = new Set(
    Object.entries<Option<unknown>>(command.options).flatMap(([key, { short }]) =>
      short === "" ? longName(key) : [],
    ),
  );
  const shorts = new Set(
    Object.values<Option<unknown>>(command.options).flatMap(({ kind, short }) =>
      kind === "value" ? [short] : [],
    ),
  );
  const end = words.indexOf("--");
  return words.map((word, index) => {
    if (end >= 0 && index > end) return word;
    if (longs.has(`-${word.split("=")[0]}`)) return `-${word}`;
    return shorts.has(word.slice(0, 2)) && word[2] === "="
      ? word.slice(0, 2) + word.slice(3)
      : word;
  });
}

/** Command names of other shells, and ours. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  cat: "get",
  chmod: "setAcl",
  dir: "ls",
  man: "help",
  mkdir: "create",
  put: "set",
  rm: "delete",
  rmdir: "delete",
  tail: "watch",
  touch: "create",
};

function unknownCommand(name: string, commands: readonly CommandEntry[]): UsageError {
  const ours = Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
  const names = commands.map((entry) => entry.name);
  const hint = ours === undefined ? didYouMean(name, names) : `in zksh this is called ${ours}`;
  return new UsageError(`unknown command '${name}'`, {
    reason: "unknown-command",
    hint: hint ?? "help lists all commands",
  });
}

/** Turns an error of commander into a UsageError. */
function usageError(error: CommanderError, hint: string): UsageError {
  const [what = ""] = error.message.split("\n");
  const message =
    error.code === "commander.excessArguments"
      ? "too many arguments"
      : what.replace(/^error: /, "");
  return new UsageError(message, { reason: reasonOf(error), hint, cause: error });
}

/** `commander.unknownOption` → `unknown-option`. */
function reasonOf({ code }: CommanderError): string {
  return code.replace(/^commander\./, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
