/**
 * Runs one statement of the interactive shell: spinner, questions, Ctrl-C, and a second Ctrl-C that
 * leaves a command which does not end.
 */

import { InterruptedError, UsageError } from "../../errors.ts";
import { type Io, ioWith } from "../../io/io.ts";
import type { Progress } from "../../io/progress.ts";
import type {
  GuardedChild,
  GuardPreparation,
  GuardRequest,
  ShellChild,
  ShellRequest,
} from "../../processes/child-requests.ts";
import type { Control } from "../../results/result.ts";
import type { WatchListener } from "../../session/session.ts";
import { type Asker, execute } from "../execute.ts";
import type { FrontEnd } from "../front-end.ts";
import type { Marks } from "../parsing/marked-words.ts";
import { type Invocation, parse } from "../parsing/parser.ts";
import type { SplitLine } from "../parsing/split-globals.ts";
import type { ShellState } from "../shell-state.ts";
import { hasSink, type LineSink, runInto } from "../sinks/line-sink.ts";
import { runPaged } from "../sinks/paged-line.ts";
import { mayPage } from "../sinks/pager.ts";
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

/** A line as it was read, without its own options, and where its results go. */
export interface LineToRun extends SplitLine, LineSink {
  readonly marks?: Marks | undefined;
}

/** What a line runs with. */
interface LinePlace {
  /** With the line's own options. */
  readonly frontEnd: FrontEnd;
  readonly io: Io;
  readonly signal: AbortSignal;
}

interface LineExecution extends LinePlace {
  readonly onControl: (wanted: Control) => void;
  /** The results go to the terminal, not to a command or a variable. */
  readonly isShown?: boolean;
}

