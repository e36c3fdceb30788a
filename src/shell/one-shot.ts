/** The front end for one command from the command line. */
import { findCommand, type Program } from "../commands/command.ts";
import type { Io } from "../io/io.ts";
import type { Renderer } from "../render/renderer.ts";
import type { Session } from "../session/session.ts";

export interface OneShot {
  readonly io: Io;
  readonly program: Program;
  readonly signal: AbortSignal;
  readonly isReadOnly: boolean;
  isForPeople(): boolean;
  openSession(): Promise<Session>;
  renderer(): Promise<Renderer>;
}

/** Runs the command and ends its session. Returns the exit code, or throws what the command threw. */
export async function runOneShot(words: readonly string[], oneShot: OneShot): Promise<number> {
  const { io, program, signal, isReadOnly } = oneShot;
  let opening = seemsToNeedSession(words, program) ? oneShot.openSession() : undefined;
  // Awaited below; until then a mistake on the command line is the better thing to report.
  opening?.catch(() => {});
  try {
    // Loaded only now, so that the connection is made meanwhile.
    const [{ parse }, { execute }] = await Promise.all([import("./parser.ts"), import("./execute.ts")]);
    const invocation = await parse(words, { commands: program.commands, cwd: "/" });
    if (!invocation.entry.isOffline) opening ??= oneShot.openSession();
    const session = await opening;
    const context = {
      session() {
        if (!session) throw new Error(`${invocation.entry.name} is registered as offline but asks for a session`);
        return session;
      },
      signal,
      cwd: "/",
      isOneShot: true,
      get isForPeople() {
        return oneShot.isForPeople();
      },
      program,
    };
    return await execute(invocation, {
      io,
      context,
      isReadOnly,
      renderer: () => oneShot.renderer(),
      // From here on only answers are awaited: the goodbye can leave in the same flight as the requests.
      onRequestsMade: () => void session?.close(),
    });
  } finally {
    await opening?.then(
      (session) => session.close(),
      () => {},
    );
  }
}

function seemsToNeedSession(words: readonly string[], { commands }: Program): boolean {
  const entry = findCommand(commands, words[0] ?? "");
  return entry !== undefined && !entry.isOffline && !words.includes("--help") && !words.includes("-h");
}
