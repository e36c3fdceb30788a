/** The front end for one command from the command line. */
import { findCommand, type Program } from "../commands/command.ts";
import { Progress } from "../io/progress.ts";
import type { FrontEnd } from "./front-end.ts";
import { StatementIo } from "./interactive/statement-io.ts";
import { ShellState } from "./shell-state.ts";

/**
 * Runs the command and ends its session. Returns the exit code, or throws what the command threw.
 */
export async function runOneShot(words: readonly string[], frontEnd: FrontEnd): Promise<number> {
  const { program } = frontEnd;
  const state = new ShellState({
    isInteractive: false,
    open: frontEnd.open,
    onIdentify: frontEnd.onCredential,
  });
  const progress = new Progress(() => frontEnd.io.stderr);
  const needsSession = seemsToNeedSession(words, program);
  // Awaited below; until then a mistake on the command line is the better thing to report.
  if (needsSession) state.session().catch(() => {});
  try {
    // Loaded only now, so that the connection is made meanwhile.
    const [{ QuickParser }, { execute }] = await Promise.all([
      import("./parsing/quick-parser.ts"),
      import("./execute.ts"),
    ]);
    const parser = new QuickParser({ commands: program.commands, dialect: frontEnd.dialect });
    const invocation = await parser.parse(words, "/");
    const session = invocation.entry.needsNoShellSession ? undefined : await state.session();
    const context = frontEnd.context({
      state,
      command: invocation.entry.name,
      session,
      isOneShot: true,
      // zkCli takes -w here too, and ends before anything can come of it; with us it is a mistake.
      ...(frontEnd.dialect === "zkcli" && { onWatch: () => {} }),
      onProgress: (done, what) => progress.report(done, what),
    });
    const { io } = new StatementIo(frontEnd.io, () => progress.stop());
    return await execute(invocation, {
      ...frontEnd.execution,
      io,
      context,
      onStatus: (status) =>
        typeof status === "function" ? progress.start(status) : progress.stop(status),
      // From here on only answers are awaited: the goodbye can leave in the same flight as the
      // requests.
      onRequestsMade: () => void session?.close(),
    });
  } finally {
    progress.stop();
    await state.end();
  }
}

function seemsToNeedSession(words: readonly string[], { commands }: Program): boolean {
  const entry = findCommand(commands, words[0] ?? "");
  return (
    entry !== undefined &&
    !entry.needsNoShellSession &&
    !words.includes("--help") &&
    !words.includes("-h")
  );
}