export class StatementRunner {
  readonly #options: StatementRunnerOptions;
  #leave: (() => void) | undefined;
  #reportsOutages = false;
  /** A command of the system's shell has the terminal. */
  #isLent = false;

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
  async run(line: LineToRun, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) throw new InterruptedError();
    const { frontEnd, progress, editor } = this.#options;
    const lineIo = new StatementIo(frontEnd.io, () => progress.stop());
    const io = withShell(lineIo.io, async (use) => {
      this.#isLent = true;
      progress.stop();
      try {
        await editor.lend(use);
      } finally {
        this.#isLent = false;
      }
    });
    try {
      return await new Promise<Outcome>((resolve, reject) => {
        this.#leave = () => reject(new InterruptedError());
        this.#options.state.runLine(() => this.#runTraced(line, signal, io)).then(resolve, reject);
      });
    } finally {
      this.#leave = undefined;
      this.#reportsOutages = false;
      lineIo.detach();
      progress.stop();
    }
  }

  async #runTraced(line: LineToRun, signal: AbortSignal, io: Io): Promise<Outcome> {
    if (line.mistake) throw line.mistake;
    const frontEnd = this.#options.frontEnd.forLine(line.flags);
    return frontEnd.traced(() => this.#runLine(line, { frontEnd, io, signal }));
  }

  async #runLine(line: LineToRun, place: LinePlace): Promise<Outcome> {
    const { frontEnd, io, signal } = place;
    const { state, tab } = this.#options;
    const { program, dialect } = frontEnd;
    const { words, marks } = line;
    const how = { commands: program.commands, cwd: state.cwd, dialect, marks };
    const invocation = await parse(words, how);
    let control: Control | undefined;
    const onControl = (wanted: Control) => {
      control = wanted;
    };
    const runWith = (into: FrontEnd, isShown: boolean) => {
      const { io, signal } = into;
      return this.#execute(invocation, { frontEnd: into, io, signal, onControl, isShown });
    };
    const run = () => {
      const options = { frontEnd: frontEnd.into(io, signal), state, invocation };
      if (hasSink(line)) return runInto(line, options, (into) => runWith(into, false));
      if (mayPage(frontEnd, invocation))
        return runPaged(options.frontEnd, (into) => runWith(into, true));
      return this.#execute(invocation, { ...place, isShown: true, onControl });
    };
    const exitCode = await run().finally(
      () => invocation.command.effect === "write" && tab.cache.clear(),
    );
    return { exitCode, ...(control && { control }) };
  }

  async #execute(
    invocation: Invocation,
    { frontEnd, io, signal, onControl, isShown = false }: LineExecution,
  ): Promise<number> {
    const { state, progress, onWatch } = this.#options;
    const { name: command, isGuard = false } = invocation.entry;
    this.#reportsOutages = isGuard && !frontEnd.settings.isQuiet;
    if (!frontEnd.settings.isQuiet && isShown)
      progress.start(() => this.#waitingFor() ?? `${command} (Ctrl-C cancels)`);
    const session = invocation.entry.needsNoShellSession ? undefined : await state.session();
    const asker = this.#asker(frontEnd);
    const context = frontEnd.context({
      state,
      command,
      session,
      signal,
      asker,
      alone: (ask) => this.#alone(ask),
      processes: {
        ...io.processes,
        prepareGuard: async (options) => {
          const preparation = await io.processes.prepareGuard(options);
          return {
            start: (request) => this.#startAlone(preparation, request),
            dispose: () => preparation.dispose(),
          };
        },
      },
      onWatch,
      onProgress: (done, what) => {
        if (!this.#isLent) progress.report(done, what);
      },
    });
    return execute(invocation, {
      ...frontEnd.execution(context, io),
      ...(asker && { asker }),
      onStatus: (status) =>
        typeof status === "function" ? progress.start(status) : progress.stop(status),
      onControl,
      readStdin,
    });
  }

  /** What a slow command is waiting for, when it is not the command's own work. */
  #waitingFor(): string | undefined {
    const { server, trouble } = this.#options.keeper;
    return trouble && `${server}: ${trouble} (Ctrl-C cancels)`;
  }

  /** The program has the terminal to itself until it is disposed of. */
  #startAlone(preparation: GuardPreparation, request: GuardRequest): Promise<GuardedChild> {
    const { editor, progress } = this.#options;
    progress.stop();
    return new Promise((resolve, reject) => {
      const use = async () => {
        const child = await preparation.start(request);
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

  #alone<T>(ask: () => Promise<T>): Promise<T> {
    const { editor, progress } = this.#options;
    progress.stop();
    return editor.lend(ask);
  }

  /**
   * Questions have the terminal to themselves: two readers of one stdin would both get the answer.
   */
  #asker(frontEnd: FrontEnd): Asker | "yes" | undefined {
    const given = frontEnd.asker;
    const asker = typeof given === "function" ? given() : given;
    if (asker === undefined || asker === "yes") return asker;
    const alone = <T>(ask: () => Promise<T>) => this.#alone(ask);
    return {
      confirm: (question, signal) => alone(() => asker.confirm(question, signal)),
      text: (question, signal) => alone(() => asker.text(question, signal)),
      secret: (question, signal) => alone(() => asker.secret(question, signal)),
    };
  }
}

async function readStdin(): Promise<never> {
  throw new UsageError("data cannot be read from stdin at the prompt", {
    hint: "give the data as text or @file",
  });
}

/** The world of a line, in which the system's shell has the terminal to itself until it ends. */
function withShell(io: Io, lend: (use: () => Promise<void>) => Promise<void>): Io {
  const startShell = async (request: ShellRequest): Promise<ShellChild> => {
    let takeBack = () => {};
    const over = new Promise<void>((resolve) => {
      takeBack = resolve;
    });
    let lent: Promise<void> | undefined;
    const beforeStart = () => {
      lent = lend(() => over);
    };
    const end = async () => {
      takeBack();
      await lent;
    };
    try {
      const child = await io.processes.startShell({ ...request, beforeStart });
      // The line goes on when the terminal is ours again.
      return { ...child, ended: child.ended.then((ended) => end().then(() => ended)) };
    } catch (error) {
      await end();
      throw error;
    }
  };
  return ioWith(io, { processes: { ...io.processes, startShell } });
}
