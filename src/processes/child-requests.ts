/** Requests to run a program for the user, and what they result in. */
import type { Writable } from "node:stream";

/** The environment variables of a program. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ChildRequest {
  /** The program and its arguments; no shell interprets them. */
  readonly argv: readonly [string, ...string[]];
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The bytes on its stdin. */
  readonly input: Buffer;
  /** Stops the program and everything it has started. */
  readonly signal: AbortSignal;
  /** Its stdout: a pipe of zksh. Left out: our stdout. */
  readonly stdout?: Writable;
}

/** A command line for the system's shell, which gets what zksh writes. */
export interface ShellRequest {
  readonly command: string;
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Takes its stdout. Left out: our stdout. */
  readonly onOutput?: (bytes: Uint8Array) => void;
  /**
   * Called for Ctrl-C, which the terminal sends to the command as well. Other listeners of zksh do
   * not get it meanwhile. Left out: Ctrl-C ends zksh.
   */
  readonly onInterrupt?: () => void;
  /** Called just before it is started, when Ctrl-C is ours to handle: gives it the terminal. */
  readonly beforeStart?: () => void;
}

/** The system's shell with its command line. */
export interface ShellChild {
  /** Its stdin, a pipe. Writing fails with EPIPE when nothing reads it any more. */
  readonly stdin: Writable;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** Stops it and everything it has started: SIGTERM, and SIGKILL after a grace. */
  stop(): void;
}

/** How a program ended: with an exit code, or by a signal. */
export type ChildEnd = { readonly code: number } | { readonly killedBy: string };

/**
 * The result of looking a program up by its name. `not-executable`: only a directory, or a file
 * without execute permission, has that name.
 */
export type ProgramSearch =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "not-found" }
  | { readonly kind: "not-executable"; readonly path: string };

/** How long a program may run from the moment at which they are asked for; Infinity: no limit. */
export interface RunLimits {
  /** The watchdog sends SIGTERM after this time. */
  readonly stopInMs: number;
  /** The watchdog sends SIGKILL after this time. */
  readonly killInMs: number;
}

export interface PrepareOptions {
  /**
   * True: save the terminal's modes now. False: save them when the program is started, because the
   * line editor uses the terminal until then.
   */
  readonly savesTerminal: boolean;
  /** Called when the program is about to be started, with our stdin, stdout and stderr. */
  readonly onStart?: () => void;
}

/** The watchdog and the checks of a guarded program, started while zksh still queues for the lock. */
export interface GuardPreparation {
  /**
   * Starts a program that never outlives its permission, with our stdin, stdout and stderr; see
   * guarded-child.ts for what it throws.
   */
  start(request: GuardRequest): Promise<GuardedChild>;
  /** Ends the watchdog. Must be called, at the latest when the program has ended; may be called twice. */
  dispose(): void;
}

/**
 * A program that may only run while a lock is held. It inherits stdin, stdout and stderr of zksh,
 * and is stopped when its permission ends (see {@link RunLimits}).
 */
export interface GuardRequest {
  readonly argv: readonly [string, ...string[]];
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * `own`: a process group of its own, which suits cron and CI. `share`: the group of zksh, so that
   * the keys of the terminal reach the program. `auto`: share where there is a controlling terminal.
   */
  readonly group: "auto" | "own" | "share";
  /**
   * Called for every signal that zksh gets while the program runs, after the signal was forwarded
   * to the program where it should be. Other listeners of zksh do not get it meanwhile.
   */
  readonly onSignal: (signal: NodeJS.Signals) => void;
  /**
   * zksh continues after the program (a script, the prompt). A SIGTERM or SIGHUP that came meanwhile
   * is then emitted again for the earlier listeners, because it was meant for zksh too; keys such
   * as Ctrl-C were meant for the program in the foreground only.
   */
  readonly goesOn?: boolean;
  /** Aborting it before the program has started cancels the start; later it has no effect. */
  readonly signal?: AbortSignal;
  /** The last check before the program begins. When it throws, nothing has run. */
  readonly mayStart?: () => void;
  /**
   * The first limits, for arming the watchdog before the program begins; see
   * {@link GuardedChild.permit}. Left out: no limits.
   */
  readonly firstPermit?: () => RunLimits;
  /**
   * The first signal of the watchdog to the program when zksh is dead. The default is SIGTERM, and
   * SIGKILL after a grace.
   */
  readonly deathSignal?: "SIGTERM" | "SIGKILL";
  /** Called when the watchdog has ended and no other can be started. */
  readonly onUnguarded?: (error: Error) => void;
  /** Its stdout: a pipe of zksh. Left out: our stdout. */
  readonly stdout?: Writable;
}

/** Programs of the system, as commands reach them. */
export interface Processes {
  /** Runs a program to its end, with our stdout and stderr; see run-child.ts for what it throws. */
  run(request: ChildRequest): Promise<ChildEnd>;
  /** Starts the system's shell; see shell-child.ts for what it throws. */
  startShell(request: ShellRequest): Promise<ShellChild>;
  /** What would be run under a name. */
  find(name: string): Promise<ProgramSearch>;
  /**
   * Prepares what a guarded program needs beside it, while its lock is queued for; see
   * guarded-child.ts for what it throws.
   */
  prepareGuard(options: PrepareOptions): Promise<GuardPreparation>;
}

/** "The tree" below: the program and every process it has started that is still in its session. */
export interface GuardedChild {
  readonly pid: number;
  readonly hasOwnGroup: boolean;
  /**
   * What signals can reach: less than the tree where the system does not show us our processes.
   */
  readonly reach: "all" | "group" | "program";
  /**
   * Resolves when the program itself has ended; processes that it has started may still run. Never
   * rejects.
   */
  readonly ended: Promise<ChildEnd>;
  /**
   * Sends a signal to the tree. Returns the processes that cannot be signalled because they belong
   * to another user.
   */
  signal(name: NodeJS.Signals): readonly number[];
  /** Resolves when no process of the tree runs any more. */
  gone(): Promise<void>;
  /**
   * Tells the watchdog how long the tree may run if zksh is frozen or dead from now on: it gets
   * SIGTERM after `stopInMs` and SIGKILL after `killInMs`. Each call replaces the limits before.
   * A function: the limits count from before it is called, so that they are not extended when zksh
   * is frozen while it computes them.
   */
  permit(limits: () => RunLimits): void;
  /**
   * True when the watchdog ended the program because those limits had passed; valid once the
   * program has `ended`.
   */
  wasOutOfTime(): boolean;
  /**
   * Restores signal handlers and the terminal, and ends the watchdog; to be called when no process
   * of the tree runs any more.
   */
  dispose(): Promise<void>;
}
