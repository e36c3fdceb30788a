/** What a command is: a declaration that returns typed results. It never prints, prompts or exits. */
import type { ChildEnd, ChildRequest, GuardedChild, GuardRequest, ProgramSearch } from "../child.ts";
import type { LockError } from "../errors.ts";
import type { HeldLock } from "../recipes/locks/held-lock.ts";
import type { Control, Result } from "../result.ts";
import type { Session, WatchListener } from "../session/session.ts";
import type {
  Argument,
  Flag,
  Option,
  OptionalArgument,
  RequiredArgument,
  RestArgument,
  ValueOption,
} from "./arguments.ts";

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
type OptionValue<O> = O extends Flag ? boolean : O extends ValueOption<infer T> ? T | undefined : never;

type ArgumentValues<A extends Arguments> = { readonly [K in keyof A]: ArgumentValue<A[K]> };
type OptionValues<O extends Options> = { readonly [K in keyof O]: OptionValue<O[K]> };

/** What a command can reach while it runs. */
export interface Context {
  /** The session, opened at first use. A getter, so that no command keeps a dead one after a reconnect. */
  session(): Session;
  /** Aborted by Ctrl-C and the like; passed to every call that waits. */
  readonly signal: AbortSignal;
  /** The znode that relative paths start from. */
  readonly cwd: string;
  /** The session ends with this command, and its ephemerals and watches with it. */
  readonly isOneShot: boolean;
  /** A person is looking: a command may ask the server for more than it was told to, to show more. */
  readonly isForPeople: boolean;
  /** Where watch events go; left out where nobody stays to see them. */
  readonly onWatch?: WatchListener;
  readonly program: Program;
  readonly shell: Shell;
  /** How this program names itself to others: `ann@web3`, the whole host name, its process, and `zksh/<version>`. */
  readonly self: { readonly who: string; readonly host: string; readonly pid: number; readonly tool: string };
  /** A variable of the environment. */
  env(name: string): string | undefined;
  /** What was typed when the command's {@link Command.secret} was asked for. */
  readonly secret?: string;
  /** Runs a program to its end, with our stdout and stderr. */
  runChild(request: ChildRequest): Promise<ChildEnd>;
  /** What would be run under a name. */
  findProgram(name: string): Promise<ProgramSearch>;
  /** Starts a program that never outlives its permission, with our stdin, stdout and stderr. */
  startGuarded(request: GuardRequest): Promise<GuardedChild>;
  /** Resolves when stdin has ended; what comes before that is not looked at. */
  stdinEnd(signal: AbortSignal): Promise<void>;
  /** Writes a file in one step: nobody sees half of it. */
  writeFile(path: string, data: string): Promise<void>;
  /** Somebody reads what is told while a command waits. */
  readonly isFollowed: boolean;
  /** Told now and then how far a long piece of work has come. */
  readonly onProgress?: (done: number, what: string) => void;
}

/** What outlives one line, as far as commands may change it. */
export interface Shell {
  /** A person is typing: there will be more lines. */
  readonly isInteractive: boolean;
  changeDirectory(path: string): void;
  /** Where one was before the last change; undefined when there was none. */
  readonly previousCwd: string | undefined;
  /** The session; a new one when the last was lost. For commands that go on where a session ends. */
  session(): Promise<Session>;
  /** A session beside the shell's own, for work that must not share its fate. Whoever asks for it closes it. */
  openSession(options: { readonly timeoutMs?: number | undefined }): Promise<Session>;
  /** The locks that were taken by earlier lines, by path. */
  readonly heldLocks: Map<string, HeldLock>;
  /** A lock of an earlier line is no longer held. */
  lockLost(path: string, error: LockError): void;
  /** Tells something that no line has asked for. */
  say(line: string): void;
  /** Leaves the session and opens another, to `target` or to the same servers; resolves when a server has accepted it. */
  connect(target: string | undefined, signal: AbortSignal): Promise<Session>;
  /** Ends the session; the next one is opened by {@link connect} only. */
  disconnect(): Promise<void>;
  /** Proves an identity in this session and in every session after it. */
  identify(scheme: string, credential: Buffer, signal: AbortSignal): Promise<void>;
  /** The lines so far, oldest first and without passwords; the last is the one that is running. */
  readonly history: readonly string[];
  /** Whether watch events are shown. */
  printsWatches: boolean;
}

/** What the program knows of itself, for `help` and `version`. */
export interface Program {
  readonly commands: readonly CommandEntry[];
  readonly globalOptions: readonly { readonly term: string; readonly summary: string; readonly env?: string }[];
  /** The candidate that was probably meant. */
  suggest(word: string, candidates: Iterable<string>): string | undefined;
  version(): string;
}

export interface Command<A extends Arguments = Arguments, O extends Options = Options> {
  /** More than the summary says; shown by `help NAME`. */
  readonly details?: string;
  /** Lines that work as they stand, without the program's name. */
  readonly examples: readonly string[];
  /** `write` is refused in read-only mode. */
  readonly effect: "read" | "write" | "none";
  readonly args: A;
  readonly options: O;
  /**
   * True when `run` makes all its requests before its first await. A one-shot then says goodbye in the same flight.
   */
  readonly oneFlight?: boolean | ((context: Context, args: ArgumentValues<A>, options: OptionValues<O>) => boolean);
  /**
   * For commands that destroy: what is about to happen, as a question; undefined when there is nothing to ask. Asked on a
   * terminal, answered by --yes, refused anywhere else.
   */
  confirm?(context: Context, args: ArgumentValues<A>, options: OptionValues<O>): Promise<string | undefined>;
  /** What to ask for, unseen, before the command runs; undefined when the line has it all. */
  secret?(args: ArgumentValues<A>, options: OptionValues<O>): string | undefined;
  run(
    context: Context,
    args: ArgumentValues<A>,
    options: OptionValues<O>,
  ): Promise<Result | Control> | AsyncIterable<Result>;
}

// The registry's element type: each command has its own argument types, which only its parser and its run know.
// biome-ignore lint/suspicious/noExplicitAny: the one place where the types of different commands meet
export type AnyCommand = Command<any, any>;

export type CommandGroup = "znodes" | "locks" | "access" | "watches" | "quotas" | "server" | "shell";

/** A line of the registry: what `help` and the parser need to know without loading the command. */
export interface CommandEntry {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line, imperative, without a full stop. */
  readonly summary: string;
  readonly group: CommandGroup;
  /** Never asks a server anything, or opens a session of its own. */
  readonly isOffline?: boolean;
  /** Runs programs under a lock, whose exit codes must come through: its own are those of the second table. */
  readonly isGuard?: boolean;
  load(): Promise<AnyCommand>;
}

/** Returns its argument: it is there so that `run` knows the types of its arguments and options. */
export function defineCommand<const A extends Arguments, const O extends Options>(
  command: Command<A, O>,
): Command<A, O> {
  return command;
}

/** The entry that answers to `name`, or undefined. */
export function findCommand(entries: readonly CommandEntry[], name: string): CommandEntry | undefined {
  return entries.find((entry) => entry.name === name || entry.aliases?.includes(name));
}
