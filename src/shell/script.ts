/** The front end for scripts: -c, -f, and whatever is piped in. */
import { ExitCode, UsageError, ZkshError } from "../errors.ts";
import { isBrokenPipe } from "../io/io.ts";
import type { Control } from "../result.ts";
import { begin, type Running } from "./execute.ts";
import type { FrontEnd } from "./front-end.ts";
import type { Statement } from "./line.ts";
import { type Invocation, parse } from "./parser.ts";
import { ShellState } from "./shell-state.ts";
import { readStatements, type ScriptText, UnclosedQuoteError } from "./statements.ts";

/** Reads under way at a time: enough to fill the connection, few enough to stop soon after a failure. */
const MAX_UNDER_WAY = 500;

export interface Script {
  /** For messages: `setup.zk`, `-c`, `stdin`. */
  readonly name: string;
  readonly text: ScriptText;
  /** Go on after a failure. */
  readonly keepsGoing: boolean;
  /** Shows an error and returns its exit code. */
  report(
    error: unknown,
    where: { readonly file: string; readonly line: number; readonly command?: string },
  ): Promise<number>;
}

/** Runs a script to its end, or to its first failure. Returns the exit code; never throws for what a line does. */
export async function runScript(script: Script, frontEnd: FrontEnd): Promise<number> {
  const state = new ShellState({ isInteractive: false, open: frontEnd.openSession });
  try {
    return await new Runner(script, frontEnd, state).run();
  } finally {
    await state.end();
  }
}

interface Started {
  readonly statement: Statement;
  readonly running: Running;
}

class Runner {
  readonly #script: Script;
  readonly #frontEnd: FrontEnd;
  readonly #state: ShellState;
  /** Reads that have been sent and not been written yet, in order. */
  readonly #underWay: Started[] = [];
  #hasFailed = false;
  #isOver = false;
  #exitCode: number = ExitCode.ok;
  #again: string | undefined;

  constructor(script: Script, frontEnd: FrontEnd, state: ShellState) {
    this.#script = script;
    this.#frontEnd = frontEnd;
    this.#state = state;
  }

  async run(): Promise<number> {
    let line = 1;
    try {
      for await (const statement of readStatements(this.#script.text)) {
        line = statement.line;
        await this.#run(statement);
        if (this.#isOver) break;
      }
    } catch (error) {
      await this.#finishAll();
      await this.#fail(error, error instanceof UnclosedQuoteError ? error.line : line);
    }
    await this.#finishAll();
    if (this.#exitCode !== ExitCode.ok) return this.#exitCode;
    return this.#hasFailed ? ExitCode.partial : ExitCode.ok;
  }

  async #run(statement: Statement): Promise<void> {
    this.#state.history.push(statement.source);
    const words = statement.words.map((word) => word.text);
    let invocation: Invocation;
    try {
      invocation = await parse(words, { commands: this.#frontEnd.program.commands, cwd: this.#state.cwd });
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
      const context = this.#frontEnd.context({ state: this.#state, command: invocation.entry.name, session });
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
    for await (const statement of readStatements([source])) await this.#run({ ...statement, line });
  }

  #control(control: Control): void {
    if (control.kind === "exit") this.#isOver = true;
    else this.#again = control.line;
  }

  async #fail(error: unknown, line: number, command?: string): Promise<void> {
    if (this.#isOver) return;
    // Nobody reads on: that is an end like any other.
    if (isBrokenPipe(error)) {
      this.#isOver = true;
      return;
    }
    const where = { file: this.#script.name, line, ...(command !== undefined && { command }) };
    this.#failed(await this.#script.report(error, where), { isFinal: isFinal(error) });
  }

  #failed(code: number, { isFinal: mustStop = false } = {}): void {
    this.#hasFailed = true;
    if (this.#script.keepsGoing && !mustStop) return;
    this.#exitCode = code;
    this.#isOver = true;
  }
}

/** Going on makes no sense: the program was interrupted, or there is no server. */
function isFinal(error: unknown): boolean {
  return error instanceof ZkshError && (error.reason === "interrupted" || error.reason === "unreachable");
}

async function refuseStdin(): Promise<never> {
  throw new UsageError("stdin is the script, so it cannot be data too", { hint: "give the data as text or @file" });
}
