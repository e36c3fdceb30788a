/**
 * What a command can reach: the session, the shell around it, programs, and nothing of the process
 * itself.
 */

import type { LockError } from "../errors.ts";
import type {
  ChildEnd,
  ChildRequest,
  GuardedChild,
  GuardPreparation,
  GuardRequest,
  PrepareOptions,
  ProgramSearch,
} from "../processes/child-requests.ts";
import type { HeldLock } from "../recipes/locks/held-lock.ts";
import type { RevokeRequest } from "../recipes/locks/holder-record.ts";
import type { Session, WatchListener } from "../session/session.ts";
import type { CommandEntry } from "./command.ts";

/** What a command can reach while it runs. */
export interface Context {
  /**
   * The session, opened at first use. A getter, so that no command keeps a dead one after a
   * reconnect.
   */
  session(): Session;
  /** Aborted by Ctrl-C and the like; passed to every call that waits. */
  readonly signal: AbortSignal;
  /** The znode that relative paths start from. */
  readonly cwd: string;
  /** The session ends with this command, and its ephemerals and watches with it. */
  readonly isOneShot: boolean;
  /**
   * A person is looking: a command may ask the server for more than it was told to, to show more.
   */
  readonly isForPeople: boolean;
  /** Lines are read, and results ordered, as Apache zkCli does it. */
  readonly isZkcli?: boolean;
  /** Where watch events go; left out where nobody stays to see them. */
  readonly onWatch?: WatchListener;
  readonly program: Program;
  readonly shell: Shell;
  /**
   * How this program names itself to others: `ann@web3`, the whole host name, its process, and
   * `zksh/<version>`.
   */
  readonly self: {
    readonly who: string;
    readonly host: string;
    readonly pid: number;
    readonly tool: string;
  };
  /** A variable of the environment. */
  env(name: string): string | undefined;
  /** What was typed when the command's {@link Command.secret} was asked for. */
  readonly secret?: string;
  /** Runs a program to its end, with our stdout and stderr. */
  runChild(request: ChildRequest): Promise<ChildEnd>;
  /**
   * The variables that make a zksh which a child runs use the servers of `session`. No credentials
   * are among them.
   */
  childEnvironment(session: Session): Readonly<Record<string, string>>;
  /** What would be run under a name. */
  findProgram(name: string): Promise<ProgramSearch>;
  /** Makes ready what such a program needs beside it, while its lock is queued for. */
  prepareGuard(options: PrepareOptions): Promise<GuardPreparation>;
  /** Starts a program that never outlives its permission, with our stdin, stdout and stderr. */
  startGuarded(request: GuardRequest): Promise<GuardedChild>;
  /** Resolves when stdin has ended; what comes before that is not looked at. */
  stdinEnd(signal: AbortSignal): Promise<void>;
  /**
   * Why nothing can be waited for on stdin: it has ended, or is a file. What it still has is thrown
   * away.
   */
  stdinIsOver(): "ended" | "file" | undefined;
  /** Starts a server in memory. Whoever starts it stops it. */
  startServer(request: ServerRequest): Promise<RunningServer>;
  /** Writes a file in one step: nobody sees half of it. */
  writeFile(path: string, data: string): Promise<void>;
  /** Why a file could not be written; undefined when it probably can. */
  cannotWrite(path: string): Promise<string | undefined>;
  /** Somebody reads what is told while a command waits. */
  readonly isFollowed: boolean;
  /** Told now and then how far a long piece of work has come. */
  readonly onProgress?: (done: number, what: string) => void;
}

/**
 * Where a server listens: port 0 takes a free one; a socket in the file system is for those who may
 * enter its directory.
 */
export type ServerRequest =
  | { readonly port: number; readonly host: string }
  | { readonly socketPath: string };

export interface RunningServer {
  /** `host:port`, or `unix:PATH`. */
  readonly address: string;
  stop(): Promise<void>;
}

/** What outlives one line, as far as commands may change it. */
export interface Shell {
  /** A person is typing: there will be more lines. */
  readonly isInteractive: boolean;
  changeDirectory(path: string): void;
  /** Where one was before the last change; undefined when there was none. */
  readonly previousCwd: string | undefined;
  /**
   * The session; a new one when the last was lost. For commands that go on where a session ends.
   */
  session(): Promise<Session>;
  /**
   * A session beside the shell's own, for work that must not share its fate. Whoever asks for it
   * closes it.
   */
  openSession(options: { readonly timeoutMs?: number | undefined }): Promise<Session>;
  /** The locks that were taken by earlier lines, by path. */
  readonly heldLocks: Map<string, HeldLock>;
  /** A lock of an earlier line is no longer held. */
  lockLost(path: string, error: LockError): void;
  /**
   * Somebody asks for a lock of an earlier line: gives it back, when no line is running that may
   * rely on it.
   */
  giveWay(lock: HeldLock, request: RevokeRequest): void;
  /** Tells something that no line has asked for. */
  say(line: string): void;
  /**
   * Leaves the session and opens another, to `target` or to the same servers; resolves when a
   * server has accepted it.
   */
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
  readonly globalOptions: readonly {
    readonly term: string;
    readonly summary: string;
    readonly env?: string;
    /** May also be given on one line of the shell or of a script. */
    readonly holdsForOneLine: boolean;
  }[];
  /** The candidate that was probably meant. */
  suggest(word: string, candidates: Iterable<string>): string | undefined;
  version(): string;
}
