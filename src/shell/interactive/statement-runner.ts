/**
 * Runs one statement of the interactive shell: spinner, questions, Ctrl-C, and a second Ctrl-C that
 * leaves a command which does not end.
 */

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
import type { LineEditor } from "./line-editor.ts";
import type { SessionKeeper } from "./session-keeper.ts";
import { StatementIo } from "./statement-io.ts";
import type { Tab } from "./tab.ts";

export interface StatementRunnerOptions {
  readonly frontEnd: FrontEnd;
  readonly state: ShellState;
  readonly progress: Progress;
  readonly onWatch: WatchListener;
  readonly keeper: SessionKeeper;
  readonly editor: LineEditor;
  readonly tab: Tab;
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
  #reportsOutages = false;

  constructor(options: StatementRunnerOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#leave !== undefined;
  }

  /** A lock command is running: it says itself that no server answers, and for how long it matters. */
  get reportsOutages(): boolean {
    return this.#reportsOutages;
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
          .runLine(() => this.#runTraced(line, signal, lineIo))
          .then(resolve, reject);
      });
    } finally {
      this.#leave = undefined;
      this.#reportsOutages = false;
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
    const { state, progress, onWatch, tab } = this.#options;
    const { program, dialect } = frontEnd;
    const invocation = await parse(words, { commands: program.commands, cwd: state.cwd, dialect });
    const { name: command, isGuard = false } = invocation.entry;
    this.#reportsOutages = isGuard && !frontEnd.settings.isQuiet;
    if (!frontEnd.settings.isQuiet)
      progress.start(() => this.#waitingFor() ?? `${command} (Ctrl-C cancels)`);
    const session = invocation.entry.needsNoShellSession ? undefined : await state.session();
    const context = frontEnd.context({
      state,
      command,
      session,
      signal,
      processes: {
        ...io.processes,
        startGuarded: (request) => this.#startAlone(request, io),
      },
      onWatch,
      onProgress: progress.report.bind(progress),
    });
    let control: Control | undefined;
    const asker = this.#asker(frontEnd);
    const exitCode = await execute(invocation, {
      ...frontEnd.execution(context, io),
      ...(asker && { asker }),
      onStatus: (status) =>
        typeof status === "function" ? progress.start(status) : progress.stop(status),
      onControl: (wanted) => {
        control = wanted;
      },
      readStdin,
    }).finally(() => invocation.command.effect === "write" && tab.cache.clear());
    return { exitCode, ...(control && { control }) };
  }

  /** What a slow command is waiting for, when it is not the command's own work. */
  #waitingFor(): string | undefined {
    const { server, trouble } = this.#options.keeper;
    return trouble && `${server}: ${trouble} (Ctrl-C cancels)`;
  }

  /** The program has the terminal to itself until it is disposed of. */
  #startAlone(request: GuardRequest, io: Io): Promise<GuardedChild> {
    const { editor, progress } = this.#options;
    progress.stop();
    return new Promise((resolve, reject) => {
      const use = async () => {
        const child = await io.processes.startGuarded(request);
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
      editor.lend(use).catch(reject);
    });
  }

  /**
   * Questions have the terminal to themselves: two readers of one stdin would both get the answer.
   */
  #asker(frontEnd: FrontEnd): Asker | "yes" | undefined {
    const { editor, progress } = this.#options;
    const given = frontEnd.asker;
    const asker = typeof given === "function" ? given() : given;
    if (asker === undefined || asker === "yes") return asker;
    const alone = <T>(ask: () => Promise<T>) => {
      progress.stop();
      return editor.lend(ask);
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
