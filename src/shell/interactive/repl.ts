/** The front end for people: reads a line, runs it, and shows what happens to the session. */

import { InterruptedError } from "../../errors.ts";
import { ExitCode } from "../../exit-codes.ts";
import { Progress } from "../../io/progress.ts";
import { openTheme } from "../../render/renderer.ts";
import { escapeName, escapeText } from "../../text/escape.ts";
import type { FrontEnd } from "../front-end.ts";
import { LineReader } from "../line-reader.ts";
import { lex, type Statement } from "../parsing/lexer.ts";
import { splitStatement } from "../parsing/split-globals.ts";
import { zkcliWords } from "../parsing/zkcli-lexer.ts";
import { ShellState } from "../shell-state.ts";
import { greeting } from "./greeting.ts";
import { expandHistory, History, historyFile } from "./history.ts";
import { type EditorListener, LineEditor } from "./line-editor.ts";
import { Screen } from "./screen.ts";
import { redact } from "./secrets.ts";
import { type KeeperListener, SessionKeeper } from "./session-keeper.ts";
import { SessionResources } from "./session-resources.ts";
import { shellPrompt } from "./shell-prompt.ts";
import { type ReaderView, StatementReader } from "./statement-reader.ts";
import { type LineToRun, StatementRunner } from "./statement-runner.ts";
import { Tab } from "./tab.ts";
import { watchPrinter } from "./watch-printer.ts";

/** Runs the shell until the user leaves it. `history` is read from its file when left out. */
export async function runRepl(frontEnd: FrontEnd, history?: History): Promise<number> {
  const { io, settings } = frontEnd;
  await frontEnd.askForPassword();
  const lines = history ?? (await History.load(historyFile(io.env), settings.habits.history));
  // Newest first; the arrow keys go through it.
  const recalled = lines.entries.toReversed();
  const editor = new LineEditor(io, recalled);
  const progress = new Progress(() => io.stderr, settings);
  const screen = new Screen(editor, progress, await openTheme(io.stdout, settings.color));
  const servers = await frontEnd.servers();
  return new Repl(frontEnd, { history: lines, recalled, screen, servers }).run();
}

interface ReplParts {
  readonly history: History;
  readonly recalled: string[];
  readonly screen: Screen;
  /** The servers the program was started with, as they were written. */
  readonly servers: string;
}

class Repl {
  readonly #frontEnd: FrontEnd;
  readonly #history: History;
  readonly #recalled: string[];
  readonly #screen: Screen;
  readonly #editor: LineEditor;
  readonly #state: ShellState;
  readonly #keeper: SessionKeeper;
  readonly #tab: Tab;
  readonly #reader: StatementReader;
  readonly #runner: StatementRunner;
  readonly #lines: LineReader;
  #hasFailed = false;
  /** Set from the moment a line is entered until there is a prompt again. */
  #line: AbortController | undefined;

  constructor(frontEnd: FrontEnd, { history, recalled, screen, servers }: ReplParts) {
    const { editor, progress } = screen;
    this.#frontEnd = frontEnd;
    this.#history = history;
    this.#recalled = recalled;
    this.#screen = screen;
    this.#editor = editor;
    const resources = new SessionResources();
    const state = new ShellState(frontEnd, {
      kind: "interactive",
      notify: (message) => this.#notify(message),
      track: (session) => resources.track(session),
    });
    state.history.push(...history.entries);
    this.#state = state;
    const keeper = new SessionKeeper({ frontEnd, state, resources, screen, servers });
    this.#keeper = keeper;
    this.#lines = new LineReader(state, frontEnd);
    const tab = new Tab({ frontEnd, state, keeper, screen });
    this.#tab = tab;
    this.#reader = new StatementReader({ continuesQuotes: frontEnd.dialect === "zksh" });
    const onWatch = watchPrinter({
      state,
      renderer: () => frontEnd.renderer(),
      print: (text) => screen.print(text),
      onLost: (path) => resources.noteLostWatch(path),
    });
    this.#runner = new StatementRunner({ frontEnd, state, keeper, editor, tab, progress, onWatch });
  }

  async run(): Promise<number> {
    const { signal, settings, program, runtime } = this.#frontEnd;
    const { isQuiet, isEmbedded } = settings;
    const end = () => {
      this.#reader.stop();
      this.#line?.abort(signal.reason);
    };
    signal.addEventListener("abort", end, { once: true });
    this.#editor.open(this.#editorListener());
    runtime.warnings.showWith(async (warning) => {
      const renderer = await this.#frontEnd.renderer();
      this.#screen.print(renderer.result(warning).err ?? "");
    });
    const { failure } = this.#history;
    if (!isQuiet)
      for (const line of greeting(program.version(), { isEmbedded })) this.#screen.message(line);
    if (failure !== undefined) this.#screen.message(`the history cannot be saved: ${failure}`);
    this.#keeper.start(this.#keeperListener());
    const view = this.#readerView();
    try {
      for (
        let text = await this.#reader.read(view);
        text !== undefined;
        text = await this.#reader.read(view)
      ) {
        await this.#runText(text);
      }
    } finally {
      signal.removeEventListener("abort", end);
      await this.#close();
    }
    return ExitCode.ok;
  }

