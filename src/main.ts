/**
 * The composition root: builds the parts of one run of the program, each once, and passes them on.
 * docs/architecture.md follows a command through them.
 */
import { basename } from "node:path";
import { findCommand, type RunningServer, type ServerRequest } from "./commands/command.ts";
import type { GlobalFlags } from "./config/global-options.ts";
import { outputFormat, type ProcessInfo, readSettings, type Settings } from "./config/settings.ts";
import { settingsElsewhere } from "./config/settings-elsewhere.ts";
import { Warnings } from "./config/warnings.ts";
import { UsageError } from "./errors.ts";
import { ExitCode } from "./exit-codes.ts";
import { type Io, isBrokenPipe } from "./io/io.ts";
import { forgetGoneTerminal, processIo } from "./io/process-io.ts";
import { StandardOutputs } from "./io/standard-outputs.ts";
import { describeProgram } from "./program.ts";
import { openRenderer } from "./render/renderer.ts";
import { processServices } from "./services.ts";
import type { Aliases } from "./shell/aliases.ts";
import { EndingSignals } from "./shell/ending-signals.ts";
import { FrontEnd } from "./shell/front-end.ts";
import { loadAliases, loadStored, type Stored, shadowWarnings } from "./shell/load-settings.ts";
import { runOneShot } from "./shell/one-shot.ts";
import { splitGlobals } from "./shell/parsing/split-globals.ts";
import { PrivateServer } from "./shell/private-server.ts";
import { ErrorReporter } from "./shell/reports/error-reporter.ts";
import type { Runtime, Services } from "./shell/runtime.ts";
import { Trace } from "./shell/trace.ts";
import { TypedPasswords } from "./shell/typed-passwords.ts";
import { escapeName } from "./text/escape.ts";

/**
 * Runs the program on the real process. `argv` as in `process.argv`; resolves to the exit code when
 * everything is closed.
 */
export async function start(argv: readonly string[]): Promise<number> {
  const [, script = "", ...words] = argv;
  process.once("exit", forgetGoneTerminal);
  const outputs = new StandardOutputs();
  const commandLine = { programName: basename(script), argv: words };
  const exitCode = await main(commandLine, processIo(outputs), processServices);
  await outputs.taken();
  return exitCode;
}

export interface CommandLine {
  readonly programName: string;
  readonly argv: readonly string[];
}

/** Never throws: the outermost catch is in here. */
export async function main(
  { programName, argv }: CommandLine,
  io: Io,
  services: Services,
): Promise<number> {
  let info: ProcessInfo = { env: io.env, programName };
  let stored: Stored = { warnings: [] };
  let aliases: Aliases | undefined;
  const program = describeProgram(io, () => ({ file: stored.file, aliases }));
  const signals = new EndingSignals(services, io.writer);
  const reporter = new ErrorReporter({ ...info, io, program, signals });
  let command: string | undefined;
  let privateServer: PrivateServer | undefined;
  try {
    stored = await loadStored(argv, io, services);
    if (stored.file) info = { ...info, file: stored.file };
    aliases = await loadAliases(program, stored.file);
    const line = await splitGlobals(argv, {
      commands: program.commands,
      aliases,
      isZkcli: (flags) => isZkcli(flags, info),
    });
    reporter.useFlags(line.flags, info);
    command = line.words[0];
    if (stored.mistake ?? line.mistake) throw stored.mistake ?? line.mistake;
    const { flags } = line;
    const settings = readSettings(flags, info);
    reporter.useSettings(settings);
    if (settings.isEmbedded) privateServer = new PrivateServer(startServer);
    const { signal } = signals;
    const common = { io, services, program, signal, reporter, startServer, privateServer };
    const passwords = new TypedPasswords(io, signal);
    const settingsAt = (target: string) => settingsElsewhere(target, settings, { ...info, flags });
    const told = messages(io, settings);
    const runtime: Runtime = {
      ...common,
      ...told,
      passwords,
      settingsAt,
      aliases,
      file: stored.file,
    };
    await told.warnings.tell([...stored.warnings, ...shadowWarnings(aliases)]);
    const frontEnd = new FrontEnd(settings, runtime);
    reporter.useSessions(() => frontEnd.openSession());
    const code = await Promise.race([runFrontEnd(line.words, frontEnd), rejectWhenIdle(services)]);
    return endsBySignal(command, runtime) ? code : (signals.exitCode ?? code);
  } catch (error) {
    if (isBrokenPipe(error)) return ExitCode.ok;
    return reporter.report(error, { command });
  } finally {
    await privateServer?.stop();
    signals.stop();
  }
}

/** Runs one command, a script, the interactive shell, or a script from stdin. */
async function runFrontEnd(words: readonly string[], frontEnd: FrontEnd): Promise<number> {
  const { io, settings } = frontEnd;
  const { script, scriptFile } = settings;
  const option = script !== undefined ? "-c" : scriptFile !== undefined ? "-f" : undefined;
  if (words.length > 0) {
    if (option === undefined) return runOneShot(words, frontEnd);
    throw new UsageError(`${option} cannot be combined with a command (${words[0]})`);
  }
  if (script !== undefined && scriptFile !== undefined)
    throw new UsageError("-c cannot be combined with -f");
  if (option === undefined && io.stdin.isTTY && io.stdout.isTTY) {
    const { runRepl } = await import("./shell/interactive/repl.ts");
    return runRepl(frontEnd);
  }
  const { runScript } = await import("./shell/scripts/script.ts");
  return runScript(frontEnd);
}

function isZkcli(flags: GlobalFlags, info: ProcessInfo): boolean {
  try {
    return outputFormat(flags, info) === "zkcli";
  } catch {
    // A bad format is reported when all settings are read.
    return false;
  }
}

/** What is shown on stderr beside results and errors. */
function messages(io: Io, settings: Settings): Pick<Runtime, "warnings" | "trace"> {
  const { output: format, color, isQuiet, isDebug } = settings;
  const warnings = new Warnings(async (warning) => {
    const renderer = await openRenderer(io.stderr, { format, color, isQuiet });
    await io.writer.write(io.stderr, renderer.result(warning).err ?? "").catch(() => {});
  });
  const traceLine = (text: string) =>
    void io.writer.write(io.stderr, `${escapeName(text)}\n`).catch(() => {});
  return { warnings, trace: new Trace(traceLine, { isAlwaysOn: isDebug }) };
}

/**
 * Rejects when the event loop runs empty while the front end still waits: Node would end the
 * process with exit code 0 although the work is not done.
 */
function rejectWhenIdle(services: Services): Promise<never> {
  return new Promise((_, reject) => {
    services.onIdle?.(() => reject(new Error("nothing is left to wait for")));
  });
}

function endsBySignal(command: string | undefined, { program }: Runtime): boolean {
  return command !== undefined && (findCommand(program.commands, command)?.endsBySignal ?? false);
}

async function startServer(request: ServerRequest): Promise<RunningServer> {
  const { startEmbeddedServer } = await import("./embedded/server.ts");
  return startEmbeddedServer(request);
}
