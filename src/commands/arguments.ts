/**
 * How a command declares its arguments and options, and the parsers that turn words into values.
 */

import { UsageError } from "../errors.ts";
import { parseAcl } from "../session/acl.ts";
import { refuseSteps, resolvePath, validatePath } from "../session/path.ts";
import type { Acl } from "../session/session.ts";
import { parseDuration, parseZkcliDuration } from "../text/duration.ts";
import type { PathGlob } from "./glob-paths.ts";
import type { InnerLine, InnerLineOptions, LineTemplate } from "./inner-line.ts";

/** Reads what an argument only names: the data of `-` (stdin) and `@file`, and lines in a line. */
export interface Reader {
  /** Throws UsageError when it is called twice for one line. */
  stdin(): Promise<Buffer>;
  file(path: string): Promise<Buffer>;
  paths(glob: PathGlob): Promise<readonly string[]>;
  /** Parses lines with the declarations of other commands. Throws UsageError. */
  lines(text: string | Uint8Array, how: InnerLineOptions): Promise<readonly InnerLine[]>;
}

/**
 * A value that is read from stdin or a file before the command runs, so that `run` can send its
 * requests at once.
 */
export class Outside<T> {
  readonly read: (reader: Reader) => Promise<T>;

  constructor(read: (reader: Reader) => Promise<T>) {
    this.read = read;
  }
}

/** The context of a word on the line. */
interface Where {
  /** The znode that relative paths start from. */
  readonly cwd: string;
  /** The zkCli dialect: paths are absolute (until a `cd`), and data is always text. */
  readonly isVerbatim?: boolean;
  /** The line creates a sequential znode, whose name may be only the server's number. */
  readonly isSequential?: boolean;
  /** It stands after `--`, the line has `--literal`, or it is a variable's value: it is text. */
  readonly isLiteral?: boolean;
  /** The word as a glob, where some of its characters were quoted. Default: the word itself. */
  readonly glob?: string;
  /** The word with its variables kept apart. Left out: it has none. */
  readonly template?: LineTemplate | undefined;
}

/** Turns a word into a value. Throws UsageError. */
export type ValueParser<T> = (word: string, where: Where) => T | Outside<T>;

interface Declared<T> {
  readonly parse: ValueParser<T>;
  readonly summary: string;
}
export interface RequiredArgument<T> extends Declared<T> {
  readonly arity: "required";
}
export interface OptionalArgument<T> extends Declared<T> {
  readonly arity: "optional";
}
export interface RestArgument<T> extends Declared<T> {
  readonly arity: "rest" | "command";
}
export type Argument<T> = RequiredArgument<T> | OptionalArgument<T> | RestArgument<T>;

interface OptionPlace {
  readonly short: string;
  /** The help topic that explains an option shared by several commands. */
  readonly topic?: string;
}
export interface Flag extends OptionPlace {
  readonly kind: "flag";
  readonly summary: string;
}
export interface ValueOption<T> extends Declared<T>, OptionPlace {
  readonly kind: "value";
  /** The word that stands for the value in usage lines. */
  readonly placeholder: string;
}
export type Option<T> = Flag | ValueOption<T>;

export function required<T>(parse: ValueParser<T>, summary: string): RequiredArgument<T> {
  return { arity: "required", parse, summary };
}

export function optional<T>(parse: ValueParser<T>, summary: string): OptionalArgument<T> {
  return { arity: "optional", parse, summary };
}

/** All remaining words, perhaps none. Must be the last argument. */
export function rest<T>(parse: ValueParser<T>, summary: string): RestArgument<T> {
  return { arity: "rest", parse, summary };
}

/** The words after `--`: a program and its arguments. Perhaps none. Must be the last argument. */
export function programToRun(summary: string): RestArgument<string> {
  return { arity: "command", parse: word, summary };
}

/** An option without a value. Its long name is its key in kebab-case; `short` may be empty. */
export function flag(short: string, summary: string): Flag {
  return { kind: "flag", short, summary };
}

/** An option with a value; its long name is its key in kebab-case. */
export function option<T>(
  short: string,
  placeholder: string,
  parse: ValueParser<T>,
  summary: string,
): ValueOption<T> {
  return { kind: "value", short, placeholder, parse, summary };
}

/** Marks options that a help topic explains; the command's own page only refers to it. */
export function explainedIn<const O extends Readonly<Record<string, Option<unknown>>>>(
  topic: string,
  options: O,
): O {
  const placed = Object.entries(options).map(([key, one]) => [key, { ...one, topic }]);
  return Object.fromEntries(placed) as O;
}

export const word: ValueParser<string> = (text) => text;

/** The path of a znode, made absolute. A slash at the end, as TAB leaves it, is removed. */
export const znodePath: ValueParser<string> = (text, where) => {
  const path = absolutePath(text, where);
  // zkCli refuses it.
  const znode =
    where.isVerbatim || path.length === 1 || !path.endsWith("/") ? path : path.slice(0, -1);
  validatePath(znode);
  return znode;
};

/**
 * The path of a znode to create: like {@link znodePath}, but a sequential one keeps a slash at its
 * end, where the server appends the number.
 */
export const newZnodePath: ValueParser<string> = (text, where) => {
  if (!where.isSequential && !where.isVerbatim) return znodePath(text, where);
  const path = absolutePath(text, where);
  validatePath(path, { sequential: true });
  return path;
};

function absolutePath(text: string, { cwd, isVerbatim = false }: Where): string {
  if (isVerbatim && cwd === "/") return text;
  if (!isVerbatim) refuseSteps(text);
  return resolvePath(text, cwd);
}

const INT32 = { min: -(2 ** 31), max: 2 ** 31 - 1 };

/** The version of a znode: a signed 32-bit number, because the counter of a busy znode can wrap. */
export const version: ValueParser<number> = (text) => {
  const number = /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= INT32.min && number <= INT32.max) return number;
  throw new UsageError(`bad version '${text}'`, {
    hint: "use a whole number, like dataVersion in the output of stat",
  });
};

export const acl: ValueParser<Acl[]> = (text) => parseAcl(text);

/** Milliseconds. */
export const duration: ValueParser<number> = (text) => parseDuration(text);

// The server keeps a TTL in 40 bits of the ephemeralOwner field.
const MAX_TTL_MS = 0xff_ffff_ffff;

/** Milliseconds, as in zkCli, or a duration with a unit. */
export const ttl: ValueParser<number> = (text) => {
  const ms = /^-\d+$/.test(text) ? -1 : parseZkcliDuration(text);
  if (ms > 0 && ms <= MAX_TTL_MS) return ms;
  throw new UsageError(`ttl must be positive and cannot be larger than: ${MAX_TTL_MS}`);
};
