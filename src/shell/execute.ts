/** Runs an invocation and writes what it says. Every front end comes through here. */
import { Outside, type Reader } from "../commands/arguments.ts";
import type { Context } from "../commands/command.ts";
import { ExitCode, RefusedError, UsageError } from "../errors.ts";
import { type Io, readAll, write } from "../io/io.ts";
import type { Rendered, Renderer } from "../render/renderer.ts";
import type { Result } from "../result.ts";
import type { Invocation } from "./parser.ts";

export interface Execution {
  readonly io: Io;
  readonly context: Context;
  /** Asked for when the command is under way already, so that loading the renderer costs no time of its own. */
  readonly renderer: () => Promise<Renderer>;
  readonly isReadOnly: boolean;
  /** Called as soon as a command that makes all its requests at once has made them. */
  readonly onRequestsMade?: () => void;
}

/** The exit code of a command that has done its work; throws what it threw. */
export async function execute(invocation: Invocation, execution: Execution): Promise<number> {
  const { entry, command } = invocation;
  const { context, io } = execution;
  if (execution.isReadOnly && command.effect === "write") {
    throw new RefusedError("read-only", `${entry.name} would write, and this is a read-only session`, {
      hint: "leave out --read-only (-r) to write",
    });
  }
  const reader = outsideReader(io, context.signal);
  const args = await fetchOutside(invocation.args, reader);
  const options = await fetchOutside(invocation.options, reader);
  const output = command.run(context, args, options);
  const { oneFlight = false } = command;
  if (typeof oneFlight === "function" ? oneFlight(context, args, options) : oneFlight) execution.onRequestsMade?.();
  await writeResults(output, execution);
  return ExitCode.ok;
}

async function writeResults(
  output: Promise<Result> | AsyncIterable<Result>,
  { io, renderer }: Execution,
): Promise<void> {
  if (Symbol.asyncIterator in output) {
    const ready = await renderer();
    for await (const result of output) await writeRendered(ready.result(result), io);
  } else {
    const [result, ready] = await Promise.all([output, renderer()]);
    await writeRendered(ready.result(result), io);
  }
}

async function writeRendered({ out, err }: Rendered, io: Io): Promise<void> {
  if (out !== undefined && out.length > 0) await write(io.stdout, out);
  if (err !== undefined && err.length > 0) await write(io.stderr, err);
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

function outsideReader(io: Io, signal: AbortSignal): Reader {
  return {
    stdin: () => readAll(io.stdin, signal),
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
