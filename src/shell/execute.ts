/** Runs an invocation and writes its results. Every front end uses this. */
import type { Context, Question } from "../commands/command.ts";
import { RefusedError } from "../errors.ts";
import { ExitCode, exitCodeOfResult } from "../exit-codes.ts";
import type { Io } from "../io/io.ts";
import type { Rendered, Renderer, Status } from "../render/renderer.ts";
import { type Control, isControl, type Result } from "../results/result.ts";
import { escapeName } from "../text/escape.ts";
import { shorten } from "../text/shorten.ts";
import { Frame } from "./frame.ts";
import {
  fetchOutside,
  hasOutside,
  type MatchedGlob,
  outsideReader,
  type Values,
} from "./outside-values.ts";
import type { Invocation } from "./parsing/parser.ts";

/** Asks the user. Present only if a user can answer. */
export interface Asker {
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
  text(
    question: { readonly question: string; check?(answer: string): string | undefined },
    signal: AbortSignal,
  ): Promise<string>;
  /** Asks without showing the answer while it is typed. */
  secret(question: string, signal: AbortSignal): Promise<string>;
}

export interface Execution {
  readonly io: Io;
  readonly context: Context;
  /**
   * Called after the requests have been sent, so that the renderer is loaded while the server
   * works.
   */
  readonly renderer: () => Promise<Renderer> | Renderer;
  /** Takes the results, without a status. Default: they are written to `io` directly. */
  readonly output?: ResultOutput;
  /**
   * `yes` answers every question with yes. Undefined: no user can be asked. A function is called at
   * the first question.
   */
  readonly asker?: Asker | "yes" | (() => Asker | undefined);
  /** Called when a command that makes all its requests at once has made them. */
  readonly onRequestsMade?: () => void;
  /** Handles a control for the shell, such as quit. */
  readonly onControl?: (control: Control) => void;
  /** Shows a status until the next output. */
  readonly onStatus?: (status: Status) => void;
  /** Reads the bytes for `-`. Default: stdin. */
  readonly readStdin?: () => Promise<Buffer>;
}

/** Takes rendered results and keeps the order of stdout and stderr. */
export interface ResultOutput {
  /** Returns a promise if the caller must wait. */
  write(rendered: Pick<Rendered, "out" | "err">): Promise<void> | undefined;
  /** Resolves when everything has been written. */
  flush(): Promise<void>;
}

/** A command that has been started. */
export interface Running {
  /**
   * Writes the results and returns the exit code. Throws or rejects with the error of the command.
   */
  finish(): number | Promise<number>;
}

/** Runs a command and returns its exit code; throws its error. */
export async function execute(invocation: Invocation, execution: Execution): Promise<number> {
  const running = await begin(invocation, execution);
  return running.finish();
}

/**
 * Starts a command: checks, questions and the first requests. Nothing is written before `finish`.
 */
export async function begin(invocation: Invocation, execution: Execution): Promise<Running> {
  refuseWrites(invocation, execution);
  const reader = outsideReader(execution);
  const args = await fetchOutside(invocation.args, reader);
  const options = await fetchOutside(invocation.options, reader);
  const values = { args, options, globs: reader.globs };
  const context = await askFirst(invocation, values, execution);
  return start({ ...invocation, args, options }, { ...execution, context });
}

/** Like {@link begin}, but synchronous, for a command that {@link isReady}. */
export function beginNow(invocation: Invocation, execution: Execution): Running {
  refuseWrites(invocation, execution);
  return start(invocation, execution);
}

/** True if the command needs neither input nor an answer before it runs. */
export function isReady({ command, args, options }: Invocation): boolean {
  return (
    command.confirm === undefined &&
    command.secret === undefined &&
    !hasOutside(args) &&
    !hasOutside(options)
  );
}

/** True if the command makes all its requests at once. */
export function isOneFlight({ command, args, options }: Invocation, context: Context): boolean {
  const { oneFlight = false } = command;
  return typeof oneFlight === "function" ? oneFlight(context, args, options) : oneFlight;
}

function refuseWrites({ entry, command }: Invocation, { context }: Execution): void {
  if (command.effect === "write") context.writes.refuseWrites(entry.name);
}

function start(invocation: Invocation, execution: Execution): Running {
  const { context } = execution;
  const output = invocation.command.run(context, invocation.args, invocation.options);
  const running =
    output instanceof Promise
      ? new OneResult(output, execution)
      : new ManyResults(output, execution);
  if (execution.onRequestsMade && isOneFlight(invocation, context)) execution.onRequestsMade();
  return running;
}

/** Asks the command's question, if any, and returns a context with the answer. */
async function askFirst(
  { entry, command }: Invocation,
  { args, options, globs }: LineValues,
  { context, asker: given }: Execution,
): Promise<Context> {
  const wanted = command.secret?.(args, options);
  const ask =
    command.confirm ??
    (command.effect === "write" ? () => aboutGlobs(entry.name, globs) : undefined);
  const question = given === "yes" ? undefined : await ask?.(context, args, options);
  const typed = question && wordsToType(question, context, globs);
  if (question === undefined && wanted === undefined) return context;
  const asker = typeof given === "function" ? given() : given;
  if (question !== undefined && asker !== "yes") {
    if (asker === undefined) {
      const why = given === undefined ? "--no-input is on" : "there is no terminal";
      const dryRun = "dryRun" in command.options ? " (--dry-run shows what would happen)" : "";
      const message = `${entry.name} needs confirmation, and ${why}; add --yes to go ahead`;
      throw new RefusedError("needs-confirmation", message, {
        hint: `the question: ${question.text}${dryRun}`,
      });
    }
    const isAgreed = await (typed === undefined
      ? asker.confirm(question.text, context.signal)
      : agreesByTyping(asker, { text: question.text, typed }, context.signal));
    if (!isAgreed) throw new RefusedError("declined", "nothing was done");
  }
  if (wanted === undefined) return context;
  if (asker === undefined || asker === "yes") {
    const why =
      asker === "yes"
        ? "--yes does not answer for"
        : given === undefined
          ? "--no-input forbids asking for"
          : "no terminal to ask for";
    throw new RefusedError("needs-input", `${why} ${wanted.what}; use ${wanted.instead}`);
  }
  const secret = await asker.secret(wanted.question, context.signal);
  return { ...context, input: { ...context.input, secret } };
}

