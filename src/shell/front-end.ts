/**
 * Applies the settings of the program or of one line: opens sessions and renderers, asks questions,
 * and builds the context of a command.
 */
import type { Context, Program } from "../commands/command.ts";
import type { UndoStore } from "../commands/undo/undo-store.ts";
import type { GlobalFlags } from "../config/global-options.ts";
import { checkedOptions, sessionOptions } from "../config/session-options.ts";
import { lineSettings, type Settings } from "../config/settings.ts";
import type { WantedPassword } from "../config/tls-options.ts";
import { mayAskForStorePassword } from "../config/tls-settings.ts";
import { sessionWarnings } from "../config/warnings.ts";
import { type Io, inputEnd } from "../io/io.ts";
import { prompterFor } from "../io/prompter.ts";
import type { Processes } from "../processes/child-requests.ts";
import type { Renderer } from "../render/renderer.ts";
import { isUnicode, openRenderer } from "../render/renderer.ts";
import { formatAddress, parseConnectString } from "../session/connect-string.ts";
import type { SessionOptions } from "../session/options.ts";
import type { Session, WatchListener } from "../session/session.ts";
import type { Asker, Execution } from "./execute.ts";
import { interviewOn } from "./interview.ts";
import type { Dialect } from "./parsing/parser.ts";
import type { Runtime } from "./runtime.ts";
import type { ShellState } from "./shell-state.ts";

/** A statement before it runs. */
export interface Line {
  readonly state: ShellState;
  readonly command: string;
  /** Undefined for commands that need no session. */
  readonly session: Session | undefined;
  /** Aborts this statement. Default: the signal of the program. */
  readonly signal?: AbortSignal;
  /** Starts the programs of this statement. Default: those of the front end. */
  readonly processes?: Processes;
  /** Answers the questions of this statement. Default: that of the front end. */
  readonly asker?: Execution["asker"] | undefined;
  /** Gives the terminal to questions. Default: they have it already. */
  readonly alone?: <T>(ask: () => Promise<T>) => Promise<T>;
  readonly onWatch?: WatchListener;
  readonly onProgress?: (done: number, what: string) => void;
}

export class FrontEnd {
  readonly settings: Settings;
  readonly runtime: Runtime;
  /** By the options of a line: lines with the same options share a renderer and settings. */
  readonly #ofLines = new Map<string, FrontEnd>();
  readonly #isOfLine: boolean;
  readonly #elsewhere = new Map<string, Settings>();

  constructor(settings: Settings, runtime: Runtime, { isOfLine = false } = {}) {
    this.settings = settings;
    this.runtime = runtime;
    this.#isOfLine = isOfLine;
  }

  get io(): Io {
    return this.runtime.io;
  }

  get program(): Program {
    return this.runtime.program;
  }

  get signal(): AbortSignal {
    return this.runtime.signal;
  }

  /**
   * The settings for `target`: a connect string, or `@NAME` for a profile. Without one those of the
   * servers that the program was started with. Throws UsageError for an unknown profile.
   */
  settingsAt(target: string | undefined): Settings {
    if (target === undefined) return this.settings;
    const elsewhere = this.#elsewhere.get(target) ?? this.runtime.settingsAt(target);
    this.#elsewhere.set(target, elsewhere);
    return this.settings.allowsWrites
      ? { ...elsewhere, writes: elsewhere.writes.allowed() }
      : elsewhere;
  }

  /** The dialect in which lines are parsed. */
  get dialect(): Dialect {
    return this.settings.output === "zkcli" ? "zkcli" : "zksh";
  }

  /**
   * Returns the front end for a line with its own options, or this one if it has none. Throws
   * UsageError.
   */
  forLine(flags: GlobalFlags): FrontEnd {
    if (Object.keys(flags).length === 0) return this;
    const key = JSON.stringify(flags);
    const known =
      this.#ofLines.get(key) ??
      new FrontEnd(lineSettings(this.settings, flags), this.runtime, { isOfLine: true });
    this.#ofLines.set(key, known);
    return known;
  }

