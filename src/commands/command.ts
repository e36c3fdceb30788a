/**
 * What a command is: a declaration that returns typed results. It never prints, prompts or exits.
 */
import type { Control, Result } from "../results/result.ts";
import type { MultiOp } from "../session/session.ts";
import type { WriteRules } from "../session/write-rules.ts";
import type {
  Argument,
  Flag,
  Option,
  OptionalArgument,
  RequiredArgument,
  RestArgument,
  ValueOption,
} from "./arguments.ts";
import type { Context } from "./context.ts";

export type {
  Context,
  Program,
  RunningServer,
  ServerRequest,
  Shell,
} from "./context.ts";

export type Arguments = Readonly<Record<string, Argument<unknown>>>;
export type Options = Readonly<Record<string, Option<unknown>>>;

type ArgumentValue<A> =
  A extends RequiredArgument<infer T>
    ? T
    : A extends OptionalArgument<infer T>
      ? T | undefined
      : A extends RestArgument<infer T>
        ? readonly T[]
        : never;
type OptionValue<O> = O extends Flag
  ? boolean
  : O extends ValueOption<infer T>
    ? T | undefined
    : never;

type ArgumentValues<A extends Arguments> = { readonly [K in keyof A]: ArgumentValue<A[K]> };
type OptionValues<O extends Options> = { readonly [K in keyof O]: OptionValue<O[K]> };

interface Secret {
  readonly question: string;
  /** The secret's name in messages: `ann's password`. */
  readonly what: string;
  /** What to use without a terminal. */
  readonly instead: string;
}

/** What is asked before a destructive command. */
export interface Question {
  readonly text: string;
  /** What must be typed where a profile has `confirm`. */
  readonly paths: readonly string[];
  /** The rules of the server on which the command destroys something. Default: the session's. */
  readonly rules?: WriteRules;
}

export interface Command<A extends Arguments = Arguments, O extends Options = Options> {
  /** The text of `help NAME` below the options. */
  readonly details?: string;
  /** Lines that work as they are, without the program's name. */
  readonly examples: readonly string[];
  /** `write` is refused in read-only mode. */
  readonly effect: "read" | "write" | "none";
  readonly args: A;
  readonly options: O;
  /**
   * True if `run` sends all its requests before its first await. A one-shot then sends closeSession
   * together with them.
   */
  readonly oneFlight?:
    | boolean
    | ((context: Context, args: ArgumentValues<A>, options: OptionValues<O>) => boolean);
  /**
   * Returns the question before a destructive command, or undefined if none is needed. zksh asks it
   * on a terminal, --yes answers it, and without a terminal the command is refused.
   */
  confirm?(
    context: Context,
    args: ArgumentValues<A>,
    options: OptionValues<O>,
  ): Promise<Question | undefined>;
  /** Returns the password to ask for, or undefined if the line has it. */
  secret?(args: ArgumentValues<A>, options: OptionValues<O>): Secret | undefined;
  /**
   * The line as operations of a transaction, for commands that can stand in `txn`. Throws
   * UsageError for options that a transaction cannot have.
   */
  operations?(
    args: ArgumentValues<A>,
    options: OptionValues<O>,
  ): Promise<readonly MultiOp[]> | readonly MultiOp[];
  run(
    context: Context,
    args: ArgumentValues<A>,
    options: OptionValues<O>,
  ): Promise<Result | Control> | AsyncIterable<Result>;
}

// The registry's element type: each command has its own argument types, which only its parser and
// its run know.
// biome-ignore lint/suspicious/noExplicitAny: the one place where the types of different commands meet
export type AnyCommand = Command<any, any>;

export type CommandGroup =
  | "znodes"
  | "trees"
  | "locks"
  | "access"
  | "watches"
  | "quotas"
  | "server"
  | "shell";

/** A line of the registry: what `help` and the parser need to know without loading the command. */
export interface CommandEntry {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, imperative, without a full stop. */
  readonly summary: string;
  readonly group: CommandGroup;
  /** The command sends nothing to a server, or opens its own session. */
  readonly needsNoShellSession?: boolean;
  /**
   * The command runs a program under a lock and passes its exit code on. Its own exit codes are
   * those of LockExitCode.
   */
  readonly isGuard?: boolean;
  /** On a terminal, results that are longer than the screen go to a pager. Not for live views. */
  readonly isPaged?: boolean;
  /** The command runs until a signal ends it, with exit code 0. */
  readonly endsBySignal?: boolean;
  load(): Promise<AnyCommand>;
}

/** A line in the file of its group, `registry/GROUP.ts`. */
export type GroupEntry = Omit<CommandEntry, "group">;

/** Returns its argument, and infers the types of the arguments and options of `run`. */
export function defineCommand<const A extends Arguments, const O extends Options>(
  command: Command<A, O>,
): Command<A, O> {
  return command;
}

/** The entry that answers to `name`, or undefined. */
export function findCommand(
  entries: readonly CommandEntry[],
  name: string,
): CommandEntry | undefined {
  return entries.find((entry) => entry.name === name || entry.aliases?.includes(name));
}
