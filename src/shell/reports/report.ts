import { ViewEndedError } from "../../commands/view-ended-error.ts";
import type { TlsFileNames } from "../../config/tls-settings.ts";
import { ConnectionError, LockError, ZkshError } from "../../errors.ts";
import { exitCodeOf } from "../../exit-codes.ts";
import type { Io } from "../../io/io.ts";
import type { Failure, Renderer } from "../../render/renderer.ts";
import type { Explanation } from "./explain-refusal.ts";
import { hintFor } from "./hints.ts";
import type { Nearby } from "./missing-znode.ts";

export interface ReportOptions {
  readonly io: Io;
  readonly renderer: Renderer;
  /** The command that failed. Undefined if the line was not parsed. */
  readonly command: string | undefined;
  /** Print the stack trace. */
  readonly isDebug: boolean;
  /** Replaces the exit code of the error: a signal ends the program. */
  readonly exitCode?: number | undefined;
  /** No option and no variable names a server. */
  readonly isDefaultServer?: boolean;
  /** The command was typed at the prompt of the interactive shell. */
  readonly isAtPrompt?: boolean;
  /** The nearest parent of a missing znode. */
  readonly nearby?: Nearby | undefined;
  /** The present version or the quota, read after the refusal. */
  readonly explanation?: Explanation | undefined;
  /** The servers and the chroot, as given. */
  readonly servers?: string | undefined;
  readonly tlsFiles?: TlsFileNames | undefined;
  /** The line of a script that failed. */
  readonly where?: { readonly file: string; readonly line: number };
}

/** Writes an error, mostly to stderr, and returns the exit code that goes with it. */
export async function report(error: unknown, options: ReportOptions): Promise<number> {
  const { io, renderer, command, isDebug, where, exitCode } = options;
  const failure = {
    ...toFailure(error, options),
    ...(exitCode !== undefined && { exitCode }),
    ...(where && { where }),
    ...(command !== undefined && { command }),
  };
  const stack = isDebug && error instanceof Error ? error.stack : undefined;
  // If stderr is closed, only the exit code can report the error.
  const whole = { ...failure, ...(stack !== undefined && { stack }) };
  const { out = "", err = "" } = renderer.failure?.(whole) ?? { err: renderer.error(whole) };
  if (out.length > 0) await io.writer.write(io.stdout, out).catch(() => {});
  if (err !== "") await io.writer.write(io.stderr, err).catch(() => {});
  return failure.exitCode;
}

function toFailure(error: unknown, options: ReportOptions): Failure {
  const { command, nearby, explanation, servers, isDefaultServer, isAtPrompt } = options;
  const exitCode = exitCodeOf(error);
  if (!(error instanceof ZkshError)) {
    const message = `internal error: ${error instanceof Error ? error.message : String(error)}`;
    return {
      reason: "internal",
      message,
      exitCode,
      hint: "this is a bug in zksh; --debug prints the stack trace",
    };
  }
  const own =
    explanation?.message === undefined
      ? hintFor(command, error.reason, {
          isDefaultServer,
          isAtPrompt,
          recordedLimit: error instanceof LockError ? error.recordedLimit : undefined,
          tlsProblem: error instanceof ConnectionError ? error.tlsProblem : undefined,
          tlsFiles: options.tlsFiles,
        })
      : undefined;
  const hint = hintOf(explanation?.hint ?? error.hint ?? own, nearby, servers);
  return {
    reason: error.reason,
    message: explanation?.message ?? error.message,
    exitCode,
    ...(error instanceof ViewEndedError && { isExpected: true }),
    ...(error.code !== undefined && { code: error.code }),
    ...(error.path !== undefined && { path: error.path }),
    ...(error.opIndex !== undefined && { opIndex: error.opIndex }),
    ...(hint !== undefined && { hint }),
  };
}

/** Chooses the hint: a similar name first. `nearest existing parent: /` would say nothing. */
function hintOf(
  own: string | undefined,
  nearby: Nearby | undefined,
  servers: string | undefined,
): string | undefined {
  if (nearby === undefined) return own;
  const { parent, suggestion } = nearby;
  if (parent === undefined) return chrootHint(servers);
  if (suggestion !== undefined)
    return `nearest existing parent: ${parent}; did you mean ${suggestion}?`;
  return own ?? (parent === "/" ? undefined : `nearest existing parent: ${parent}`);
}

/** The hint if / itself does not exist: then the chroot is missing. */
function chrootHint(servers: string | undefined): string {
  const [, hosts, chroot] = /^([^/]+)(\/.+)$/.exec(servers ?? "") ?? [];
  if (hosts === undefined)
    return "the chroot at the end of the server list does not exist; create it with create -p";
  return `the chroot ${chroot} does not exist; create it with: zksh -s ${hosts} create -p ${chroot}`;
}
