/** The front end for one command from the command line. */
import { findCommand, type Program } from "../commands/command.ts";
import { Progress } from "../io/progress.ts";
import type { FrontEnd } from "./front-end.ts";
import { StatementIo } from "./interactive/statement-io.ts";
import { ShellState } from "./shell-state.ts";
import { mayPage } from "./sinks/pager.ts";

/**
 * Runs the command and ends its session. Returns the exit code, or throws what the command threw.
 */
export async function runOneShot(words: readonly string[], frontEnd: FrontEnd): Promise<number> {
  const { program } = frontEnd;
  // Not awaited here: a usage error is reported before a connection error, and before a password is
  // asked for.
  const isEarly = seemsToNeedSession(words, program) && !frontEnd.mayAskForPassword;
  const opening = isEarly ? frontEnd.openSession() : undefined;
  const state = new ShellState(frontEnd, { kind: "one-shot", session: opening });
  const progress = new Progress(() => frontEnd.io.stderr);
  try {
    // Loaded here, while the connection is being made.
    const [{ QuickParser }, { execute }] = await Promise.all([
      import("./parsing/quick-parser.ts"),
      import("./execute.ts"),
    ]);
    const parser = new QuickParser({ commands: program.commands, dialect: frontEnd.dialect });
    const invocation = await parser.parse(words, "/");
    const session = invocation.entry.needsNoShellSession ? undefined : await state.session();
    const run = (own: FrontEnd, isOnScreen = () => true) => {
      const { io } = new StatementIo(own.io, () => progress.stop());
      const context = own.context({
        state,
        command: invocation.entry.name,
        session,
        processes: io.processes,
        // zkCli accepts -w here too, although no event can come; with us it is a usage error.
        ...(own.dialect === "zkcli" && { onWatch: () => {} }),
        onProgress: (done, what) => {
          if (isOnScreen()) progress.report(done, what);
        },
      });
      return execute(invocation, {
        ...own.execution(context, io),
        onStatus: (status) =>
          typeof status === "function" ? progress.start(status) : progress.stop(status),
        // All requests are queued, so closeSession leaves in the same write.
        onRequestsMade: () => void session?.close(),
      });
    };
    if (!mayPage(frontEnd, invocation)) return await run(frontEnd);
    const { runPaged } = await import("./sinks/paged-line.ts");
    return await runPaged(frontEnd, run);
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
