/** The front end for scripts: -c, -f, and whatever is piped in. */
import type { GlobalFlags } from "../../config/global-options.ts";
import { write } from "../../io/io.ts";
import type { Session } from "../../session/session.ts";
import type { FrontEnd } from "../front-end.ts";
import type { Statement } from "../parsing/lexer.ts";
import type { ScriptText } from "../parsing/script-text.ts";
import { ShellState } from "../shell-state.ts";
import { ScriptRunner } from "./script-runner.ts";

export interface Script {
  /** For messages: `setup.zk`, `-c`, `stdin`. */
  readonly name: string;
  readonly text: ScriptText;
  /** How the text is split into statements; our own way when left out. */
  readonly read?: (text: ScriptText) => AsyncIterable<readonly Statement[]>;
  /** Go on after a failure. */
  readonly keepsGoing: boolean;
  /** Shows an error and returns its exit code. */
  report(error: unknown, where: FailedLine): Promise<number>;
}

export interface FailedLine {
  readonly file: string;
  readonly line: number;
  readonly command?: string;
  /** Options of the line itself. */
  readonly flags?: GlobalFlags;
  /** The session that the line ran in, for questions about what went wrong. */
  readonly session?: () => Promise<Session>;
}

/**
 * Runs a script to its end, or to its first failure. Returns the exit code; never throws for what a
 * line does.
 */
export async function runScript(script: Script, frontEnd: FrontEnd): Promise<number> {
  const state = new ShellState({
    isInteractive: false,
    open: frontEnd.open,
    onIdentify: frontEnd.onCredential,
    say: (line) => void write(frontEnd.io.stderr, `${line}\n`).catch(() => {}),
  });
  const { signal, io } = frontEnd;
  // Whoever waits for the next line is woken, and a pipe that stays open does not keep the program.
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
