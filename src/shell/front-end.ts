/**
 * What all front ends have in common: the world outside, the settings, and the context a command
 * runs in.
 */
import type { Context, Program, RunningServer, ServerRequest } from "../commands/command.ts";
import type { GlobalFlags } from "../config/global-options.ts";
import type { Warnings } from "../config/warnings.ts";
import { type Io, inputEnd } from "../io/io.ts";
import type { Renderer } from "../render/renderer.ts";
import type { SessionOptions } from "../session/options.ts";
import type { Session, WatchListener } from "../session/session.ts";
import type { Execution } from "./execute.ts";
import type { Dialect } from "./parsing/parser.ts";
import type { SeparateOptions, ShellState } from "./shell-state.ts";
import type { Trace } from "./trace.ts";

export interface FrontEndOptions {
  readonly io: Io;
  readonly program: Program;
  /** Aborted when the whole program is to end. */
  readonly signal: AbortSignal;
  readonly isReadOnly: boolean;
  readonly isForPeople: () => boolean;
  readonly asker: Execution["asker"] | undefined;
  /** Options of this zksh that a zksh run by a child takes over, as variables. */
  readonly childEnvironment?: Readonly<Record<string, string>>;
  /** Nothing is shown beside results and warnings. */
  readonly isQuiet?: boolean;
  /** Opens a session to `target`, or to the servers the program was started with. */
  readonly openSession: (
    target?: string,
    options?: Pick<SessionOptions, "timeoutMs">,
  ) => Promise<Session>;
  readonly startServer: (request: ServerRequest) => Promise<RunningServer>;
  /** Where what is risky about a session is told. */
  readonly warnings?: Warnings;
  /**
   * Told before a credential that was typed is sent to `target`, or to the servers the program was
   * started with.
   */
  readonly onCredential?: (scheme: string, target: string | undefined) => Promise<void>;
  /** Somebody reads what is told while a command waits. */
  readonly isFollowed?: () => boolean;
  readonly renderer: () => Promise<Renderer>;
  /** The settings of one line that has options of its own; left out where lines have none. */
  readonly forLine?: (flags: GlobalFlags) => FrontEndOptions;
  /** Given for a line with --debug: the trace is on while it runs. */
  readonly lineTrace?: Trace;
  /** Whose rules hold for the words of a line; our own when left out. */
  readonly dialect?: Dialect;
}

interface Line {
  readonly state: ShellState;
  readonly command: string;
  /** Left out for commands that ask a server nothing. */
  readonly session: Session | undefined;
  readonly isOneShot?: boolean;
  /** Aborted when this line is to end; the program's signal when left out. */
  readonly signal?: AbortSignal;
  readonly onWatch?: WatchListener;
  /** Told how far the work has come, where somebody is looking. */
  readonly onProgress?: (done: number, what: string) => void;
}

export class FrontEnd {
  readonly io: Io;
  readonly program: Program;
  readonly signal: AbortSignal;
  readonly openSession: FrontEndOptions["openSession"];
  /** What every line is executed with, but for its context. */
  readonly execution: Omit<Execution, "context">;
  readonly dialect: Dialect;
  readonly isQuiet: boolean;
  readonly warnings: Warnings | undefined;
  readonly onCredential: FrontEndOptions["onCredential"];
  readonly #childEnvironment: FrontEndOptions["childEnvironment"];
  readonly #startServer: FrontEndOptions["startServer"];
  readonly #isForPeople: () => boolean;
  readonly #isFollowed: () => boolean;
  readonly #forLine: FrontEndOptions["forLine"];
  /**
   * By the options of the line: what a renderer and the rest need is set up once for all lines with
   * the same options.
   */
  readonly #ofLines = new Map<string, FrontEnd>();
  readonly #lineTrace: Trace | undefined;

  constructor(options: FrontEndOptions) {
    const {
      io,
      program,
      signal,
      isReadOnly,
      isForPeople,
      asker,
      openSession,
      renderer,
      dialect = "zksh",
    } = options;
    this.#isFollowed = options.isFollowed ?? (() => false);
    this.io = io;
    this.dialect = dialect;
    this.isQuiet = options.isQuiet ?? false;
    this.program = program;
    this.signal = signal;
    this.openSession = openSession;
    this.warnings = options.warnings;
    this.onCredential = options.onCredential;
    this.#childEnvironment = options.childEnvironment;
    this.#startServer = options.startServer;
    this.#isForPeople = isForPeople;
    this.#forLine = options.forLine;
    this.#lineTrace = options.lineTrace;
    this.execution = { io, isReadOnly, renderer, ...(asker !== undefined && { asker }) };
  }

  /**
   * For a line with these options of its own; this one for a line without any. Throws UsageError.
   */
  forLine(flags: GlobalFlags): FrontEnd {
    if (this.#forLine === undefined || Object.keys(flags).length === 0) return this;
    const key = JSON.stringify(flags);
    const known = this.#ofLines.get(key) ?? new FrontEnd(this.#forLine(flags));
    this.#ofLines.set(key, known);
    return known;
  }

  /** Requests of other lines must not be seen in the trace of this one. */
  get tracesLine(): boolean {
    return this.#lineTrace !== undefined;
  }

  /** Runs a line, with the protocol trace on where its own options ask for it. */
  traced<T>(line: () => Promise<T>): Promise<T> {
    return this.#lineTrace ? this.#lineTrace.during(line) : line();
  }

  /** A session for the shell, or with options one beside it. */
  readonly open = (target: string | undefined, options?: SeparateOptions): Promise<Session> => {
    const { timeoutMs } = options ?? {};
    return this.openSession(target, timeoutMs === undefined ? {} : { timeoutMs });
  };

  context({
    state,
    command,
    session,
    isOneShot = false,
    signal = this.signal,
    onWatch,
    onProgress,
  }: Line): Context {
    const isForPeople = this.#isForPeople;
    const isFollowed = this.#isFollowed;
    const { io, program } = this;
    const childEnvironment = this.#childEnvironment;
    return {
      session() {
        if (!session) throw new Error(`${command} is registered as offline but asks for a session`);
        return session;
      },
      signal,
      cwd: state.cwd,
      isOneShot,
      isZkcli: this.dialect === "zkcli",
      get isForPeople() {
        return isForPeople();
      },
      program,
      shell: state,
      get self() {
        return { ...io.self, tool: `zksh/${program.version()}` };
      },
      env: (name) => io.env[name],
      get isFollowed() {
        return isFollowed();
      },
      childEnvironment: ({ connectString }) => ({
        ...childEnvironment,
        ZKSH_SERVER: connectString,
      }),
      runChild: (request) => io.runChild(request),
      findProgram: (name) => io.findProgram(name),
      prepareGuard: (options) => io.prepareGuard(options),
      startGuarded: (request) => io.startGuarded(request),
      stdinEnd: (until) => inputEnd(io.stdin, until),
      stdinIsOver: () => io.stdin.isOver?.(),
      startServer: this.#startServer,
      writeFile: (path, data) => io.writeFile(path, data),
      cannotWrite: (path) => io.cannotWrite(path),
      ...(onWatch !== undefined && { onWatch }),
      ...(onProgress && { onProgress: (done, what) => isForPeople() && onProgress(done, what) }),
    };
  }
}
