/** Runs an invocation and writes what it says. Every front end comes through here. */
import { Outside, type Reader } from "../commands/arguments.ts";
import type { Context } from "../commands/command.ts";
import { cannotRead, RefusedError, UsageError } from "../errors.ts";
import { ExitCode, exitCodeOfResult } from "../exit-codes.ts";
import { type Io, readAll } from "../io/io.ts";
import type { Rendered, Renderer, Status } from "../render/renderer.ts";
import { type Control, isControl, type Result } from "../results/result.ts";
import { Frame } from "./frame.ts";
import type { Invocation } from "./parsing/parser.ts";

/** Asks a person. Only there where a person can answer. */
export interface Asker {
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
  /** The answer is not shown while it is typed. */
  secret(question: string, signal: AbortSignal): Promise<string>;
}

export interface Execution {
  readonly io: Io;
  readonly context: Context;
  /**
   * Asked for when the command is under way already, so that loading the renderer costs no time of
   * its own.
   */
  readonly renderer: () => Promise<Renderer> | Renderer;
  /** Where results are written, without a status; straight to `io` when left out. */
  readonly output?: ResultOutput;
  readonly isReadOnly: boolean;
  /**
   * `yes`: every question is answered with yes. Left out: nobody can be asked. A function is called
   * at the first question.
   */
  readonly asker?: Asker | "yes" | (() => Asker | undefined);
  /** Called as soon as a command that makes all its requests at once has made them. */
  readonly onRequestsMade?: () => void;
  /** Acts on what is meant for the shell rather than for the reader. */
  readonly onControl?: (control: Control) => void;
  /** Shows what the command waits for until something else is shown. */
  readonly onStatus?: (status: Status) => void;
  /** The bytes that `-` stands for; stdin when left out. */
  readonly readStdin?: () => Promise<Buffer>;
}

/** Takes what results say, stdout and stderr in their order. */
export interface ResultOutput {
  /** A promise when the writer has to wait. */
  write(rendered: Pick<Rendered, "out" | "err">): Promise<void> | undefined;
  /** Resolves when everything has been written. */
  flush(): Promise<void>;
}

/** A command under way. */
export interface Running {
  /**
   * Writes what the command says; the exit code when it has done its work. Throws what it threw, at
   * once or later.
   */
  finish(): number | Promise<number>;
}

/** The exit code of a command that has done its work; throws what it threw. */
export async function execute(invocation: Invocation, execution: Execution): Promise<number> {
  const running = await begin(invocation, execution);
  return running.finish();
}

/**
 * Starts a command: checks, questions, and its first requests. Nothing is written before `finish`.
 */
export async function begin(invocation: Invocation, execution: Execution): Promise<Running> {
  refuseWrites(invocation, execution);
  const reader = outsideReader(execution);
  const args = await fetchOutside(invocation.args, reader);
  const options = await fetchOutside(invocation.options, reader);
  const context = await askFirst(invocation, args, options, execution);
  return start({ ...invocation, args, options }, { ...execution, context });
}

/** As {@link begin} in this very turn, for a command that {@link isReady}. */
export function beginNow(invocation: Invocation, execution: Execution): Running {
  refuseWrites(invocation, execution);
  return start(invocation, execution);
}

/** Nothing has to be read or asked before the command can run. */
export function isReady({ command, args, options }: Invocation): boolean {
  return (
    command.confirm === undefined &&
    command.secret === undefined &&
    !hasOutside(args) &&
    !hasOutside(options)
  );
}

/** All requests are made as soon as the command runs. */
export function isOneFlight({ command, args, options }: Invocation, context: Context): boolean {
  const { oneFlight = false } = command;
  return typeof oneFlight === "function" ? oneFlight(context, args, options) : oneFlight;
}

function refuseWrites({ entry, command }: Invocation, { isReadOnly }: Execution): void {
  if (!isReadOnly || command.effect !== "write") return;
  throw new RefusedError("read-only", `${entry.name} is refused: the session is read-only`, {
    hint: "leave out --read-only (-r) to allow writes",
  });
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

/** Asks what has to be asked before the command may run; the context then has the answer. */
async function askFirst(
  { entry, command }: Invocation,
  args: Values,
  options: Values,
  { context, asker: given }: Execution,
): Promise<Context> {
  const wanted = command.secret?.(args, options);
  const question = given === "yes" ? undefined : await command.confirm?.(context, args, options);
  if (question === undefined && wanted === undefined) return context;
  const asker = typeof given === "function" ? given() : given;
  if (question !== undefined && asker !== "yes") {
    if (asker === undefined) {
      const why = given === undefined ? "--no-input is on" : "there is no terminal";
      const dryRun = "dryRun" in command.options ? " (--dry-run shows what would happen)" : "";
      const message = `${entry.name} needs confirmation, and ${why}; add --yes to go ahead`;
      throw new RefusedError("needs-confirmation", message, {
        hint: `the question: ${question}${dryRun}`,
      });
    }
    if (!(await asker.confirm(question, context.signal)))
      throw new RefusedError("declined", "nothing was done");
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

class OneResult implements Running {
  readonly #output: Promise<Result | Control>;
  readonly #execution: Execution;
  /** Known without asking the promise, once it has been settled. */
  #result: Result | Control | undefined;

  constructor(output: Promise<Result | Control>, execution: Execution) {
    this.#output = output;
    this.#execution = execution;
    output.then(
      (result) => {
        this.#result = result;
      },
      // It may fail while an earlier command is still being written; whoever finishes it sees the
      // failure then.
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
      // Who knows when the next one comes.
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
  // What is said beside the results can be done without; a program that runs under a lock must not
  // suffer from it.
  if (err !== undefined && err.length > 0) await io.writer.write(io.stderr, err).catch(() => {});
  if (status !== undefined) onStatus?.(status);
}

type Values = Invocation["args"];

function hasOutside(values: Values): boolean {
  for (const key in values) if (values[key] instanceof Outside) return true;
  return false;
}

async function fetchOutside(values: Values, reader: Reader): Promise<Values> {
  if (!hasOutside(values)) return values;
  const entries = Object.entries(values);
  const fetched = entries.map(async ([key, value]) => [
    key,
    value instanceof Outside ? await value.read(reader) : value,
  ]);
  return Object.fromEntries(await Promise.all(fetched));
}

function outsideReader({
  io,
  context,
  readStdin = () => readAll(io.stdin, context.signal),
}: Execution): Reader {
  return {
    stdin: readStdin,
    async file(path) {
      try {
        return await io.files.read(path);
      } catch (cause) {
        throw new UsageError(cannotRead(path, cause), {
          cause,
          hint: `to store the text @${path}, write @@${path}`,
        });
      }
    },
  };
}
