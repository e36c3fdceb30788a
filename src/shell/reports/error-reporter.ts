/** Shows an error on stderr in the chosen format, with a hint, and finds its exit code. */
import { findCommand, type Program } from "../../commands/command.ts";
import type { GlobalFlags } from "../../config/global-options.ts";
import { lineFlags, outputFormat, type ProcessInfo, type Settings } from "../../config/settings.ts";
import { tlsFileNames } from "../../config/tls-settings.ts";
import { ConflictError, NoNodeError, OperationError, PermissionError } from "../../errors.ts";
import { lockExitCodeOf } from "../../exit-codes.ts";
import type { Io } from "../../io/io.ts";
import type { OutputFormat } from "../../render/renderer.ts";
import { openRenderer } from "../../render/renderer.ts";
import type { Session } from "../../session/session.ts";
import type { EndingSignals } from "../ending-signals.ts";
import type { Explanation } from "./explain-refusal.ts";
import type { Denied } from "./login-hints.ts";
import type { Nearby, Sessions } from "./missing-znode.ts";

/** What failed: a command, a line of a script, or the command line itself. */
export interface FailedLine {
  readonly command?: string | undefined;
  /** Options of the line itself. */
  readonly flags?: GlobalFlags;
  /** The session that the line ran in, for questions about what went wrong. */
  readonly session?: () => Promise<Session>;
  /** Where the line stands in a script. */
  readonly file?: string;
  readonly line?: number;
  /** It was typed at the prompt of the interactive shell. */
  readonly isAtPrompt?: boolean;
}

export interface ReporterOptions extends ProcessInfo {
  readonly io: Io;
  readonly program: Program;
  /** Their exit code wins over that of any error. */
  readonly signals: Pick<EndingSignals, "exitCode">;
}

type KnownSettings = Pick<Settings, "isDefaultServer" | "profile" | "files" | "javaTls">;

export class ErrorReporter {
  readonly #options: ReporterOptions;
  #flags: GlobalFlags = {};
  #info: ProcessInfo;
  #settings: KnownSettings | undefined;
  #openSession: (() => Promise<Session>) | undefined;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#info = options;
  }

  /** The options of the command line, from now on: they say how errors are shown. */
  useFlags(flags: GlobalFlags, info: ProcessInfo): void {
    this.#flags = flags;
    this.#info = info;
  }

  /** The settings, from now on: hints name the servers that are in use. */
  useSettings(settings: KnownSettings): void {
    this.#settings = settings;
  }

  /** From now on a session can be opened for questions about an error. */
  useSessions(open: () => Promise<Session>): void {
    this.#openSession = open;
  }

  /** Returns the exit code. Never throws. */
  async report(error: unknown, failed: FailedLine = {}): Promise<number> {
    const { io, program, signals, env } = this.#options;
    const { command, file, line, isAtPrompt = false } = failed;
    const flags = lineFlags(this.#flags, failed.flags ?? {});
    const { report } = await import("./report.ts");
    const format = formatOrText(flags, this.#info);
    const renderer = await openRenderer(io.stderr, { format, color: color(flags), isQuiet: false });
    const sessions = { current: failed.session, open: this.#openSession };
    const nearby = format === "text" ? await lookNearby(error, sessions) : undefined;
    const isJaasUsed = flags.jaas !== undefined || Boolean(env.ZKSH_JAAS);
    const explanation =
      format === "text" ? await explain(error, sessions, { command, env, isJaasUsed }) : undefined;
    const isGuard =
      command !== undefined && (findCommand(program.commands, command)?.isGuard ?? false);
    const { profile, isDefaultServer = !flags.embedded && !(flags.server ?? env.ZKSH_SERVER) } =
      this.#settings ?? {};
    const servers =
      flags.server?.at(-1) ?? profile?.options.values.get("server")?.value ?? env.ZKSH_SERVER;
    return report(error, {
      io,
      renderer,
      command,
      isDebug: flags.debug !== undefined || Boolean(env.ZKSH_DEBUG),
      exitCode: signals.exitCode ?? (isGuard ? lockExitCodeOf(error) : undefined),
      nearby,
      explanation,
      servers,
      isDefaultServer,
      isAtPrompt,
      ...(this.#settings && {
        tlsFiles: tlsFileNames(this.#settings.files, this.#settings.javaTls),
      }),
      ...(file !== undefined && line !== undefined && { where: { file, line } }),
    });
  }
}

/** The flags may be wrong themselves: then their error is shown as text. */
function formatOrText(flags: GlobalFlags, info: ProcessInfo): OutputFormat {
  try {
    return outputFormat(flags, info);
  } catch {
    return "text";
  }
}

function color({ color }: GlobalFlags): "auto" | "always" | "never" {
  const wanted = color?.at(-1);
  return wanted === "always" || wanted === "never" ? wanted : "auto";
}

/** Loads the questions to a server only for errors that they can explain. */
async function explain(
  error: unknown,
  sessions: Sessions,
  denied: Denied,
): Promise<Explanation | undefined> {
  if (error instanceof PermissionError) {
    const { explainDenial } = await import("./login-hints.ts");
    return explainDenial(error, sessions, denied);
  }
  const isRefusal =
    error instanceof ConflictError || (error instanceof OperationError && error.path !== undefined);
  if (!isRefusal) return undefined;
  const { explainRefusal } = await import("./explain-refusal.ts");
  return explainRefusal(error, sessions);
}

async function lookNearby(error: unknown, sessions: Sessions): Promise<Nearby | undefined> {
  if (!(error instanceof NoNodeError)) return undefined;
  const { findNearby } = await import("./missing-znode.ts");
  return findNearby(error, sessions);
}
