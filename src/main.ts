/**
 * The composition root: the command line and the world outside become settings, a front end, and an
 * exit code.
 */
import { readFileSync } from "node:fs";
import os from "node:os";
import { basename } from "node:path";
import {
  findCommand,
  type Program,
  type RunningServer,
  type ServerRequest,
} from "./commands/command.ts";
import { commands } from "./commands/index.ts";
import {
  type Config,
  lineConfig,
  lineFlags,
  outputFormat,
  readConfig,
  type Surroundings,
  sessionOptions,
} from "./config/config.ts";
import { type GlobalFlags, globalOptions, globalTerm } from "./config/global-options.ts";
import { checkedOptions, sessionWarnings, type Warning, Warnings } from "./config/warnings.ts";
import {
  ConflictError,
  cannotRead,
  ExitCode,
  InterruptedError,
  lockExitCodeOf,
  NoNodeError,
  OperationError,
  UsageError,
} from "./errors.ts";
import { abandonWrites, type Io, isBrokenPipe, write } from "./io/io.ts";
import { forgetGoneTerminal, processIo } from "./io/process-io.ts";
import { prompterFor } from "./io/prompter.ts";
import { StandardOutputs } from "./io/standard-outputs.ts";
import type { OutputFormat } from "./render/renderer.ts";
import { type EndingSignal, processServices, type Services } from "./services.ts";
import { formatAddress } from "./session/connect-string.ts";
import type { Session } from "./session/session.ts";
import { FrontEnd, type FrontEndOptions } from "./shell/front-end.ts";
import { runOneShot } from "./shell/one-shot.ts";
import { isUnicode, openRenderer, openTheme } from "./shell/open-renderer.ts";
import { splitGlobals } from "./shell/parsing/split-globals.ts";
import { suggest } from "./shell/parsing/suggest.ts";
import { PrivateServer } from "./shell/private-server.ts";
import type { Explanation } from "./shell/reports/explain-refusal.ts";
import type { Nearby, Sessions } from "./shell/reports/missing-znode.ts";
import type { FailedLine, Script } from "./shell/scripts/script.ts";
import { Trace } from "./shell/trace.ts";
import { escapeName } from "./text/escape.ts";

/** As a shell tells of a program that a signal has ended. */
function codeOfSignal(signal: EndingSignal): number {
  return 128 + os.constants.signals[signal];
}

/**
 * Runs the program on the real process. `argv` as in `process.argv`; resolves to the exit code when
 * all is closed.
 */
export async function start(argv: readonly string[]): Promise<number> {
  const [, script = "", ...words] = argv;
  process.once("exit", forgetGoneTerminal);
  const outputs = new StandardOutputs();
  const exitCode = await main(
    { programName: basename(script), argv: words },
    processIo(outputs),
    processServices,
  );
  await outputs.taken();
  return exitCode;
}

export interface CommandLine {
  readonly programName: string;
  readonly argv: readonly string[];
}

/** After a signal, for those who read what we write. */
const READER_GRACE_MS = 500;

/** Never throws: the outermost catch is in here. */
export async function main(
  { programName, argv }: CommandLine,
  io: Io,
  services: Services,
): Promise<number> {
  const surroundings = { env: io.env, programName };
  const interrupt = new AbortController();
  let signalCode: number | undefined;
  let abandoning: NodeJS.Timeout | undefined;
  const stopListening = services.onSignal((signal) => {
    const exitCode = codeOfSignal(signal);
    signalCode ??= exitCode;
    const interrupted = new InterruptedError(undefined, { exitCode });
    interrupt.abort(interrupted);
    // A reader who has stopped reading must not keep us from ending in order.
    abandoning ??= setInterval(() => abandonWrites(READER_GRACE_MS, interrupted), READER_GRACE_MS);
  });
  let flags: GlobalFlags = {};
  let command: string | undefined;
  let open: ReportContext["open"];
  let leave = async () => {};
  try {
    const isZkcli = (given: GlobalFlags) =>
      formatOr("text", () => outputFormat(given, surroundings)) === "zkcli";
    const line = await splitGlobals(argv, { commands, isZkcli });
    flags = line.flags;
    command = line.words[0];
    if (line.mistake) throw line.mistake;
    const config = readConfig(flags, surroundings);
    const server = config.isEmbedded ? new PrivateServer(startServer) : undefined;
    if (server) leave = () => server.stop();
    const reportLine = (failed: unknown, { flags: ofLine = {}, ...where }: Partial<FailedLine>) =>
      reportError(failed, {
        io,
        flags: lineFlags(flags, ofLine),
        surroundings,
        open,
        signalCode,
        ...where,
      });
    const warnings = new Warnings((warning) => showWarning(warning, io, config));
    const traceLine = (text: string) =>
      void write(io.stderr, `${escapeName(text)}\n`).catch(() => {});
    const trace = new Trace(traceLine, { isAlwaysOn: config.isDebug });
    const environment = {
      io,
      services,
      server,
      warnings,
      trace,
      signal: interrupt.signal,
      report: reportLine,
    };
    open = frontEndOptions(config, environment).openSession;
    const code = await Promise.race([run(line.words, config, environment), neverIdle(services)]);
    return endsBySignal(command) ? code : (signalCode ?? code);
  } catch (error) {
    if (isBrokenPipe(error)) return ExitCode.ok;
    return reportError(error, { io, flags, surroundings, command, open, signalCode });
  } finally {
    await leave();
    stopListening();
    clearInterval(abandoning);
  }
}

