/** The composition root: the command line and the world outside become settings, a front end, and an exit code. */
import { basename } from "node:path";
import type { Program } from "./commands/command.ts";
import { commands } from "./commands/index.ts";
import { type Config, outputFormat, readConfig, type Surroundings, sessionOptions } from "./config.ts";
import { ExitCode, InterruptedError, UsageError } from "./errors.ts";
import { type GlobalFlags, globalOptions, globalTerm } from "./global-options.ts";
import { type Io, isBrokenPipe, write } from "./io/io.ts";
import { processIo } from "./io/process-io.ts";
import type { OutputFormat } from "./render/renderer.ts";
import type { SessionOptions } from "./session/options.ts";
import type { Session } from "./session/session.ts";
import { splitGlobals } from "./shell/globals.ts";
import { runOneShot } from "./shell/one-shot.ts";
import { openRenderer } from "./shell/open-renderer.ts";

/** What main needs that is not a stream. */
export interface Services {
  openSession(options: SessionOptions): Promise<Session>;
  /** Tells of SIGINT and SIGTERM; returns the function that stops telling. */
  onSignal(listener: (signal: "SIGINT" | "SIGTERM") => void): () => void;
}

/** Runs the program on the real process. `argv` as in `process.argv`; resolves to the exit code when all is closed. */
export function start(argv: readonly string[]): Promise<number> {
  const [, script = "", ...words] = argv;
  return main({ programName: basename(script), argv: words }, processIo(), processServices);
}

export interface CommandLine {
  readonly programName: string;
  readonly argv: readonly string[];
}

/** Never throws: the outermost catch is in here. */
export async function main({ programName, argv }: CommandLine, io: Io, services: Services): Promise<number> {
  const surroundings = { env: io.env, programName };
  const interrupt = new AbortController();
  const exitCodes = { SIGINT: ExitCode.interrupted, SIGTERM: ExitCode.terminated };
  let interruptedCode: number | undefined;
  const stopListening = services.onSignal((signal) => {
    interruptedCode = exitCodes[signal];
    interrupt.abort(new InterruptedError());
  });
  // Known as soon as the line is split; an error before that is shown in the format that can be guessed.
  let flags: GlobalFlags = argv.includes("--json") ? { json: ["true"] } : {};
  let command: string | undefined;
  try {
    const line = splitGlobals(argv);
    flags = line.flags;
    command = line.words[0];
    const config = readConfig(flags, surroundings);
    refuseMissingParts(config, line.words);
    return await runOneShot(line.words, oneShot(config, io, services, interrupt.signal));
  } catch (error) {
    if (isBrokenPipe(error)) return ExitCode.ok;
    const code = await reportError(error, { io, flags, surroundings, command });
    return interruptedCode ?? code;
  } finally {
    stopListening();
  }
}

/** The parts that this version does not have. Each line goes when its part comes. */
function refuseMissingParts(config: Config, words: readonly string[]): void {
  const missing = [
    config.isEmbedded && "--embedded",
    config.script !== undefined && "-c",
    config.scriptFile !== undefined && "-f",
    words.length === 0 && "the interactive shell",
  ].find((part) => part !== false);
  if (missing === undefined) return;
  throw new UsageError(`${missing} is not available in this version`, {
    hint: "give one command, as in zksh get /path; zksh help lists them all",
  });
}

function oneShot(config: Config, io: Io, services: Services, signal: AbortSignal): Parameters<typeof runOneShot>[1] {
  const { output: format, color, isQuiet } = config;
  return {
    io,
    signal,
    program,
    isReadOnly: config.session.readOnly ?? false,
    isForPeople: () => format === "text" && io.stdout.isTTY && !isQuiet,
    renderer: () => openRenderer(io.stdout, { format, color, isQuiet }),
    async openSession() {
      const options = await sessionOptions(config, (path) => io.readFile(path));
      const trace = (line: string) => void write(io.stderr, `${line}\n`).catch(() => {});
      return services.openSession(config.isDebug ? { ...options, trace } : options);
    },
  };
}

const program: Program = {
  commands,
  globalOptions: globalOptions.map((option) => ({ term: globalTerm(option), summary: option.summary })),
  async version() {
    const { readFile } = await import("node:fs/promises");
    // One level up from src/ as from dist/.
    return JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")).version;
  },
};

interface ReportContext {
  readonly io: Io;
  readonly flags: GlobalFlags;
  readonly surroundings: Surroundings;
  readonly command: string | undefined;
}

async function reportError(error: unknown, { io, flags, surroundings, command }: ReportContext): Promise<number> {
  const { report } = await import("./shell/report.ts");
  const format = formatOr("text", () => outputFormat(flags, surroundings));
  const color = flags.color?.at(-1) === "never" ? "never" : flags.color?.at(-1) === "always" ? "always" : "auto";
  const renderer = await openRenderer(io.stderr, { format, color, isQuiet: false });
  const isDebug = flags.debug !== undefined || Boolean(surroundings.env.ZKSH_DEBUG);
  return report(error, { io, renderer, command, isDebug });
}

function formatOr(fallback: OutputFormat, read: () => OutputFormat): OutputFormat {
  try {
    return read();
  } catch {
    return fallback;
  }
}

const processServices: Services = {
  async openSession(options) {
    const { openSession } = await import("./session/zookeeper/client.ts");
    return openSession(options);
  },
  onSignal(listener) {
    const signals = ["SIGINT", "SIGTERM"] as const;
    const listeners = signals.map((signal) => ({ signal, tell: () => listener(signal) }));
    // Once: a second Ctrl-C ends a program that takes too long to end.
    for (const { signal, tell } of listeners) process.once(signal, tell);
    return () => {
      for (const { signal, tell } of listeners) process.off(signal, tell);
    };
  },
};
