/** Shared by the parsers: turns the words of arguments and options into values. */
import type { Argument, Option, ValueParser } from "../../commands/arguments.ts";
import type { AnyCommand, CommandEntry } from "../../commands/command.ts";
import { type Marks, textOf } from "./marked-words.ts";
import type { Invocation } from "./parser.ts";

/** A command with its arguments and options as lists, built once for all its lines. */
export interface Declaration extends Pick<Invocation, "entry" | "command"> {
  readonly args: readonly (readonly [key: string, argument: Argument<unknown>])[];
  readonly options: readonly (readonly [key: string, option: Option<unknown>])[];
  /** The options of a line without any; all such lines share the object. */
  readonly noOptions: Invocation["options"];
  /** The number of required arguments. */
  readonly required: number;
}

export function declarationOf(entry: CommandEntry, command: AnyCommand): Declaration {
  const args = Object.entries<Argument<unknown>>(command.args);
  const options = Object.entries<Option<unknown>>(command.options);
  const required = args.filter(([, { arity }]) => arity === "required").length;
  const noOptions = Object.fromEntries(
    options.map(([key, { kind }]) => [key, kind === "flag" ? false : undefined]),
  );
  return { entry, command, args, options, noOptions: Object.freeze(noOptions), required };
}

export interface Placed {
  /** One word for each argument, and a list for a rest argument. */
  readonly words: readonly unknown[];
  /** By option key: true for a flag, a word for a value. Undefined if there are none. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** The words after `--`, for a command that runs a program. */
  readonly behind?: readonly string[] | undefined;
  /** The index of the first of `words` that came after `--`; undefined if none did. */
  readonly literalFrom?: number | undefined;
  /** The words that stand for others. */
  readonly marks?: Marks | undefined;
  readonly where: Where;
}

type Where = Parameters<ValueParser<unknown>>[1];

/** Throws UsageError. */
export function invocationOf(declaration: Declaration, placed: Placed): Invocation {
  const { words, given, marks, behind = [] } = placed;
  const args: Record<string, unknown> = {};
  const ownWhere =
    given?.sequential === true ? { ...placed.where, isSequential: true } : placed.where;
  const literalFrom = given?.literal === true ? 0 : (placed.literalFrom ?? words.length);
  let next = 0;
  for (const [key, { parse: read, arity }] of declaration.args) {
    const where = next >= literalFrom ? { ...ownWhere, isLiteral: true } : ownWhere;
    const readOne = (word: string) => readWord(word, read, where, marks);
    const word = words[next++];
    if (arity === "command") args[key] = marks ? behind.map((one) => textOf(one, marks)) : behind;
    else if (arity === "rest")
      args[key] = Array.isArray(word) ? word.map((one) => readOne(String(one))) : [];
    else args[key] = typeof word === "string" ? readOne(word) : undefined;
  }
  const { entry, command, noOptions } = declaration;
  return {
    entry,
    command,
    args,
    options: given ? optionsOf(declaration, given, placed) : noOptions,
  };
}

function readWord(
  word: string,
  read: ValueParser<unknown>,
  where: Where,
  marks: Marks | undefined,
): unknown {
  const mark = marks?.get(word);
  if (mark === undefined) return read(word, where);
  const { text, glob, template } = mark;
  const isLiteral = mark.isLiteral || where.isLiteral === true;
  return read(text, { ...where, glob, isLiteral, template });
}

function optionsOf(
  declaration: Declaration,
  given: NonNullable<Placed["given"]>,
  { where, marks }: Placed,
) {
  const options: Record<string, unknown> = {};
  for (const [key, option] of declaration.options) {
    const value = given[key];
    if (option.kind === "flag") options[key] = value === true;
    else
      options[key] =
        typeof value === "string" ? readWord(value, option.parse, where, marks) : undefined;
  }
  return options;
}

/**
 * Where a command takes a program to run, everything behind the first `--` is the program's;
 * `behind` is undefined without.
 */
export function splitCommand(
  words: readonly string[],
  declaration: Declaration,
): { readonly words: readonly string[]; readonly behind?: readonly string[] } {
  const at = takesProgram(declaration) ? words.indexOf("--") : -1;
  return at < 0 ? { words } : { words: words.slice(0, at), behind: words.slice(at + 1) };
}

/** Whether a program to run may stand on the line. */
function takesProgram({ args }: Declaration): boolean {
  return args.some(([, { arity }]) => arity === "command");
}
