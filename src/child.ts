/** Programs that are run for the user: what commands ask for, and what they hear of them. */

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

/** What a program's name leads to. `not-executable`: only to a directory, or to a file that may not be run. */
export type ProgramSearch =
  | { readonly kind: "found"; readonly path: string }
  | { readonly kind: "not-found" }
  | { readonly kind: "not-executable"; readonly path: string };

/** A program that may only run while something is held: it has our stdin, stdout and stderr, and never outlives its permission. */
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
   * Told of every signal that zksh gets while the program runs, after it has been passed on where that is right. Nobody
   * else hears of it meanwhile.
   */
  readonly onSignal: (signal: NodeJS.Signals) => void;
  /**
   * We have more to do when it has ended: a SIGTERM or SIGHUP that came meanwhile is then told to whoever listened before. It
   * was meant for all of us, unlike the keys for the program in the foreground.
   */
  readonly goesOn?: boolean;
  /** Aborted before the program was started: it is not started any more. Of no meaning afterwards. */
  readonly signal?: AbortSignal;
  /** Called at the last moment before it is started; what it throws is thrown instead. */
  readonly mayStart?: () => void;
}

/** "All of it" below: the program and every process it has started that is still in its group. */
export interface GuardedChild {
  readonly pid: number;
  readonly hasOwnGroup: boolean;
  /** Settles when the program itself has ended; those it has started may still run. Never rejects. */
  readonly ended: Promise<ChildEnd>;
  /** Sends a signal to all of it. */
  signal(name: NodeJS.Signals): void;
  /** Resolves when nothing of it runs any more. */
  gone(): Promise<void>;
  /**
   * How long it may go on if nothing is heard from us any more, because we are frozen or dead: it is then asked to end
   * (SIGTERM) after `stopInMs` and killed after `killInMs`, by a process that outlives us. Called again and again; the
   * last word counts. Infinity: for ever.
   */
  permit(limits: { readonly stopInMs: number; readonly killInMs: number }): void;
  /** It was ended because that time had run out, without a word from us; known as soon as it has `ended`. */
  wasOutOfTime(): boolean;
  /** Gives signals and terminal back as they were; to be called when nothing of it runs any more. */
  dispose(): Promise<void>;
}
