/**
 * What a command can reach while it runs: the session, the shell around it, other programs, files;
 * never the process itself.
 */

import type { LockError } from "../errors.ts";
import type { Files } from "../io/files.ts";
import type { Environment, Processes } from "../processes/child-requests.ts";
import type { HeldLock } from "../recipes/locks/held-lock.ts";
import type { RevokeRequest } from "../recipes/locks/holder-record.ts";
import type { SettingRow } from "../results/shell.ts";
import type { Servers } from "../session/four-letter-word.ts";
import type { Session, WatchListener } from "../session/session.ts";
import type { WriteRules } from "../session/write-rules.ts";
import type { CommandEntry } from "./command.ts";
import type { CommandInput } from "./command-input.ts";
import type { UndoStore } from "./undo/undo-store.ts";

export interface Context {
  /**
   * The session, which is open or being opened. Throws for a command that is registered as needing
   * none.
   */
  session(): Session;
  /** Aborted by Ctrl-C and by signals; passed to every call that waits. */
  readonly signal: AbortSignal;
  /**
   * What the settings forbid to write here. {@link session} keeps to it; sessions from `shell` do
   * not, because the tickets of a lock may be created at protected paths.
   */
  readonly writes: WriteRules;
  /** The same at other servers: a connect string, or `@NAME` for those of a profile. */
  writesAt(target: string): WriteRules;
  readonly shell: Shell;
  /** Runs other programs. */
  readonly processes: CommandProcesses;
  readonly files: Omit<Files, "read">;
  readonly input: CommandInput;
  readonly output: CommandOutput;
  /** Starts servers in memory. */
  readonly server: ServerStarter;
  readonly program: Program;
  readonly servers: Servers;
  /** What `undo` can bring back; undefined where the settings or the system allow none. */
  undoStore(): Promise<UndoStore | undefined>;
  /** The same where commands keep what they destroy: only for a person at a terminal. */
  undo(): Promise<UndoStore | undefined>;
  /** The settings of this line, and the file that they are in part from. */
  settings(): Promise<{ readonly rows: readonly SettingRow[]; readonly file: string | undefined }>;
}

interface CommandProcesses extends Processes {
  /**
   * The variables that make a zksh which a child runs use the servers of `session`. No credentials
   * are among them.
   */
  childEnvironment(session: Session): Readonly<Record<string, string>>;
}

/** Who reads the output of a command. A command returns results; it never writes them itself. */
interface CommandOutput {
  /** A person reads the results: a command may ask the server for more, to show more. */
  readonly isForPeople: boolean;
  /** Progress events are shown while a command waits. */
  readonly isFollowed: boolean;
  /** Lines are parsed, and results ordered, as Apache zkCli does it. */
  readonly isZkcli: boolean;
  /** Receives watch events; left out in a one-shot, which ends before an event can come. */
  readonly onWatch?: WatchListener;
  /** Called now and then with the progress of long work: `1000, "znodes deleted"`. */
  readonly onProgress?: (done: number, what: string) => void;
}

interface ServerStarter {
  /** Starts a server in memory. The caller stops it. */
  start(request: ServerRequest): Promise<RunningServer>;
}

/**
 * Where a server listens: port 0 takes a free one; a socket in the file system is for those who may
 * enter its directory.
 */
export type ServerRequest =
  | {
      readonly port: number;
      readonly host: string;
      /** Passwords by user, for SASL DIGEST-MD5. */
      readonly saslUsers?: ReadonlyMap<string, string>;
    }
  | { readonly socketPath: string };

export interface RunningServer {
  /** `host:port`, or `unix:PATH`. */
  readonly address: string;
  stop(): Promise<void>;
}

/** What outlives one line, as far as commands may read or change it. */
export interface Shell {
  /** A person is typing: there will be more lines. */
  readonly isInteractive: boolean;
  /** The session ends with this command, and its ephemerals and watches with it. */
  readonly isOneShot: boolean;
  /** The working znode, where relative paths start. */
  readonly cwd: string;
  /** The working znode before the last change; undefined when there was none. */
  readonly previousCwd: string | undefined;
  changeDirectory(path: string): void;
  /**
   * The session; a new one when the last was lost. For commands that go on where a session ends.
   */
  session(): Promise<Session>;
  /** A session beside the shell's own, for work that must outlive it. The caller closes it. */
  openSession(options: {
    readonly timeoutMs?: number | undefined;
    /** Other servers than the shell's: a connect string, or `@NAME` for those of a profile. */
    readonly target?: string | undefined;
  }): Promise<Session>;
  /** The locks that were taken by earlier lines, by path. */
  readonly heldLocks: Map<string, HeldLock>;
  /** A lock of an earlier line is no longer held. */
  lockLost(path: string, error: LockError): void;
  /** A lock of an earlier line was revoked: releases it as soon as no line runs under it. */
  releaseRevoked(lock: HeldLock, request: RevokeRequest): void;
  /** Shows a message that is not the result of a line. */
  notify(message: string): void;
  /**
   * Leaves the session and opens another, to `target` or to the same servers; resolves when a
   * server has accepted it.
   */
  connect(target: string | undefined, signal: AbortSignal): Promise<Session>;
  /** Ends the session; the next one is opened by {@link connect} only. */
  disconnect(): Promise<void>;
  /** Authenticates this session and every later one. */
  authenticate(scheme: string, credential: Buffer, signal: AbortSignal): Promise<void>;
  /** The lines so far, oldest first and without passwords; the last is the one that is running. */
  readonly history: readonly string[];
  /** Whether watch events are shown. */
  printsWatches: boolean;
}

/** What the program knows of itself: its commands and options, its version, who runs it. */
export interface Program {
  /** How this process names itself to others: `ann@web3`, the full host name, `zksh/<version>`. */
  readonly self: {
    readonly who: string;
    readonly host: string;
    readonly pid: number;
    readonly tool: string;
  };
  /** The environment variables of this process. */
  readonly env: Environment;
  readonly commands: readonly CommandEntry[];
  readonly globalOptions: readonly {
    readonly term: string;
    readonly summary: string;
    readonly env?: string;
    /** May also be given on one line of the shell or of a script. */
    readonly holdsForOneLine: boolean;
  }[];
  /** The profiles of the settings file, and the words that stand for lines. */
  readonly profiles: readonly string[];
  readonly aliases: ReadonlyMap<string, string>;
  /** The candidate most like a misspelt word; undefined when none is. */
  suggest(word: string, candidates: Iterable<string>): string | undefined;
  version(): string;
}