/**
 * Rejects should the process be about to end before the program: what it was to do is not done, and
 * that is no success.
 */
function neverIdle(services: Services): Promise<never> {
  return new Promise((_, reject) => {
    services.onIdle?.(() => reject(new Error("nothing is left to wait for")));
  });
}

function endsBySignal(command: string | undefined): boolean {
  return command !== undefined && (findCommand(commands, command)?.endsBySignal ?? false);
}

async function startServer(request: ServerRequest): Promise<RunningServer> {
  const { startEmbeddedServer } = await import("./embedded/server.ts");
  return startEmbeddedServer(request);
}

async function showWarning(
  warning: Warning,
  io: Io,
  { output: format, color, isQuiet }: Config,
): Promise<void> {
  const renderer = await openRenderer(io.stderr, { format, color, isQuiet });
  await write(io.stderr, renderer.result(warning).err ?? "").catch(() => {});
}

interface Environment {
  readonly io: Io;
  readonly services: Services;
  /** Where sessions go with --embedded. */
  readonly server: PrivateServer | undefined;
  readonly warnings: Warnings;
  readonly trace: Trace;
  readonly signal: AbortSignal;
  readonly report: Script["report"];
}

/** Chooses the front end: one command, a script, or what is piped in. */
async function run(
  words: readonly string[],
  config: Config,
  environment: Environment,
): Promise<number> {
  const { io, report } = environment;
  const { script, scriptFile, keepsGoing } = config;
  const frontEnd = new FrontEnd(frontEndOptions(config, environment));
  if (words.length > 0) {
    if (script === undefined && scriptFile === undefined) return runOneShot(words, frontEnd);
    throw new UsageError(
      `${script === undefined ? "-f" : "-c"} cannot be combined with a command (${words[0]})`,
    );
  }
  if (script !== undefined && scriptFile !== undefined)
    throw new UsageError("-c cannot be combined with -f");
  const isScript = script !== undefined || scriptFile !== undefined;
  if (!isScript && io.stdin.isTTY && io.stdout.isTTY)
    return interact(frontEnd, config, environment);
  const { runScript } = await import("./shell/scripts/script.ts");
  if (script !== undefined)
    return runScript({ name: "-c", text: [script], keepsGoing, report }, frontEnd);
  const isZkcli = config.output === "zkcli";
  const read = isZkcli
    ? { read: (await import("./shell/parsing/zkcli-lexer.ts")).readZkcliStatements }
    : {};
  if (scriptFile === undefined || scriptFile === "-") {
    return runScript(
      { name: "stdin", text: io.stdin.stream, keepsGoing, report, ...read },
      frontEnd,
    );
  }
  const text = await readScript(scriptFile, io);
  return runScript({ name: scriptFile, text: [text], keepsGoing, report, ...read }, frontEnd);
}

async function interact(
  frontEnd: FrontEnd,
  config: Config,
  environment: Environment,
): Promise<number> {
  const { io, services, server, report } = environment;
  const { color, isQuiet, isDefaultServer, session } = config;
  const [{ runRepl }, { History, historyFile }] = await Promise.all([
    import("./shell/interactive/repl.ts"),
    import("./shell/interactive/history.ts"),
  ]);
  return runRepl(frontEnd, {
    history: await History.load(historyFile(io.env)),
    servers:
      (await server?.address()) ??
      session.servers.map(formatAddress).join() + (session.chroot ?? ""),
    isEmbedded: server !== undefined,
    isDefaultServer,
    theme: await openTheme(io.stdout, color),
    isQuiet,
    report,
    async about(server) {
      return services.about?.(
        server,
        await sessionOptions(config, (path) => io.readFile(path), server),
      );
    },
  });
}

async function readScript(path: string, io: Io): Promise<Buffer> {
  try {
    return await io.readFile(path);
  } catch (cause) {
    throw new UsageError(cannotRead(path, cause), { cause });
  }
}

