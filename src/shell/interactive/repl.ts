/**
 * The front end for people: reads a line, runs it, and says meanwhile what happens to the session.
 */

import type { GlobalFlags } from "../../config/global-options.ts";
import { ExitCode, InterruptedError } from "../../errors.ts";
import { Progress } from "../../io/progress.ts";
import type { Theme } from "../../render/theme.ts";
import type { Session } from "../../session/session.ts";
import { escapeName, escapeText } from "../../text/escape.ts";
import type { FrontEnd } from "../front-end.ts";
import { lex, type Statement } from "../parsing/lexer.ts";
import { type SplitLine, splitStatement } from "../parsing/split-globals.ts";
import { zkcliWords } from "../parsing/zkcli-lexer.ts";
import { type SeparateOptions, ShellState } from "../shell-state.ts";
import { greeting } from "./greeting.ts";
import { expandHistory, type History } from "./history.ts";
import { LineEditor } from "./line-editor.ts";
import { redact } from "./secrets.ts";
import { SessionKeeper } from "./session-keeper.ts";
import { SessionResources } from "./session-resources.ts";
import { shellPrompt } from "./shell-prompt.ts";
import { StatementReader } from "./statement-reader.ts";
import { StatementRunner } from "./statement-runner.ts";
import { Tab } from "./tab.ts";
import { watchPrinter } from "./watch-printer.ts";

export interface ReplOptions {
  readonly history: History;
  /** The servers the program was started with, as they were written. */
  readonly servers: string;
  /** They are a server of this shell's own. */
  readonly isEmbedded?: boolean;
  /** They were named by nobody. */
  readonly isDefaultServer?: boolean;
  readonly theme: Theme;
  /** No greeting, no spinner. */
  readonly isQuiet: boolean;
  /** Shows an error and returns its exit code. */
  report(
    error: unknown,
    where: {
      readonly command?: string;
      readonly flags?: GlobalFlags;
      readonly session?: () => Promise<Session>;
    },
  ): Promise<number>;
  /** What a server says of itself. */
  about(server: string): Promise<string | undefined>;
}

/** Runs the shell until the user leaves it. */
export function runRepl(frontEnd: FrontEnd, options: ReplOptions): Promise<number> {
  return new Repl(frontEnd, options).run();
}

class Repl {
  readonly #frontEnd: FrontEnd;
  readonly #options: ReplOptions;
  readonly #state: ShellState;
  readonly #editor: LineEditor;
  readonly #tab: Tab;
  readonly #keeper: SessionKeeper;
  readonly #reader: StatementReader;
  readonly #runner: StatementRunner;
  readonly #progress: Progress;
  /** What the arrow keys go through, newest first. */
  readonly #recalled: string[];
  #hasFailed = false;
  /** There from the moment a line is entered until there is a prompt again. */
  #line: AbortController | undefined;

