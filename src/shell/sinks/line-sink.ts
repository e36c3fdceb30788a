/** Where the results of a line go instead of to stdout: to a command, into a variable, or both. */
import type { Argument } from "../../commands/arguments.ts";
import { ExitCode } from "../../exit-codes.ts";
import type { Running } from "../execute.ts";
import type { FrontEnd } from "../front-end.ts";
import type { Invocation } from "../parsing/parser.ts";
import type { ShellState } from "../shell-state.ts";

/** What stands around a line. */
export interface LineSink {
  /** `NAME = LINE`. */
  readonly name?: string | undefined;
  /** `LINE | COMMAND`. */
  readonly pipe?: string | undefined;
}

export interface SinkOptions {
  /** The front end of the line; it writes to our stdout. */
  readonly frontEnd: FrontEnd;
  readonly state: ShellState;
  readonly invocation: Invocation;
}

/** The line as one that has been started: it begins when it is finished. */
export function runningInto(...line: Parameters<typeof runInto>): Running {
  return { finish: () => runInto(...line) };
}

export function hasSink({ name, pipe }: LineSink): boolean {
  return name !== undefined || pipe !== undefined;
}

/**
 * Calls `run` with the front end that writes where the results go, and returns the exit code. A
 * variable keeps the result of a line that has succeeded.
 */
export async function runInto(
  { name, pipe }: LineSink,
  { frontEnd, state, invocation }: SinkOptions,
  run: (frontEnd: FrontEnd) => Promise<number>,
): Promise<number> {
  if (name === undefined && pipe === undefined) return run(frontEnd);
  const { KeptBytes, runKept } = await import("./kept-line.ts");
  const kept = name === undefined ? undefined : new KeptBytes(name);
  // A program writes to a descriptor: what it says is read from a pipe.
  const command = pipe ?? (runsProgram(invocation) ? "cat" : undefined);
  let code: number;
  if (command !== undefined) {
    const { runPiped } = await import("./piped-line.ts");
    const { environment } = frontEnd.settingsAt(state.target);
    const env = { ...environment, ZKSH_SERVER: await frontEnd.servers(state.target) };
    const onOutput = kept && ((bytes: Uint8Array) => kept.add(bytes));
    const survivesInterrupt = state.isInteractive;
    const options = {
      command,
      frontEnd,
      env,
      survivesInterrupt,
      onlyReads: invocation.command.effect !== "write" && !runsProgram(invocation),
      ...(onOutput && { onOutput }),
    };
    code = await runPiped(options, run);
  } else code = kept ? await runKept(frontEnd, kept, run) : await run(frontEnd);
  if (name !== undefined && kept && code === ExitCode.ok) state.variables.set(name, kept.text());
  return code;
}

/** True if there are words of a program on the line, behind `--`. */
export function runsProgram({ command, args }: Invocation): boolean {
  return Object.entries<Argument<unknown>>(command.args).some(([key, { arity }]) => {
    const words = args[key];
    return arity === "command" && Array.isArray(words) && words.length > 0;
  });
}
