import { InterruptedError } from "../../errors.ts";
import { ExitCode } from "../../exit-codes.ts";
import { isBrokenPipe } from "../../io/io.ts";
import type { Control } from "../../results/result.ts";
import { begin, beginNow, execute, isOneFlight, type Running } from "../execute.ts";
import type { FrontEnd } from "../front-end.ts";
import { LineReader } from "../line-reader.ts";
import type { Statement } from "../parsing/lexer.ts";
import { asksExitCode, type ReadLine } from "../parsing/line-words.ts";
import type { LineWords } from "../parsing/marked-words.ts";
import type { Invocation } from "../parsing/parser.ts";
import { QuickParser } from "../parsing/quick-parser.ts";
import { readStatements, ScriptTextError } from "../parsing/script-text.ts";
import { splitStatement } from "../parsing/split-globals.ts";
import type { ShellState } from "../shell-state.ts";
import { hasSink, runningInto } from "../sinks/line-sink.ts";
import { hasFurther, isSettled, nextTurn, sent } from "./event-loop-turns.ts";
import { GatheredOutput } from "./gathered-output.ts";
import { LinesUnderWay } from "./lines-under-way.ts";
import type { ScriptSource } from "./script.ts";
import { ScriptEnd } from "./script-end.ts";
import { ScriptExecutions } from "./script-executions.ts";
import type { ScriptLine, Where } from "./script-line.ts";
import { type ScriptPlace, ScriptPlaces } from "./script-place.ts";
import { ScriptTally } from "./script-tally.ts";
import { ScriptWatches } from "./script-watches.ts";
import { ScriptWindow } from "./script-window.ts";
import { SharingRule } from "./sharing-rule.ts";

/**
 * Runs the statements of one script in their order. Lines whose requests can leave at once are sent
 * without waiting for the answers of those before them; what they say is written in their order all
 * the same.
 */
export class ScriptRunner {
  readonly #script: ScriptSource;
  readonly #read: NonNullable<ScriptSource["read"]>;
  readonly #frontEnd: FrontEnd;
  readonly #state: ShellState;
  readonly #parser: QuickParser;
  readonly #output: GatheredOutput;
  readonly #watches: ScriptWatches;
  readonly #window = new ScriptWindow();
  readonly #underWay = new LinesUnderWay();
  readonly #places: ScriptPlaces;
  readonly #executions: ScriptExecutions;
  readonly #sharing: SharingRule;
  readonly #reader: LineReader;
  readonly #tally = new ScriptTally();
  readonly #end: ScriptEnd;
  #hasToldLoss = false;
  #again: string | undefined;

