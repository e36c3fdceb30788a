/** The front end for scripts: -c, -f, and whatever is piped in. */
import { ExitCode, UsageError, ZkshError } from "../errors.ts";
import { isBrokenPipe, write } from "../io/io.ts";
import type { Control } from "../result.ts";
import type { Session } from "../session/session.ts";
import { begin, type Running } from "./execute.ts";
import type { FrontEnd } from "./front-end.ts";
import type { Statement } from "./line.ts";
import { type Invocation, parse } from "./parser.ts";
import { ScriptWatches } from "./script-watches.ts";
import { ShellState } from "./shell-state.ts";
import { readStatements, type ScriptText, UnclosedQuoteError } from "./statements.ts";

/** Reads under way at a time: enough to fill the connection, few enough to stop soon after a failure. */
const MAX_UNDER_WAY = 500;

export interface Script {
  /** For messages: `setup.zk`, `-c`, `stdin`. */
  readonly name: string;
  readonly text: ScriptText;
  /** How the text is split into statements; our own way when left out. */
  readonly read?: (text: ScriptText) => AsyncIterable<Statement>;
  /** Go on after a failure. */
  readonly keepsGoing: boolean;
  /** Shows an error and returns its exit code. */
  report(
    error: unknown,
    where: {
      readonly file: string;
      readonly line: number;
      readonly command?: string;
      /** The session that the line ran in, for questions about what went wrong. */
      readonly session?: () => Promise<Session>;
    },
  ): Promise<number>;
}

/** Runs a script to its end, or to its first failure. Returns the exit code; never throws for what a line does. */
export async function runScript(script: Script, frontEnd: FrontEnd): Promise<number> {
  const state = new ShellState({
    isInteractive: false,
    open: frontEnd.open,
    say: (line) => void write(frontEnd.io.stderr, `${line}\n`).catch(() => {}),
  });
  const { signal, io } = frontEnd;
  // Whoever waits for the next line is woken, and a pipe that stays open does not keep the program.
  const stopReading = () => {
    if (script.name === "stdin") io.stdin.stream.destroy(signal.reason);
  };
  if (signal.aborted) stopReading();
  signal.addEventListener("abort", stopReading, { once: true });
  try {
    return await new Runner(script, frontEnd, state).run();
  } finally {
    signal.removeEventListener("abort", stopReading);
    stopReading();
    await state.end();
  }
}

interface Started {
  readonly statement: Statement;
  readonly running: Running;
}

class Runner {
  readonly #script: Script;
  readonly #read: NonNullable<Script["read"]>;
  readonly #frontEnd: FrontEnd;
  readonly #state: ShellState;
  readonly #watches: ScriptWatches;
  /** Reads that have been sent and not been written yet, in order. */
  readonly #underWay: Started[] = [];
  #hasFailed = false;
  #isOver = false;
  #exitCode: number = ExitCode.ok;
  #again: string | undefined;

  constructor(script: Script, frontEnd: FrontEnd, state: ShellState) {
    this.#script = script;
    this.#read = script.read ?? readStatements;
    this.#frontEnd = frontEnd;
    this.#state = state;
    this.#watches = new ScriptWatches(frontEnd.execution, state);
  }