  /** The same with other streams and programs, ended by another signal: for one line. */
  into(io: Io, signal: AbortSignal): FrontEnd {
    return new FrontEnd(
      this.settings,
      { ...this.runtime, io, signal },
      { isOfLine: this.#isOfLine },
    );
  }

  /** True if only this line is traced: requests of other lines must not appear in the trace. */
  get tracesLine(): boolean {
    return this.#isOfLine && this.settings.isDebug;
  }

  /** Runs a line, with the protocol trace if its options ask for it. */
  traced<T>(line: () => Promise<T>): Promise<T> {
    return this.tracesLine ? this.runtime.trace.during(line) : line();
  }

  /** The first session asks for a password. */
  get asksForPassword(): boolean {
    const { sasl, isEmbedded } = this.settings;
    if (sasl?.from !== "user" || isEmbedded) return false;
    return sasl.password === undefined && sasl.file === undefined;
  }

  /** A password may be asked for before the first session: of a login, a store or a key. */
  get mayAskForPassword(): boolean {
    const { settings } = this;
    return !settings.isEmbedded && (this.asksForPassword || mayAskForStorePassword(settings));
  }

  /**
   * Asks for passwords now, if they will be needed: at the prompt of the shell the question would
   * get between the keys that are typed.
   */
  async askForPassword(): Promise<void> {
    if (this.mayAskForPassword) await this.#sessionOptions(undefined);
  }

  /** Opens a session to `target`, or to the servers the program was started with. */
  async openSession(
    target?: string,
    overrides: Pick<SessionOptions, "timeoutMs"> = {},
  ): Promise<Session> {
    const { services, trace } = this.runtime;
    const options = await this.#sessionOptions(target);
    return services.openSession({
      ...options,
      ...overrides,
      get trace() {
        return trace.target;
      },
    });
  }

  /** Warns before a credential that was typed is sent to `target` in the clear. */
  async warnOfCredential(scheme: string, target: string | undefined): Promise<void> {
    const options = await this.#sessionOptions(target);
    const auth = [{ scheme, credential: Buffer.alloc(0) }];
    await this.runtime.warnings.tell(sessionWarnings({ ...options, auth }));
  }

  /** The servers and the chroot as the user gave them, or as the profile has them. */
  async servers(target?: string): Promise<string> {
    const address = target ?? (await this.runtime.privateServer?.address());
    return this.addressOf(address);
  }

  addressOf(target: string | undefined): string {
    if (target !== undefined && !isProfile(target)) return target;
    const { servers, chroot = "" } = this.settingsAt(target).session;
    return servers.map(formatAddress).join() + chroot;
  }

  /** Returns the release and role that a server of `target` reports, or undefined. */
  async aboutServer(server: string, target?: string): Promise<string | undefined> {
    const { io, services } = this.runtime;
    const sources = {
      readFile: (path: string) => io.files.read(path),
      askPassword: (wanted: WantedPassword) => this.#askPassword(wanted),
    };
    return services.about?.(server, await sessionOptions(this.settingsAt(target), sources, server));
  }

  renderer(): Promise<Renderer> {
    const { output: format, color, isQuiet, isVerbose } = this.settings;
    const settings = { format, color, isQuiet, isVerbose, isAscii: !isUnicode(this.io.env) };
    return openRenderer(this.io.stdout, settings, this.io.stderr);
  }

  /** Answers the questions of commands; undefined with --no-input. */
  get asker(): Execution["asker"] {
    const { isYes, isNoInput } = this.settings;
    if (isYes) return "yes";
    return isNoInput ? undefined : (): Asker | undefined => prompterFor(this.io);
  }

  /** The options for execute() of a command in this front end. */
  execution(context: Context, io: Io = this.io): Execution {
    const { asker } = this;
    const renderer = () => this.renderer();
    return { io, context, renderer, ...(asker !== undefined && { asker }) };
  }

  context({ state, command, session, signal = this.signal, ...line }: Line): Context {
    const frontEnd = this;
    const { io, startServer, program } = this.runtime;
    const { writes, environment } = this.settingsAt(state.target);
    const guarded = session && writes.guard(session, command);
    return {
      session() {
        if (!guarded) throw new Error(`${command} is registered as offline but asks for a session`);
        return guarded;
      },
      signal,
      writes,
      writesAt: (target) => this.settingsAt(target).writes,
      shell: state,
      processes: {
        ...(line.processes ?? io.processes),
        childEnvironment: ({ connectString }) => ({
          ...environment,
          ZKSH_SERVER: connectString,
        }),
      },
      files: io.files,
      input: {
        end: (until) => inputEnd(io.stdin, until),
        isOver: () => io.stdin.isOver?.(),
        chunks: () => io.stdin.stream,
        // A getter: opening the streams takes time.
        get hasTerminal() {
          return io.stdin.isTTY && io.stdout.isTTY;
        },
        confirm: (question) => confirmed(line.asker ?? this.asker, question, signal),
        get interview() {
          return frontEnd.settings.isNoInput ? undefined : interviewOn(io, signal, line.alone);
        },
      },
      output: this.#output(line),
      server: { start: startServer },
      program,
      servers: this.#servers(state, signal),
      undoStore: () => this.#undoStore(),
      undo: async () => (io.stdin.isTTY && io.stdout.isTTY ? this.#undoStore() : undefined),
      settings: async () => {
        const { describeSettings } = await import("../config/describe-settings.ts");
        const { file } = this.runtime;
        const rows = describeSettings(this.settingsAt(state.target), file, io.env);
        return { rows, file: file?.path };
      },
    };
  }

  async #undoStore(): Promise<UndoStore | undefined> {
    const { undoStoreOf } = await import("./undo-store.ts");
    return undoStoreOf(this.runtime.io.env, this.settings);
  }

  #servers(state: ShellState, signal: AbortSignal): Context["servers"] {
    const { target } = state;
    const { services } = this.runtime;
    let options: Promise<SessionOptions> | undefined;
    const once = () => {
      options ??= this.#sessionOptions(target);
      return options;
    };
    return {
      async options() {
        const found = await once();
        const [first] = found.servers;
        if (!first?.isSrvName || !services.serversOf) return found;
        return { ...found, servers: await services.serversOf(first.host, signal) };
      },
      attached() {
        const { attachedTo } = state;
        return attachedTo === undefined ? undefined : parseConnectString(attachedTo).servers[0];
      },
      async ask(server, word, ip) {
        const { tls } = await once();
        if (!services.askWord) throw new Error("this program asks servers no four-letter words");
        return services.askWord(server, word, { tls, signal, ip });
      },
      async addresses(host) {
        if (!services.addressesOf) throw new Error("this program looks up no names");
        return services.addressesOf(host, signal);
      },
    };
  }

