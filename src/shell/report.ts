import { exitCodeOf, ZkshError } from "../errors.ts";
import { type Io, write } from "../io/io.ts";
import type { Failure, Renderer } from "../render/renderer.ts";
import { hintFor } from "./hints.ts";

export interface ReportOptions {
  readonly io: Io;
  readonly renderer: Renderer;
  /** The command that failed, if it came to one. */
  readonly command: string | undefined;
  /** Show where in the program it happened. */
  readonly isDebug: boolean;
  /** The line of a script that failed. */
  readonly where?: { readonly file: string; readonly line: number };
}

/** Writes an error to stderr and returns the exit code that goes with it. */
export async function report(error: unknown, options: ReportOptions): Promise<number> {
  const { io, renderer, command, isDebug, where } = options;
  const failure = { ...toFailure(error, command), ...(where && { where }) };
  const stack = isDebug && error instanceof Error ? error.stack : undefined;
  // Where stderr is closed, the exit code alone has to tell.
  await write(io.stderr, renderer.error({ ...failure, ...(stack !== undefined && { stack }) })).catch(() => {});
  return failure.exitCode;
}

function toFailure(error: unknown, command: string | undefined): Failure {
  const exitCode = exitCodeOf(error);
  if (!(error instanceof ZkshError)) {
    const message = `internal error: ${error instanceof Error ? error.message : String(error)}`;
    return { reason: "internal", message, exitCode, hint: "this is a bug in zksh; --debug shows where" };
  }
  const hint = error.hint ?? hintFor(command, error.reason);
  return {
    reason: error.reason,
    message: error.message,
    exitCode,
    ...(error.code !== undefined && { code: error.code }),
    ...(error.path !== undefined && { path: error.path }),
    ...(hint !== undefined && { hint }),
  };
}
