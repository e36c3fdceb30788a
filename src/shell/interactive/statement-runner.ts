/**
 * Runs one statement of the interactive shell, with everything that can happen to it: questions,
 * Ctrl-C, impatience.
 */

import type { Context } from "../../commands/command.ts";
import { InterruptedError, UsageError } from "../../errors.ts";
import type { Io } from "../../io/io.ts";
import type { Progress } from "../../io/progress.ts";
import type { GuardedChild, GuardRequest } from "../../processes/child-requests.ts";
import type { Control } from "../../results/result.ts";
import type { WatchListener } from "../../session/session.ts";
import { type Asker, execute } from "../execute.ts";
import type { FrontEnd } from "../front-end.ts";
import { parse } from "../parsing/parser.ts";
import type { SplitLine } from "../parsing/split-globals.ts";
import type { ShellState } from "../shell-state.ts";
import { StatementIo } from "./statement-io.ts";

export interface StatementRunnerOptions {
  readonly frontEnd: FrontEnd;
  readonly state: ShellState;
  readonly progress: Progress;
  readonly onWatch: WatchListener;
  /** What a slow command is waiting for, when it is not the command's own work. */
  waitingFor(): string | undefined;
  /** Leaves the terminal to somebody else for a while. */
  lend<T>(use: () => Promise<T>): Promise<T>;
  /** A command that writes was run. */
  onWrite(): void;
}

export interface Outcome {
  readonly exitCode: number;
  readonly control?: Control;
}

interface OneLine {
  /** With the line's own options. */
  readonly frontEnd: FrontEnd;
  readonly signal: AbortSignal;
  readonly io: Io;
}

export class StatementRunner {
  readonly #options: StatementRunnerOptions;
  #leave: (() => void) | undefined;

  constructor(options: StatementRunnerOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#leave !== undefined;
  }

  /** Gives the prompt back although the command has not ended. */
  leave(): void {
    this.#leave?.();
  }

  /** Throws what the command threw; InterruptedError when it was interrupted or left. */
  async run(line: SplitLine, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) throw new InterruptedError();
    const { frontEnd, progress } = this.#options;
    const lineIo = new StatementIo(frontEnd.io, () => progress.stop());
    try {
      return await new Promise<Outcome>((resolve, reject) => {
        this.#leave = () => reject(new InterruptedError());
        this.#options.state
          .attend(() => this.#runTraced(line, signal, lineIo))
          .then(resolve, reject);
      });
    } finally {
      this.#leave = undefined;
      lineIo.detach();
      progress.stop();
    }
  }

  async #runTraced(line: SplitLine, signal: AbortSignal, lineIo: StatementIo): Promise<Outcome> {
    if (line.mistake) throw line.mistake;
    const frontEnd = this.#options.frontEnd.forLine(line.flags);
    return frontEnd.traced(() => this.#execute(line, { frontEnd, signal, io: lineIo.io }));
  }

  async #execute({ words }: SplitLine, { frontEnd, signal, io }: OneLine): Promise<Outcome> {
    const { state, progress, onWatch, onWrite } = this.#options;
    const { program, dialect } = frontEnd;
    const invocation = await parse(words, { commands: program.commands, cwd: state.cwd, dialect });
    const command = invocation.entry.name;
    if (!frontEnd.isQuiet)
      progress.start(() => this.#options.waitingFor() ?? `${command} (Ctrl-C cancels)`);
    const session = invocation.entry.needsNoShellSession ? undefined : await state.session();
    const context: Context = {
      ...frontEnd.context({
        state,
        command,
        session,
        signal,
        onWatch,
        onProgress: progress.report.bind(progress),
      }),
      runChild: (request) => io.runChild(request),
      startGuarded: (request) => this.#startAlone(request, io),
    };
    let control: Control | undefined;
    const asker = this.#asker(frontEnd);
    const exitCode = await execute(invocation, {
      ...frontEnd.execution,
      io,
      context,
      ...(asker && { asker }),
      onStatus: (status) =>
        typeof status === "function" ? progress.start(status) : progress.stop(status),
      onControl: (wanted) => {
        control = wanted;
      },
      readStdin,
    }).finally(() => invocation.command.effect === "write" && onWrite());
    return { exitCode, ...(control && { control }) };
  }

  /** The terminal is the program's until it is disposed of. */
  #startAlone(request: GuardRequest, io: Io): Promise<GuardedChild> {
    const { lend, progress } = this.#options;
    progress.stop();
    return new Promise((resolve, reject) => {
      const use = async () => {
        const child = await io.startGuarded(request);
        await new Promise<void>((disposed) => {
          resolve({
            pid: child.pid,
            hasOwnGroup: child.hasOwnGroup,
            reach: child.reach,
            ended: child.ended,
            signal: (name) => child.signal(name),
            gone: () => child.gone(),
            permit: (limits) => child.permit(limits),
            wasOutOfTime: () => child.wasOutOfTime(),
            dispose: () => child.dispose().finally(disposed),
          });
        });
      };
      lend(use).catch(reject);
    });
  }

  /**
   * Questions have the terminal to themselves: two readers of one stdin would both get the answer.
   */
  #asker(frontEnd: FrontEnd): Asker | "yes" | undefined {
    const { lend, progress } = this.#options;
    const given = frontEnd.execution.asker;
    const asker = typeof given === "function" ? given() : given;
    if (asker === undefined || asker === "yes") return asker;
    const alone = <T>(ask: () => Promise<T>) => {
      progress.stop();
      return lend(ask);
    };
    return {
      confirm: (question, signal) => alone(() => asker.confirm(question, signal)),
      secret: (question, signal) => alone(() => asker.secret(question, signal)),
    };
  }
}

async function readStdin(): Promise<never> {
  throw new UsageError("data cannot be read from stdin at the prompt", {
    hint: "give the data as text or @file",
  });
}
