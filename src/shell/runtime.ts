/**
 * What a run of the program has once, for all its front ends and lines. Built in main.ts, where the
 * parts of the process come in; tests build it with parts of their own.
 */
import type { Program, RunningServer, ServerRequest } from "../commands/command.ts";
import type { Warnings } from "../config/warnings.ts";
import type { Io } from "../io/io.ts";
import type { SessionOptions } from "../session/options.ts";
import type { Session } from "../session/session.ts";
import type { PrivateServer } from "./private-server.ts";
import type { ErrorReporter } from "./reports/error-reporter.ts";
import type { Trace } from "./trace.ts";

export interface Runtime {
  readonly io: Io;
  readonly services: Services;
  readonly program: Program;
  /** Aborted when a signal ends the whole program. */
  readonly signal: AbortSignal;
  readonly reporter: ErrorReporter;
  readonly warnings: Warnings;
  readonly trace: Trace;
  /** Starts a server in memory, for `serve`. */
  readonly startServer: (request: ServerRequest) => Promise<RunningServer>;
  /** The server of --embedded, which sessions go to. */
  readonly privateServer?: PrivateServer | undefined;
}

/** The parts of the process that are no streams, files or programs. */
export interface Services {
  openSession(options: SessionOptions): Promise<Session>;
  /** A server's release and role, as it reports them; undefined when it does not. */
  about?(server: string, options: SessionOptions): Promise<string | undefined>;
  /** Whether users other than its owner may read a file. */
  isReadableByOthers?(path: string): Promise<boolean>;
  /** Calls `listener` for each signal that ends the program; returns the function to stop it. */
  onSignal(listener: (signal: EndingSignal) => void): () => void;
  /** Calls `listener` when the event loop has nothing left to wait for. */
  onIdle?(listener: () => void): void;
}

// Node would open its debugger for anybody who sends SIGUSR1.
export const ENDING_SIGNALS = [
  "SIGINT",
  "SIGTERM",
  "SIGHUP",
  "SIGUSR1",
  "SIGUSR2",
  "SIGQUIT",
] as const;

export type EndingSignal = (typeof ENDING_SIGNALS)[number];
