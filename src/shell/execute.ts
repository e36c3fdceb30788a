/** Runs an invocation and writes what it says. Every front end comes through here. */
import { Outside, type Reader } from "../commands/arguments.ts";
import type { Context } from "../commands/command.ts";
import { ExitCode, RefusedError, UsageError } from "../errors.ts";
import { type Io, readAll, write } from "../io/io.ts";
import type { Rendered, Renderer, Status } from "../render/renderer.ts";
import { type Control, exitCodeOfResult, isControl, type Result } from "../result.ts";
import { Frame } from "./frame.ts";
import type { Invocation } from "./parser.ts";

/** Asks a person. Only there where a person can answer. */
export interface Asker {
  confirm(question: string, signal: AbortSignal): Promise<boolean>;
  /** The answer is not shown while it is typed. */
  secret(question: string, signal: AbortSignal): Promise<string>;
}

export interface Execution {
  readonly io: Io;
  readonly context: Context;
  /** Asked for when the command is under way already, so that loading the renderer costs no time of its own. */
  readonly renderer: () => Promise<Renderer>;
  readonly isReadOnly: boolean;
  /** `yes`: every question is answered with yes. Left out: nobody can be asked. A function is called at the first question. */
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

/** A command under way. */
export interface Running {
  /** Writes what the command says; the exit code when it has done its work. Throws what it threw. */
  finish(): Promise<number>;
}

/** The exit code of a command that has done its work; throws what it threw. */
export async function execute(invocation: Invocation, execution: Execution): Promise<number> {
  const running = await begin(invocation, execution);
  return running.finish();
}

/** Starts a command: checks, questions, and its first requests. Nothing is written before `finish`. */
export async function begin(invocation: Invocation, execution: Execution): Promise<Running> {
  const { entry, command } = invocation;
  if (execution.isReadOnly && command.effect === "write") {
    throw new RefusedError("read-only", `${entry.name} would write, and this is a read-only session`, {
      hint: "leave out --read-only (-r) to write",
    });
  }
  const reader = outsideReader(execution);
  const args = await fetchOutside(invocation.args, reader);
  const options = await fetchOutside(invocation.options, reader);
  const context = await askFirst(invocation, args, options, execution);
  const output = command.run(context, args, options);
  // It may fail while an earlier command is still being written; whoever finishes it sees the failure then.
  if (output instanceof Promise) output.catch(() => {});
  const { oneFlight = false } = command;
  if (typeof oneFlight === "function" ? oneFlight(context, args, options) : oneFlight) execution.onRequestsMade?.();
  return { finish: () => writeResults(output, execution) };
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
      throw new RefusedError("needs-confirmation", `${entry.name} wants an answer: ${question}`, {
        hint: `--yes answers yes${"dryRun" in command.options ? "; --dry-run only shows what would happen" : ""}`,
      });
    }
    if (!(await asker.confirm(question, context.signal))) throw new RefusedError("declined", "nothing was done");
  }
  if (wanted === undefined) return context;
  if (asker === undefined || asker === "yes") {
    throw new RefusedError("needs-input", `${entry.name} needs an answer: ${wanted}`, { hint: "give it on the line" });
  }
  return { ...context, secret: await asker.secret(wanted, context.signal) };
}

async function writeResults(
  output: Promise<Result | Control> | AsyncIterable<Result>,
  { io, renderer, onControl, onStatus }: Execution,
): Promise<number> {
  if (Symbol.asyncIterator in output) {
    const ready = await renderer();
    let code: number = ExitCode.ok;
    const frame = new Frame();
    for await (const result of output) {
      await writeRendered(frame.place(ready.result(result)), { io, ...(onStatus && { onStatus }) });
      code = exitCodeOfResult(result) || code;
    }
    return code;
  }
  const [result, ready] = await Promise.all([output, renderer()]);
  if (isControl(result)) {
    onControl?.(result);
    return ExitCode.ok;
  }
  await writeRendered(ready.result(result), { io, ...(onStatus && { onStatus }) });
  return exitCodeOfResult(result);
}

async function writeRendered(
  { out, err, status }: Rendered,
  { io, onStatus }: Pick<Execution, "io" | "onStatus">,
): Promise<void> {
  if (out !== undefined && out.length > 0) await write(io.stdout, out);
  // What is said beside the results can be done without; a program that runs under a lock must not suffer from it.
  if (err !== undefined && err.length > 0) await write(io.stderr, err).catch(() => {});
  if (status !== undefined) onStatus?.(status);
}

type Values = Invocation["args"];

async function fetchOutside(values: Values, reader: Reader): Promise<Values> {
  const entries = Object.entries(values);
  if (!entries.some(([, value]) => value instanceof Outside)) return values;
  const fetched = entries.map(async ([key, value]) => [
    key,
    value instanceof Outside ? await value.read(reader) : value,
  ]);
  return Object.fromEntries(await Promise.all(fetched));
}

function outsideReader({ io, context, readStdin = () => readAll(io.stdin, context.signal) }: Execution): Reader {
  return {
    stdin: readStdin,
    async file(path) {
      try {
        return await io.readFile(path);
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new UsageError(`cannot read the data: ${why}`, {
          cause,
          hint: `to store the text @${path} write @@${path}`,
        });
      }
    },
  };
}
