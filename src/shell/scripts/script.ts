/** The front end for scripts: -c, -f, and what is piped in. */
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
 * Runs a script to its end or to its first failure. Returns the exit code; errors of lines are
 * reported, not thrown.
 */
export async function runScript(script: ScriptSource, frontEnd: FrontEnd): Promise<number> {
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