  constructor(script: ScriptSource, frontEnd: FrontEnd, state: ShellState) {
    this.#script = script;
    const hasPipes = frontEnd.dialect === "zksh";
    this.#read = script.read ?? ((text) => readStatements(text, { hasPipes }));
    this.#frontEnd = frontEnd;
    this.#state = state;
    this.#parser = new QuickParser({
      commands: frontEnd.program.commands,
      dialect: frontEnd.dialect,
    });
    this.#output = new GatheredOutput(frontEnd.io);
    const output = this.#output;
    const renderer = () => this.#executions.openRenderer(frontEnd);
    this.#watches = new ScriptWatches({ state, renderer, output });
    const onControl = (control: Control) => this.#control(control);
    const onWatch = this.#watches.listener;
    const parts = { script, frontEnd, state, output, onWatch, onControl };
    this.#executions = new ScriptExecutions(parts);
    this.#places = new ScriptPlaces(state, (...line) => this.#executions.of(...line));
    this.#end = new ScriptEnd(frontEnd.settings);
    this.#sharing = new SharingRule(state, frontEnd.settings);
    this.#reader = new LineReader(state, frontEnd);
  }

  async run(): Promise<number> {
    let line = 1;
    const groups = this.#read(this.#script.text)[Symbol.asyncIterator]();
    try {
      for (let next = await this.#next(groups); !next.done; next = await this.#next(groups)) {
        for (const statement of next.value) {
          if (this.#end.isOver) {
            this.#tally.hasMore();
            break;
          }
          line = statement.line;
          // Most lines need no waiting: those of one turn leave together.
          if (!this.#startNow(statement)) await this.#state.runLine(() => this.#run(statement));
          if (this.#underWay.length >= this.#window.size) {
            await sent();
            await this.#finish(this.#window.size / 2);
          }
        }
      }
    } catch (error) {
      await this.#finishAll();
      await this.#fail(error, { line: error instanceof ScriptTextError ? error.line : line });
    }
    await this.#finishAll();
    // The last line did not hold the lock to its end.
    if (this.#state.lostLock && !this.#hasToldLoss)
      await this.#fail(this.#state.lostLock, { line });
    await this.#watches.flush().catch((error: unknown) => this.#fail(error, { line }));
    if (this.#tally.mustLookFurther && (await hasFurther(groups))) this.#tally.hasMore();
    return this.#tally.exitCode ?? this.#end.exitCode;
  }

  /**
   * While there is no further statement, what was sent is finished: a reader may wait for its
   * answer before going on.
   */
  async #next(
    groups: AsyncIterator<readonly Statement[]>,
  ): Promise<IteratorResult<readonly Statement[]>> {
    if (this.#end.isOver) return { done: true, value: undefined };
    const next = groups.next();
    if (this.#underWay.length > 0 && !(await isSettled(next))) await this.#finishAll();
    if (!this.#end.isOver) return next;
    next.catch(() => {});
    return { done: true, value: undefined };
  }

  /**
   * False for a line that has to wait for something: a session, its command to be loaded, or those
   * before it.
   */
  #startNow(statement: Statement): boolean {
    const place = this.#places.now();
    if (!place || this.#state.lostLock) return false;
    let read: ReadLine;
    let invocation: Invocation | undefined;
    try {
      // `$?` is the code of the line before, which may be under way.
      if (asksExitCode(statement)) return false;
      read = this.#reader.read(statement);
      if (hasSink(read)) return false;
      invocation = this.#parser.parseNow(read.words, place.cwd, read.marks);
    } catch {
      // It will be told when it is this line's turn.
      return false;
    }
    const { line, source } = statement;
    const where = { line, command: read.words[0] ?? "" };
    if (invocation === undefined || !this.#share({ source, where, sink: read }, invocation, place))
      return false;
    this.#state.history.push(source);
    this.#reader.begun(read);
    return true;
  }

  /**
   * Sends a line's requests behind those of the lines before it, without waiting for their answers,
   * where that is safe.
   */
  #share(line: ScriptLine, invocation: Invocation, place: ScriptPlace): boolean {
    const { where, frontEnd } = line;
    const { entry, command } = invocation;
    if (!this.#sharing.allows(line, invocation, this.#underWay.reads)) return false;
    const execution = place.execution(entry.name, frontEnd);
    if (!isOneFlight(invocation, execution.context)) return false;
    this.#sharing.note(invocation);
    let running: Running;
    try {
      running = beginNow(invocation, execution);
    } catch (error) {
      running = { finish: () => Promise.reject(error) };
    }
    this.#underWay.add({ where, running, isRead: command.effect === "read" });
    return true;
  }

  async #run(statement: Statement): Promise<void> {
    const { signal, program, dialect } = this.#frontEnd;
    const { line, source } = statement;
    if (asksExitCode(statement)) await this.#finishAll();
    if (this.#end.isOver) return this.#tally.hasMore();
    let read: ReadLine;
    try {
      read = this.#reader.read(statement);
    } catch (error) {
      await this.#finishAll();
      return this.#fail(error, { line });
    }
    const { marks } = read;
    const { commands } = program;
    const split = await splitStatement(read.words, { commands, dialect, marks });
    const where = { line, command: split.words[0] ?? "", flags: split.flags };
    if (signal.aborted) return this.#fail(signal.reason, where);
    // The lines that follow were written to run under the lock.
    if (this.#state.lostLock) {
      this.#hasToldLoss = true;
      return this.#fail(this.#state.lostLock, where);
    }
    this.#state.history.push(source);
    this.#reader.begun(read);
    try {
      if (split.mistake) throw split.mistake;
      const frontEnd = this.#frontEnd.forLine(split.flags);
      // What the lines before it ask for is not part of its trace.
      if (frontEnd.tracesLine) await this.#finishAll();
      const ownOrNot = frontEnd === this.#frontEnd ? {} : { frontEnd };
      await frontEnd.traced(() =>
        this.#runLine({ source, where, sink: read, ...ownOrNot }, { words: split.words, marks }),
      );
    } catch (error) {
      await this.#finishAll();
      await this.#fail(error, where);
    }
    if (this.#again !== undefined) await this.#runAgain(line);
  }

  async #runLine(line: ScriptLine, { words, marks }: LineWords): Promise<void> {
    const { frontEnd = this.#frontEnd, sink, where } = line;
    const { dialect } = frontEnd;
    const invocation = await this.#parser.parse(words, this.#state.cwd, { dialect, marks });
    const { name, needsNoShellSession } = invocation.entry;
    const place = needsNoShellSession ? undefined : await this.#places.find();
    if (place && !hasSink(sink) && this.#share(line, invocation, place)) return;
    await this.#finishAll();
    if (this.#end.isOver) return;
    this.#sharing.note(invocation);
    // It may be just what opens or ends the session.
    if (needsNoShellSession) this.#places.leave();
    const state = this.#state;
    const running = hasSink(sink)
      ? runningInto(sink, { frontEnd, state, invocation }, (into) =>
          execute(invocation, this.#executions.into(name, place?.session, into)),
        )
      : await begin(invocation, this.#executions.of(name, place?.session, line.frontEnd));
    this.#underWay.add({ where, running, isRead: false });
    await this.#finishAll();
  }

  /** Writes what the oldest lines say, until no more than `left` are under way. */
  async #finish(left: number): Promise<void> {
    while (this.#underWay.length > left) {
      const { where, running, isRead } = this.#underWay.takeOldest();
      if (this.#end.isOver) {
        this.#tally.hasMore();
        continue;
      }
      const before = this.#output.total;
      try {
        const finished = running.finish();
        const code = typeof finished === "number" ? finished : await finished;
        this.#window.finished(this.#output.total - before);
        this.#state.variables.exitCode = code;
        this.#tally.finished({ isFailure: code !== ExitCode.ok });
        if (code !== ExitCode.ok) this.#end.failed(code);
      } catch (error) {
        if (!isRead) this.#tally.leftOpen(error);
        await this.#fail(error, where);
      }
    }
  }

  async #finishAll(): Promise<void> {
    const line = this.#underWay.newest?.where.line ?? 0;
    await this.#finish(0);
    try {
      await this.#output.flush();
    } catch (error) {
      await this.#fail(error, { line });
    }
  }

  async #runAgain(line: number): Promise<void> {
    const source = this.#again ?? "";
    this.#again = undefined;
    this.#state.history.pop();
    for await (const group of this.#read([source])) {
      for (const statement of group) await this.#run({ ...statement, line });
    }
    await this.#finishAll();
  }

  #control(control: Control): void {
    if (control.kind === "exit") this.#end.stop();
    else if (control.kind === "again") this.#again = control.line;
  }

  async #fail(error: unknown, at: Where): Promise<void> {
    if (this.#end.isOver) return;
    // What earlier lines have said comes first.
    const first = await this.#output.flush().then(
      () => error,
      (unwritten: unknown) => unwritten,
    );
    if (isBrokenPipe(first)) {
      this.#tally.readerIsGone();
      this.#end.stop();
      return;
    }
    const isInterrupted = first instanceof InterruptedError;
    if (!isInterrupted) this.#tally.finished({ isFailure: true });
    const told =
      isInterrupted && this.#frontEnd.settings.keepsGoing
        ? this.#tally.interrupted(first, this.#underWay.lines)
        : first;
    const session = () => this.#state.session();
    const exitCode = await this.#frontEnd.runtime.reporter.report(told, {
      file: this.#script.name,
      session,
      ...at,
    });
    this.#state.variables.exitCode = exitCode;
    this.#end.failed(exitCode, first);
    await nextTurn();
  }
}