  constructor(frontEnd: FrontEnd, options: ReplOptions) {
    const { io, program, execution } = frontEnd;
    const ledger = new SessionResources();
    const open = async (target: string | undefined, options?: SeparateOptions) => {
      const session = await frontEnd.open(target, options);
      return options ? session : ledger.track(session);
    };
    this.#frontEnd = frontEnd;
    this.#options = options;
    this.#progress = new Progress(() => io.stderr, options);
    const { onCredential: onIdentify } = frontEnd;
    this.#state = new ShellState({
      isInteractive: true,
      open,
      onIdentify,
      say: (line) => this.#news(line),
    });
    this.#state.history.push(...options.history.entries);
    this.#recalled = options.history.entries.toReversed();
    this.#keeper = new SessionKeeper({
      state: this.#state,
      ledger,
      servers: options.servers,
      ...(options.isDefaultServer && { advice: "zksh --embedded needs no server" }),
      about: options.about,
      say: (line) => this.#say(line),
      onChange: () => this.#editor.repaint(this.#prompt()),
      isBusy: () => this.#runner.isBusy,
    });
    this.#tab = new Tab({
      commands: program.commands,
      cwd: () => this.#state.cwd,
      session: () => this.#keeper.session,
      heldLocks: () => [...this.#state.heldLocks.keys()],
      before: () => this.#editor.before,
      replaceBefore: (text) => this.#editor.replaceBefore(text),
      print: (text) => this.#print(text),
      columns: () => io.stdout.columns,
    });
    this.#editor = new LineEditor(io, this.#recalled, {
      onLine: (line) => this.#reader.typed(line),
      onInterrupt: () => this.#interrupt(),
      onEnd: () => this.#reader.endOfInput(),
      onTab: (before) => this.#tab.press(before),
    });
    this.#reader = new StatementReader({
      continuesQuotes: frontEnd.dialect === "zksh",
      show: () => {
        this.#line = undefined;
        this.#editor.show(this.#prompt());
      },
      hide: () => {
        this.#line = new AbortController();
        this.#editor.hide();
      },
      // It was not shown when it came, so that it now stands at its prompt, above what it does.
      showQueued: (line) => {
        this.#line = new AbortController();
        this.#print(`${this.#prompt()}${escapeName(line)}\n`);
      },
      onUnclosed: (error) => this.#fail(error),
    });
    const onWatch = watchPrinter({
      state: this.#state,
      renderer: async () => execution.renderer(),
      print: (text) => this.#print(text.toString()),
      onLost: (path) => ledger.noteLostWatch(path),
    });
    this.#runner = new StatementRunner({
      frontEnd,
      state: this.#state,
      progress: this.#progress,
      onWatch,
      waitingFor: () =>
        this.#keeper.trouble && `${this.#keeper.server}: ${this.#keeper.trouble} (Ctrl-C cancels)`,
      lend: (use) => this.#editor.lend(use),
      onWrite: () => this.#tab.cache.clear(),
    });
  }

  async run(): Promise<number> {
    const { signal, program } = this.#frontEnd;
    const { history, isQuiet } = this.#options;
    const end = () => {
      this.#reader.stop();
      this.#line?.abort(signal.reason);
    };
    signal.addEventListener("abort", end, { once: true });
    this.#editor.open();
    this.#frontEnd.warnings?.showWith(async (warning) => {
      const renderer = await this.#frontEnd.execution.renderer();
      this.#print(renderer.result(warning).err ?? "");
    });
    if (!isQuiet) for (const line of greeting(program.version(), this.#options)) this.#say(line);
    if (history.failure !== undefined) this.#say(`the history cannot be saved: ${history.failure}`);
    this.#keeper.start();
    try {
      for (
        let text = await this.#reader.read();
        text !== undefined;
        text = await this.#reader.read()
      ) {
        await this.#runText(text);
      }
    } finally {
      signal.removeEventListener("abort", end);
      this.#keeper.stop();
      this.#tab.stop();
      this.#sayReleased();
      this.#editor.close();
      this.#progress.start(() => "closing the session");
      await Promise.all([this.#state.end(), history.flushed()]);
      this.#progress.stop();
    }
    return ExitCode.ok;
  }

  /** Leaving the shell releases its locks. */
  #sayReleased(): void {
    const paths = [...this.#state.heldLocks.keys()];
    if (paths.length > 0 && !this.#options.isQuiet) this.#say(`releasing ${paths.join(", ")}`);
  }

  #interrupt(): void {
    const isIdle = this.#editor.isEmpty && !this.#reader.isContinued;
    this.#reader.forget();
    if (this.#line?.signal.aborted) this.#runner.leave();
    else if (this.#line) {
      this.#print("^C\n");
      this.#line.abort(new InterruptedError());
    } else if (isIdle) this.#say("Ctrl-D or quit leaves the shell");
    else {
      this.#editor.clearLine();
      this.#editor.show(this.#prompt());
    }
  }

  async #runText(typed: string): Promise<void> {
    const { history } = this.#state;
    try {
      const text = expandHistory(typed, history);
      if (text !== typed) this.#print(`${escapeText(text)}\n`);
      if (text.trim() === "") return;
      const kept = this.#options.history.add(text);
      if (kept !== undefined) this.#recalled.unshift(kept);
      const before = history.length;
      this.#remember(redact(text.trim()));
      this.#hasFailed = false;
      const { signal } = this.#line ?? new AbortController();
      for (let next: string | undefined = text; next !== undefined; )
        next = await this.#runStatements(next, signal);
      // A line that is not kept had to be there only while it ran.
      if (text.startsWith(" ")) history.splice(before);
    } catch (error) {
      await this.#fail(error);
    }
  }

  /**
   * What `history` shows: repetitions once, except where lines are numbered as zkCli numbers them.
   */
  #remember(line: string): void {
    const { history } = this.#state;
    if (this.#frontEnd.dialect === "zkcli" || history.at(-1) !== line) history.push(line);
  }

  /** The line that is to be run instead, when one of the statements says so. */
  async #runStatements(text: string, signal: AbortSignal): Promise<string | undefined> {
    for (const statement of this.#statements(text)) {
      const { program, dialect } = this.#frontEnd;
      const words = statement.words.map((word) => word.text);
      const line = await splitStatement(words, { commands: program.commands, dialect });
      try {
        const { exitCode, control } = await this.#runner.run(line, signal);
        this.#hasFailed = exitCode !== ExitCode.ok;
        if (control?.kind === "exit") this.#reader.stop();
        if (control?.kind === "clear") this.#editor.clearScreen();
        if (control?.kind === "again") return this.#instead(control.line);
      } catch (error) {
        await this.#fail(error, line);
      }
      if (this.#hasFailed || this.#reader.isOver) return undefined;
    }
    return undefined;
  }

  #instead(line: string): string {
    const text = expandHistory("!!", [line]);
    this.#state.history.pop();
    this.#remember(text);
    this.#print(`${escapeText(text)}\n`);
    return text;
  }

  #statements(text: string): readonly Statement[] {
    return this.#frontEnd.dialect === "zksh"
      ? lex(text).statements
      : [{ words: zkcliWords(text), source: text, line: 1 }];
  }

  async #fail(
    error: unknown,
    { words: [command] = [], flags }: Partial<SplitLine> = {},
  ): Promise<void> {
    this.#hasFailed = true;
    // Ctrl-C was answered when it was pressed; what was done until then is worth a line.
    if (error instanceof InterruptedError && error.message === "interrupted") return;
    const session = () => this.#state.session();
    await this.#options.report(error, {
      session,
      ...(flags && { flags }),
      ...(command !== undefined && { command }),
    });
  }

  #prompt(): string {
    return shellPrompt({
      frontEnd: this.#frontEnd,
      state: this.#state,
      keeper: this.#keeper,
      theme: this.#options.theme,
      hasFailed: this.#hasFailed,
      isContinued: this.#reader.isContinued,
    });
  }

  /** Of locks, which are in the prompt. */
  #news(line: string): void {
    this.#say(line);
    this.#editor.repaint(this.#prompt());
  }

  #say(line: string): void {
    this.#print(`${this.#options.theme.faint(escapeName(line))}\n`);
  }

  #print(text: string): void {
    this.#progress.stop();
    this.#editor.print(text);
  }
}
