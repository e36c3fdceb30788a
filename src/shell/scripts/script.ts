/** The front end for scripts: -c, -f, and what is piped in. */
import type { FrontEnd } from "../front-end.ts";
import type { Statement } from "../parsing/lexer.ts";
import type { ScriptText } from "../parsing/script-text.ts";
import { ShellState } from "../shell-state.ts";
import { ScriptRunner } from "./script-runner.ts";

export interface ScriptSource {
  /** For messages: `setup.zk`, `-c`, `stdin`. */
  readonly name: string;
  readonly text: ScriptText;
  /** How the text is split into statements; our own way when left out. */
  readonly read?: (text: ScriptText) => AsyncIterable<readonly Statement[]>;
}

/**
 * Runs a script to its end, or to its first failure. Returns the exit code; never throws for what a
 * line does.
 */
export async function runScript(script: ScriptSource, frontEnd: FrontEnd): Promise<number> {
  const { signal, io } = frontEnd;
  const state = new ShellState(frontEnd, {
    kind: "script",
    notify: (message) => void io.writer.write(io.stderr, `${message}\n`).catch(() => {}),
  });
  // Wakes the reader of the next line; a pipe that stays open does not keep the process alive.
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
