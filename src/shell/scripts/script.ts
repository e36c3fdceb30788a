/** The front end for scripts: -c, -f, and what is piped in. */
import { UsageError } from "../../errors.ts";
import { cannotRead } from "../../text/file-failures.ts";
import type { FrontEnd } from "../front-end.ts";
import type { Statement } from "../parsing/lexer.ts";
import type { ScriptText } from "../parsing/script-text.ts";
import { ShellState } from "../shell-state.ts";
import { ScriptRunner } from "./script-runner.ts";

export interface ScriptSource {
  /** The name in messages: `setup.zk`, `-c`, `stdin`. */
  readonly name: string;
  readonly text: ScriptText;
  /** Splits the text into statements. Default: the syntax of zksh. */
  readonly read?: (text: ScriptText) => AsyncIterable<readonly Statement[]>;
}

/**
 * Runs the script of -c, -f or stdin to its end or to its first failure. Returns the exit code; errors of lines are
 * reported, not thrown.
 */
export async function runScript(frontEnd: FrontEnd): Promise<number> {
  const script = await scriptSource(frontEnd);
  const { signal, io } = frontEnd;
  const state = new ShellState(frontEnd, {
    kind: "script",
    notify: (message) => void io.writer.write(io.stderr, `${message}\n`).catch(() => {}),
  });
  // Ends the wait for the next line; an open pipe must not keep the process alive.
  const stopReading = () => {
    if (script.name === "stdin") io.stdin.stream.destroy(signal.reason);
  };
  if (signal.aborted) stopReading();
  signal.addEventListener("abort", stopReading, { once: true });
  try {
    return await new ScriptRunner(script, frontEnd, state).run();
  } finally {
    signal.removeEventListener("abort", stopReading);
    stopReading();
    await state.end();
  }
}

async function scriptSource({ io, settings, dialect }: FrontEnd): Promise<ScriptSource> {
  const { script, scriptFile = "-" } = settings;
  // zkCli has no -c, so its text is parsed as zksh, also in the zkcli dialect.
  if (script !== undefined) return { name: "-c", text: [script] };
  const read =
    dialect === "zkcli"
      ? { read: (await import("../parsing/zkcli-lexer.ts")).readZkcliStatements }
      : {};
  if (scriptFile === "-") return { name: "stdin", text: io.stdin.stream, ...read };
  try {
    return { name: scriptFile, text: [await io.files.read(scriptFile)], ...read };
  } catch (cause) {
    throw new UsageError(cannotRead(scriptFile, cause), { cause });
  }
}