  #output({ onWatch, onProgress }: Pick<Line, "onWatch" | "onProgress">): Context["output"] {
    const { io, settings } = this;
    const { output: format, isQuiet, isVerbose } = settings;
    // Streams are opened at first use, because opening them takes time.
    const isForPeople = () => format === "text" && io.stdout.isTTY && !isQuiet;
    return {
      get isForPeople() {
        return isForPeople();
      },
      get isFollowed() {
        return format === "json" || isVerbose || (io.stderr.isTTY && !isQuiet);
      },
      isZkcli: this.dialect === "zkcli",
      ...(onWatch && { onWatch }),
      ...(onProgress && { onProgress: (done, what) => isForPeople() && onProgress(done, what) }),
    };
  }

  #askPassword(wanted: WantedPassword): Promise<string> {
    return this.runtime.passwords.of(wanted, this.settings);
  }

  async #sessionOptions(target: string | undefined): Promise<SessionOptions> {
    const { io, services, warnings, privateServer } = this.runtime;
    const files = {
      readFile: (path: string) => io.files.read(path),
      isReadableByOthers: services.isReadableByOthers,
      askPassword: (wanted: WantedPassword) => this.#askPassword(wanted),
    };
    const settings = this.settingsAt(target);
    const where = target ?? (await privateServer?.address());
    return checkedOptions(settings, files, warnings, isProfile(where) ? undefined : where);
  }
}

/** No connect string begins so. */
function isProfile(target: string | undefined): boolean {
  return target?.startsWith("@") ?? false;
}

async function confirmed(
  given: Execution["asker"],
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (given === "yes") return true;
  const asker = typeof given === "function" ? given() : given;
  return (await asker?.confirm(question, signal)) ?? false;
}