  #editorListener(): EditorListener {
    return {
      onLine: (line) => this.#reader.typed(line),
      onInterrupt: () => this.#interrupt(),
      onEnd: () => this.#reader.endOfInput(),
      onTab: (before) => this.#tab.press(before),
    };
  }

  #keeperListener(): KeeperListener {
    return {
      onChange: () => this.#editor.repaint(this.#prompt()),
      isBusy: () => this.#runner.isBusy,
      reportsOutages: () => this.#runner.reportsOutages,
    };
  }

  #readerView(): ReaderView {
    return {
      show: () => {
        this.#line = undefined;
        this.#editor.show(this.#prompt());
      },
      hide: () => {
        this.#line = new AbortController();
        this.#editor.hide();
      },
      // It was not shown when it was typed: now it stands at its prompt, above its output.
      showQueued: (line) => {
        this.#line = new AbortController();
        this.#screen.print(`${this.#prompt()}${escapeName(line)}\n`);
      },
      onUnclosed: (error) => this.#fail(error),
    };
  }

  async #close(): Promise<void> {
    const { progress } = this.#screen;
    this.#keeper.stop();
    this.#tab.stop();
    const locks = [...this.#state.heldLocks.keys()];
    if (locks.length > 0 && !this.#frontEnd.settings.isQuiet)
      this.#screen.message(`releasing ${locks.join(", ")}`);
    this.#editor.close();
    progress.start(() => "closing the session");
    await Promise.all([this.#state.end(), this.#history.flushed()]);
    progress.stop();
  }

  #interrupt(): void {
    const isIdle = this.#editor.isEmpty && !this.#reader.isContinued;
    this.#reader.forget();
    if (this.#line?.signal.aborted) this.#runner.leave();
    else if (this.#line) {
      this.#screen.print("^C\n");
      this.#line.abort(new InterruptedError());
    } else if (isIdle) this.#screen.message("Ctrl-D or quit leaves the shell");
    else {
      this.#editor.clearLine();
      this.#editor.show(this.#prompt());
    }
  }

  async #runText(typed: string): Promise<void> {
    const { history } = this.#state;
    try {
      const text = expandHistory(typed, history);
      if (text !== typed) this.#screen.print(`${escapeText(text)}\n`);
      if (text.trim() === "") return;
      const kept = this.#history.add(text);
      if (kept !== undefined) this.#recalled.unshift(kept);
      const before = history.length;
      this.#remember(redact(text.trim()));
      this.#hasFailed = false;
      const { signal } = this.#line ?? new AbortController();
      for (let next: string | undefined = text; next !== undefined; )
        next = await this.#runStatements(next, signal);
      // A line that begins with a space is in the list only while it runs.
      if (text.startsWith(" ")) history.splice(before);
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** Adds to what `history` shows: repetitions once, except in zkCli's numbering. */
  #remember(line: string): void {
    const { history } = this.#state;
    if (this.#frontEnd.dialect === "zkcli" || history.at(-1) !== line) history.push(line);
  }

  /** Returns the line to run instead, where `redo` asks for one. */
  async #runStatements(text: string, signal: AbortSignal): Promise<string | undefined> {
    for (const statement of this.#statements(text)) {
      const { variables } = this.#state;
      let line: LineToRun | undefined;
      try {
        line = await this.#read(statement);
        const { exitCode, control } = await this.#runner.run(line, signal);
        this.#hasFailed = exitCode !== ExitCode.ok;
        variables.exitCode = exitCode;
        if (control?.kind === "exit") this.#reader.stop();
        if (control?.kind === "clear") this.#editor.clearScreen();
        if (control?.kind === "again") return this.#again(control.line);
      } catch (error) {
        await this.#fail(error, line);
      }
      if (this.#hasFailed || this.#reader.isOver) return undefined;
    }
    return undefined;
  }

  async #read(statement: Statement): Promise<LineToRun> {
    const { program, dialect } = this.#frontEnd;
    const read = this.#lines.read(statement);
    const { words, marks } = read;
    const split = await splitStatement(words, { commands: program.commands, dialect, marks });
    this.#lines.begun(read);
    return { ...read, ...split };
  }

  #again(line: string): string {
    const text = expandHistory("!!", [line]);
    this.#state.history.pop();
    this.#remember(text);
    this.#screen.print(`${escapeText(text)}\n`);
    return text;
  }

  #statements(text: string): readonly Statement[] {
    return this.#frontEnd.dialect === "zksh"
      ? lex(text, { hasPipes: true }).statements
      : [{ words: zkcliWords(text), source: text, line: 1 }];
  }

  async #fail(
    error: unknown,
    { words: [command] = [], flags }: Partial<LineToRun> = {},
  ): Promise<void> {
    this.#hasFailed = true;
    const { variables } = this.#state;
    variables.exitCode = ExitCode.interrupted;
    // Ctrl-C was acknowledged when it was pressed; other interruptions have a message of their own.
    if (error instanceof InterruptedError && error.message === "interrupted") return;
    const session = () => this.#state.session();
    const { reporter } = this.#frontEnd.runtime;
    variables.exitCode = await reporter.report(error, {
      session,
      command,
      isAtPrompt: true,
      ...(flags && { flags }),
    });
  }

  #prompt(): string {
    return shellPrompt({
      frontEnd: this.#frontEnd,
      state: this.#state,
      keeper: this.#keeper,
      theme: this.#screen.theme,
      hasFailed: this.#hasFailed,
      isContinued: this.#reader.isContinued,
    });
  }

  /** A message about a lock; the prompt shows the locks. */
  #notify(message: string): void {
    this.#screen.message(message);
    this.#editor.repaint(this.#prompt());
  }
}
