/** What the two parsers share: words that have found their place become values. */
import type { Argument, Option, ValueParser } from "../commands/arguments.ts";
import type { AnyCommand } from "../commands/command.ts";
import type { Invocation } from "./parser.ts";

export interface Placed {
  /** A word for each argument, a list of words for the rest. */
  readonly words: readonly unknown[];
  /** By option: true for a flag that was given, a word for a value. */
  readonly given: Readonly<Record<string, unknown>>;
  /** What stands behind `--`, for a command that runs a program. */
  readonly behind?: readonly string[] | undefined;
  readonly where: Parameters<ValueParser<unknown>>[1];
}

/** Throws UsageError. */
export function readValues(command: AnyCommand, placed: Placed): Pick<Invocation, "args" | "options"> {
  const { words, given, behind = [], where } = placed;
  const args = Object.entries<Argument<unknown>>(command.args).map(([key, { parse: read, arity }], index) => {
    if (arity === "command") return [key, behind];
    const word = words[index];
    if (arity === "rest") return [key, Array.isArray(word) ? word.map((one) => read(String(one), where)) : []];
    return [key, typeof word === "string" ? read(word, where) : undefined];
  });
  const options = Object.entries<Option<unknown>>(command.options).map(([key, option]) => {
    const value = given[key];
    if (option.kind === "flag") return [key, value === true];
    return [key, typeof value === "string" ? option.parse(value, where) : undefined];
  });
  return { args: Object.fromEntries(args), options: Object.fromEntries(options) };
}

/** Where a command takes a program to run, everything behind the first `--` is the program's; `behind` is undefined without. */
export function splitCommand(
  words: readonly string[],
  command: AnyCommand,
): { readonly words: readonly string[]; readonly behind?: readonly string[] } {
  const takesCommand = Object.values<Argument<unknown>>(command.args).some(({ arity }) => arity === "command");
  const at = takesCommand ? words.indexOf("--") : -1;
  return at < 0 ? { words } : { words: words.slice(0, at), behind: words.slice(at + 1) };
}