function frontEndOptions(config: Config, environment: Environment): FrontEndOptions {
  const { io, services, server, signal, warnings, trace } = environment;
  const files = {
    readFile: (path: string) => io.readFile(path),
    isReadableByOthers: services.isReadableByOthers,
  };
  const optionsFor = async (target: string | undefined) =>
    checkedOptions(config, files, warnings, target ?? (await server?.address()));
  const { output: format, color, isQuiet, isVerbose } = config;
  return {
    io,
    signal,
    program,
    startServer,
    warnings,
    async onCredential(scheme, target) {
      const options = await optionsFor(target);
      await warnings.tell(
        sessionWarnings({ ...options, auth: [{ scheme, credential: Buffer.alloc(0) }] }),
      );
    },
    isReadOnly: config.session.readOnly ?? false,
    childEnvironment: config.environment,
    isQuiet,
    dialect: format === "zkcli" ? "zkcli" : "zksh",
    isForPeople: () => format === "text" && io.stdout.isTTY && !isQuiet,
    asker: config.isYes ? "yes" : config.isNoInput ? undefined : () => prompterFor(io),
    isFollowed: () => format === "json" || isVerbose || (io.stderr.isTTY && !isQuiet),
    renderer: () =>
      openRenderer(
        io.stdout,
        { format, color, isQuiet, isVerbose, isAscii: !isUnicode(io.env) },
        io.stderr,
      ),
    forLine(flags) {
      const ofLine = lineConfig(config, flags);
      return {
        ...frontEndOptions(ofLine, environment),
        ...(ofLine.isDebug && { lineTrace: trace }),
      };
    },
    async openSession(target, overrides) {
      const options = await optionsFor(target);
      return services.openSession({
        ...options,
        ...overrides,
        get trace() {
          return trace.target;
        },
      });
    },
  };
}

const program: Program = {
  commands,
  get globalOptions() {
    return globalOptions.map((option) => ({
      term: globalTerm(option),
      summary: option.summary,
      holdsForOneLine: "holdsForOneLine" in option,
      ...("env" in option && { env: option.env }),
    }));
  },
  suggest,
  version() {
    // One level up from src/ as from dist/.
    return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
  },
};

interface ReportContext {
  readonly io: Io;
  readonly flags: GlobalFlags;
  readonly surroundings: Surroundings;
  readonly command?: string | undefined;
  /** The session that the line ran in, where it lives on. */
  readonly session?: () => Promise<Session>;
  /** Opens another one. */
  readonly open?: (() => Promise<Session>) | undefined;
  /** The line of the script that failed. */
  readonly file?: string;
  readonly line?: number;
  /** What the program ends with, whatever has failed: it was told to end. */
  readonly signalCode: number | undefined;
}

async function reportError(error: unknown, context: ReportContext): Promise<number> {
  const { io, flags, surroundings, command, session, open, file, line, signalCode } = context;
  const { report } = await import("./shell/reports/report.ts");
  const format = formatOr("text", () => outputFormat(flags, surroundings));
  const color =
    flags.color?.at(-1) === "never"
      ? "never"
      : flags.color?.at(-1) === "always"
        ? "always"
        : "auto";
  const renderer = await openRenderer(io.stderr, { format, color, isQuiet: false });
  const isDebug = flags.debug !== undefined || Boolean(surroundings.env.ZKSH_DEBUG);
  const where = file === undefined || line === undefined ? undefined : { file, line };
  const sessions = { current: session, open };
  const nearby = format === "text" ? await lookNearby(error, sessions) : undefined;
  const explanation = format === "text" ? await explain(error, sessions) : undefined;
  const isGuard = command !== undefined && (findCommand(commands, command)?.isGuard ?? false);
  const exitCode = signalCode ?? (isGuard ? lockExitCodeOf(error) : undefined);
  const servers = flags.server?.at(-1) ?? surroundings.env.ZKSH_SERVER;
  const isDefaultServer = !flags.embedded && !servers;
  const known = { nearby, explanation, servers, isDefaultServer, ...(where && { where }) };
  return report(error, { io, renderer, command, isDebug, exitCode, ...known });
}

/** Loads what asks a server after a refusal only where its answer is worth telling. */
async function explain(error: unknown, sessions: Sessions): Promise<Explanation | undefined> {
  const isRefusal =
    error instanceof ConflictError || (error instanceof OperationError && error.path !== undefined);
  if (!isRefusal) return undefined;
  const { explainRefusal } = await import("./shell/reports/explain-refusal.ts");
  return explainRefusal(error, sessions);
}

/** Loads what looks around only where something is missing. */
async function lookNearby(error: unknown, sessions: Sessions): Promise<Nearby | undefined> {
  if (!(error instanceof NoNodeError)) return undefined;
  const { findNearby } = await import("./shell/reports/missing-znode.ts");
  return findNearby(error, sessions);
}

function formatOr(fallback: OutputFormat, read: () => OutputFormat): OutputFormat {
  try {
    return read();
  } catch {
    return fallback;
  }
}