/**
 * What a profile with `confirm` wants typed: the paths of a question as the user sees them, and a
 * glob instead of what it stands for. Undefined where a yes is enough.
 */
function wordsToType(
  { paths, rules }: Question,
  { writes }: Context,
  globs: readonly MatchedGlob[],
): string | undefined {
  if (!(rules ?? writes).wantsPathTyped || paths.length === 0) return undefined;
  const globOf = new Map(
    globs.flatMap(({ glob, paths: matched }) => matched.map((path) => [path, glob])),
  );
  const words = new Set(paths.map((path) => globOf.get(path) ?? path));
  return escapeName([...words].join(" ").trim());
}

/** An empty answer is a no; others than the paths are asked for again. */
async function agreesByTyping(
  asker: Asker,
  { text, typed }: { readonly text: string; readonly typed: string },
  signal: AbortSignal,
): Promise<boolean> {
  const question = `${text} Type ${typed} to go ahead:`;
  const check = (answer: string) =>
    answer === "" || answer === typed ? undefined : `type ${typed}, or nothing to leave it`;
  return (await asker.text({ question, check }, signal)) === typed;
}

/** The values of a line, and what its globs stand for. */
interface LineValues {
  readonly args: Values;
  readonly options: Values;
  readonly globs: readonly MatchedGlob[];
}

/** The znodes that a question names. */
const MAX_NAMED = 20;
/** Longer paths are shortened there. */
const MAX_NAME = 60;

/** A line that writes must not change more than its author has thought of. */
function aboutGlobs(command: string, globs: readonly MatchedGlob[]): Question | undefined {
  if (globs.length === 0) return undefined;
  const paths = globs.flatMap((one) => one.paths);
  const named = paths.slice(0, MAX_NAMED).map((path) => shorten(path, MAX_NAME));
  const more = paths.length > named.length ? `, and ${paths.length - named.length} more` : "";
  const what = paths.length === 1 ? "1 znode" : `${paths.length.toLocaleString("en-US")} znodes`;
  const patterns = globs.map(({ glob }) => shorten(glob, MAX_NAME)).join(" and ");
  const text = `${command} ${what} that match ${patterns} (${named.join(", ")}${more})?`;
  return { text, paths };
}

class OneResult implements Running {
  readonly #output: Promise<Result | Control>;
  readonly #execution: Execution;
  /** The result, when the promise has resolved: read without another turn. */
  #result: Result | Control | undefined;

  constructor(output: Promise<Result | Control>, execution: Execution) {
    this.#output = output;
    this.#execution = execution;
    output.then(
      (result) => {
        this.#result = result;
      },
      // A rejection may come while an earlier command is being written; finish() throws it.
      () => {},
    );
  }

  finish(): number | Promise<number> {
    const renderer = this.#execution.renderer();
    if (this.#result === undefined || renderer instanceof Promise) return this.#wait(renderer);
    return this.#write(this.#result, renderer);
  }

  async #wait(renderer: Renderer | Promise<Renderer>): Promise<number> {
    const [result, ready] = await Promise.all([this.#output, renderer]);
    return this.#write(result, ready);
  }

  #write(result: Result | Control, renderer: Renderer): number | Promise<number> {
    if (isControl(result)) {
      this.#execution.onControl?.(result);
      return ExitCode.ok;
    }
    const written = writeRendered(renderer.result(result), this.#execution);
    const code = exitCodeOfResult(result);
    return written === undefined ? code : written.then(() => code);
  }
}

class ManyResults implements Running {
  readonly #results: AsyncIterable<Result>;
  readonly #execution: Execution;

  constructor(results: AsyncIterable<Result>, execution: Execution) {
    this.#results = results;
    this.#execution = execution;
  }

  async finish(): Promise<number> {
    const renderer = await this.#execution.renderer();
    let code: number = ExitCode.ok;
    const frame = new Frame();
    for await (const result of this.#results) {
      await writeRendered(frame.place(renderer.result(result)), this.#execution);
      // The next result may come much later, so this one is written now.
      await this.#execution.output?.flush();
      code = exitCodeOfResult(result) || code;
    }
    return code;
  }
}

function writeRendered(
  rendered: Rendered,
  { io, output, onStatus }: Execution,
): Promise<void> | undefined {
  return output ? output.write(rendered) : writeAtOnce(rendered, io, onStatus);
}

async function writeAtOnce(
  { out, err, status }: Rendered,
  io: Io,
  onStatus: Execution["onStatus"],
): Promise<void> {
  if (out !== undefined && out.length > 0) await io.writer.write(io.stdout, out);
  // A write error on stderr is ignored: messages are optional, and the program under a lock must
  // not fail because of them.
  if (err !== undefined && err.length > 0) await io.writer.write(io.stderr, err).catch(() => {});
  if (status !== undefined) onStatus?.(status);
}