  async run(): Promise<number> {
    let line = 1;
    const statements = this.#read(this.#script.text)[Symbol.asyncIterator]();
    try {
      for (let next = await this.#next(statements); !next.done && !this.#isOver; next = await this.#next(statements)) {
        line = next.value.line;
        const statement = next.value;
        await this.#state.attend(() => this.#run(statement));
      }
    } catch (error) {
      await this.#finishAll();
      await this.#fail(error, error instanceof UnclosedQuoteError ? error.line : line);
    }
    await this.#finishAll();
    // What has run last did not have it to the end.
    if (this.#state.lostLock) await this.#fail(this.#state.lostLock, line);
    await this.#watches.flush().catch((error: unknown) => this.#fail(error, line));
    if (this.#exitCode !== ExitCode.ok) return this.#exitCode;
    return this.#hasFailed ? ExitCode.partial : ExitCode.ok;
  }

  /** While there is no further statement, what was sent is finished: somebody may wait for its answer before going on. */
  async #next(statements: AsyncIterator<Statement>): Promise<IteratorResult<Statement>> {
    if (this.#isOver) return { done: true, value: undefined };
    const next = statements.next();
    if (this.#underWay.length > 0 && !(await isSettled(next))) await this.#finishAll();
    if (!this.#isOver) return next;
    next.catch(() => {});
    return { done: true, value: undefined };
  }

  async #run(statement: Statement): Promise<void> {
    // What follows was written to run under it.
    if (this.#state.lostLock) return this.#fail(this.#state.lostLock, statement.line, statement.words[0]?.text);
    this.#state.history.push(statement.source);
    const words = statement.words.map((word) => word.text);
    let invocation: Invocation;
    try {
      const { program, dialect } = this.#frontEnd;
      invocation = await parse(words, { commands: program.commands, cwd: this.#state.cwd, dialect });
    } catch (error) {
      await this.#finishAll();
      return this.#fail(error, statement.line, words[0]);
    }
    // The server answers a session's requests in order, so a read may be sent while earlier ones are still unanswered.
    const isRead = invocation.command.effect === "read" && invocation.command.oneFlight !== undefined;
    if (!isRead) await this.#finishAll();
    if (this.#isOver) return;
    await this.#start(statement, invocation);
    if (!isRead || this.#underWay.length >= MAX_UNDER_WAY) await this.#finishAll();
    if (this.#again !== undefined) await this.#runAgain(statement.line);
  }

  async #start(statement: Statement, invocation: Invocation): Promise<void> {
    try {
      const session = invocation.entry.isOffline ? undefined : await this.#state.session();
      const context = this.#frontEnd.context({
        state: this.#state,
        command: invocation.entry.name,
        session,
        onWatch: this.#watches.listener,
      });
      const execution = {
        ...this.#frontEnd.execution,
        context,
        onControl: (control: Control) => this.#control(control),
        ...(this.#script.name === "stdin" && { readStdin: refuseStdin }),
      };
      this.#underWay.push({ statement, running: await begin(invocation, execution) });
    } catch (error) {
      await this.#finishAll();
      await this.#fail(error, statement.line, invocation.entry.name);
    }
  }

  async #finishAll(): Promise<void> {
    for (let next = this.#underWay.shift(); next !== undefined; next = this.#underWay.shift()) {
      if (this.#isOver) continue;
      const { statement, running } = next;
      try {
        const code = await running.finish();
        if (code !== ExitCode.ok) this.#failed(code);
      } catch (error) {
        await this.#fail(error, statement.line, statement.words[0]?.text);
      }
    }
  }

  async #runAgain(line: number): Promise<void> {
    const source = this.#again ?? "";
    this.#again = undefined;
    this.#state.history.pop();
    for await (const statement of this.#read([source])) await this.#run({ ...statement, line });
  }

  #control(control: Control): void {
    if (control.kind === "exit") this.#isOver = true;
    else if (control.kind === "again") this.#again = control.line;
  }

  async #fail(error: unknown, line: number, command?: string): Promise<void> {
    if (this.#isOver) return;
    // Nobody reads on: that is an end like any other.
    if (isBrokenPipe(error)) {
      this.#isOver = true;
      return;
    }
    const session = () => this.#state.session();
    const where = { file: this.#script.name, line, session, ...(command !== undefined && { command }) };
    this.#failed(await this.#script.report(error, where), { isFinal: isFinal(error) });
  }

  #failed(code: number, { isFinal: mustStop = false } = {}): void {
    this.#hasFailed = true;
    if (this.#script.keepsGoing && !mustStop) return;
    this.#exitCode = code;
    this.#isOver = true;
  }
}

/** Whether a promise needs nothing from outside to settle. */
function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<false>((resolve) => setImmediate(resolve, false))]);
}

/** Going on makes no sense: the program was interrupted, or there is no server. */
function isFinal(error: unknown): boolean {
  return error instanceof ZkshError && (error.reason === "interrupted" || error.reason === "unreachable");
}

async function refuseStdin(): Promise<never> {
  throw new UsageError("stdin is the script, so it cannot be data too", { hint: "give the data as text or @file" });
}
