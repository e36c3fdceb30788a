/** Programs that are run for the user: what commands ask for, and what they hear of them. */

/** The variables that a program is started with. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface ChildRequest {
  /** The program and its arguments, as they are: no shell looks at them. */
  readonly argv: readonly [string, ...string[]];
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The bytes on its stdin. */
  readonly input: Buffer;
  /** Stops the program and everything it has started. */
  readonly signal: AbortSignal;
}

/** How it ended: with a code, or by a signal. */
export type ChildEnd = { readonly code: number } | { readonly killedBy: string };

/**
 * What a program's name leads to. `not-executable`: only to a directory, or to a file that may not
 * be run.
 */
export type ProgramSearch =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "not-found" }
  | { readonly kind: "not-executable"; readonly path: string };

/** How long a program may go on if nothing is heard from zksh any more; Infinity: for ever. */
export interface RunLimits {
  /** SIGTERM then. */
  readonly stopInMs: number;
  /** SIGKILL then. */
  readonly killInMs: number;
}

export interface PrepareOptions {
  /**
   * The terminal is now as the program is to find it. Otherwise that is looked up when the program
   * is started.
   */
  readonly savesTerminal: boolean;
}

/** What a guarded program needs beside it, made ready while its lock is queued for. */
export interface GuardPreparation {
  /** To be called in any case, at the latest when the program has ended. May be called twice. */
  dispose(): void;
}

/**
 * A program that may only run while something is held: it has our stdin, stdout and stderr, and
 * never outlives its permission.
 */
export interface GuardRequest {
  readonly argv: readonly [string, ...string[]];
  /** Added to the environment. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * `own`: a process group of its own, as cron and CI want it. `share`: ours, so that the terminal's keys reach it.
   * `auto`: share where there is a controlling terminal.
   */
  readonly group: "auto" | "own" | "share";
  /**
   * Told of every signal that zksh gets while the program runs, after it has been passed on where
   * that is right. Nobody else hears of it meanwhile.
   */
  readonly onSignal: (signal: NodeJS.Signals) => void;
  /**
   * We have more to do when it has ended: a SIGTERM or SIGHUP that came meanwhile is then told to
   * whoever listened before. It was meant for all of us, unlike the keys for the program in the
   * foreground.
   */
  readonly goesOn?: boolean;
  /**
   * Aborted before the program was started: it is not started any more. Of no meaning afterwards.
   */
  readonly signal?: AbortSignal;
  /**
   * Called at the last moment before it begins; what it throws is thrown instead, and nothing has
   * run.
   */
  readonly mayStart?: () => void;
  /**
   * Asked when the watchdog is armed, before the program begins: see {@link GuardedChild.permit}.
   * Left out: for ever.
   */
  readonly firstPermit?: () => RunLimits;
  /** What the program gets first when zksh is dead. SIGTERM, and a grace, where it is left out. */
  readonly deathSignal?: "SIGTERM" | "SIGKILL";
  /**
   * The process that would end the program in our place has ended, and no other can be started: the
   * program must not rely on it any longer.
   */
  readonly onUnguarded?: (error: Error) => void;
  /** What `prepareGuard` has made ready. Left out: made now. */
  readonly preparation?: GuardPreparation;
}

/** "All of it" below: the program and every process it has started that is still in its session. */
export interface GuardedChild {
  readonly pid: number;
  readonly hasOwnGroup: boolean;
  /**
   * What signals can reach: less than all of it where the system does not show us our processes.
   */
  readonly reach: "all" | "group" | "program";
  /**
   * Settles when the program itself has ended; those it has started may still run. Never rejects.
   */
  readonly ended: Promise<ChildEnd>;
  /**
   * Sends a signal to all of it. Returns the processes that cannot be signalled: they belong to
   * another user.
   */
  signal(name: NodeJS.Signals): readonly number[];
  /** Resolves when nothing of it runs any more. */
  gone(): Promise<void>;
  /**
   * How long it may go on if nothing is heard from us any more, because we are frozen or dead: it
   * is then asked to end (SIGTERM) after `stopInMs` and killed after `killInMs`, by a process that
   * outlives us. Called again and again; the last word counts.
   */
  permit(limits: RunLimits): void;
  /**
   * It was ended because that time had run out, without a word from us; known as soon as it has
   * `ended`.
   */
  wasOutOfTime(): boolean;
  /**
   * Gives signals and terminal back as they were; to be called when nothing of it runs any more.
   */
  dispose(): Promise<void>;
}
