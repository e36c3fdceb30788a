/**
 * The parts that a run of the program has once, shared by all front ends and lines. main.ts builds
 * it from the process; tests build it from their own parts.
 */
import type { Program, RunningServer, ServerRequest } from "../commands/command.ts";
import type { Settings } from "../config/settings.ts";
import type { SettingsFile } from "../config/stored-settings.ts";
import type { Warnings } from "../config/warnings.ts";
import type { Io } from "../io/io.ts";
import type { HostAddresses, WordAnswer, WordOptions } from "../session/four-letter-word.ts";
import type { ServerAddress, SessionOptions } from "../session/options.ts";
import type { Session } from "../session/session.ts";
import type { Aliases } from "./aliases.ts";
import type { PrivateServer } from "./private-server.ts";
import type { ErrorReporter } from "./reports/error-reporter.ts";
import type { Trace } from "./trace.ts";
import type { TypedPasswords } from "./typed-passwords.ts";

export interface Runtime {
  readonly io: Io;
  readonly services: Services;
  readonly program: Program;
  /** Aborted when a signal ends the program. */
  readonly signal: AbortSignal;
  readonly reporter: ErrorReporter;
  readonly warnings: Warnings;
  readonly trace: Trace;
  /** Words of the settings file that stand for lines; undefined where it has none. */
  readonly aliases?: Aliases | undefined;
  /** The settings file; undefined where there is none. */
  readonly file?: SettingsFile | undefined;
  /** Passwords for logins by SASL. */
  readonly passwords: TypedPasswords;
  /** The settings for other servers: a connect string, or `@NAME`. Throws UsageError. */
  readonly settingsAt: (target: string) => Settings;
  /** Starts a server in memory, for `serve`. */
  readonly startServer: (request: ServerRequest) => Promise<RunningServer>;
  /** The server of --embedded. */
  readonly privateServer?: PrivateServer | undefined;
}

/** The other parts of the process, besides streams, files and programs. */
export interface Services {
  openSession(options: SessionOptions): Promise<Session>;
  /** Returns the release and role that a server reports, or undefined. */
  about?(server: string, options: SessionOptions): Promise<string | undefined>;
  /** Sends a four-letter word to a server. */
  askWord?(server: ServerAddress, word: string, options: WordOptions): Promise<WordAnswer>;
  /** The servers that the SRV records of a DNS name list. */
  serversOf?(name: string, signal: AbortSignal): Promise<readonly ServerAddress[]>;
  /** Looks up the name of a host. */
  addressesOf?(host: string, signal: AbortSignal): Promise<HostAddresses>;
  /** The settings file; undefined where there is none. */
  readSettingsFile?(path: string): Promise<StoredFile | undefined>;
  /** Returns true if users other than the owner may read the file. */
  isReadableByOthers?(path: string): Promise<boolean>;
  /** Calls `listener` for each signal that ends the program; returns the function to stop it. */
  onSignal(listener: (signal: EndingSignal) => void): () => void;
  /** Calls `listener` when the event loop has nothing left to wait for. */
  onIdle?(listener: () => void): void;
}

interface StoredFile {
  readonly text: string;
  readonly isReadableByOthers: boolean;
  readonly isWritableByOthers: boolean;
}

// SIGUSR1 is included because Node would start its debugger on it.
export const ENDING_SIGNALS = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGUSR1",
  "SIGUSR2",
  "SIGQUIT",
] as const;

export type EndingSignal = (typeof ENDING_SIGNALS)[number];
