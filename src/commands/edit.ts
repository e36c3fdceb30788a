import { InterruptedError, NoNodeError, OperationError, RefusedError } from "../errors.ts";
import type { ScratchFile } from "../io/files.ts";
import type { ChildEnd } from "../processes/child-requests.ts";
import { readIfThere } from "../recipes/set-if-unchanged.ts";
import { quoteWord } from "../text/quote-word.ts";
import { flag, required, znodePath } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { fileNameFor, isText, jsonProblem, withoutAddedLineEnd } from "./edited-text.ts";
import { storeEdited } from "./store-edited.ts";

export const edit = defineCommand({
  details:
    "The editor is $VISUAL, $EDITOR or vi. The text is stored only if the znode has not been " +
    "changed meanwhile; otherwise edit shows the difference and ends with code 5. A text that " +
    "is not stored is kept in a file, which is named. JSON that no longer parses is stored only " +
    "after a question. A line end that the editor adds to data without one is dropped.",
  examples: ["edit /app/config", "edit --create /app/motd"],
  effect: "write",
  args: { path: required(znodePath, "the znode") },
  options: { create: flag("", "create the znode if it does not exist") },
  async *run(context, { path }, { create }) {
    const { signal, input, files } = context;
    const word = quoteWord(path);
    const byHand = `get ${word} > FILE, edit FILE, and set -v VERSION ${word} @FILE`;
    if (!input.hasTerminal)
      throw new RefusedError("needs-terminal", "edit needs a terminal", { path, hint: byHand });
    const before = await readIfThere(context.session(), path, signal);
    if (before === undefined && !create) throw missing(path);
    const data = before?.data ?? Buffer.alloc(0);
    if (!isText(data)) {
      throw new RefusedError("binary-data", `${path} holds binary data`, { path, hint: byHand });
    }
    const file = await files.scratch(fileNameFor(path, data), data);
    let isKept = false;
    try {
      const end = await runEditor(context, file);
      // Also where it cannot be read back.
      isKept = true;
      const text = withoutAddedLineEnd(data, await readBack(file));
      await file.truncate(text.length);
      const hasFailed = !("code" in end && end.code === 0);
      // A killed editor may leave the text in a swap file.
      isKept = !text.equals(data) || (hasFailed && (await file.neighbours()).length > 0);
      if (hasFailed) throw editorFailed(context, end);
      if (!isKept) return yield { kind: "unedited", path };
      await mayBreakJson(context, data, text);
      yield* storeEdited(context, { path, before, text, file: file.path });
      isKept = false;
    } catch (error) {
      if (isKept) yield { kind: "text-kept", path, file: file.path };
      throw error;
    } finally {
      if (!isKept) await file.discard();
    }
  },
});

function missing(path: string): NoNodeError {
  return new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, {
    path,
    code: -101,
    hint: `edit --create ${quoteWord(path)} creates it`,
  });
}

function editorOf({ program: { env } }: Context): string {
  return env.VISUAL || env.EDITOR || "vi";
}

/** As git runs it: the variable may hold options, and quotes around a path with spaces. */
async function runEditor(context: Context, { path }: ScratchFile): Promise<ChildEnd> {
  const editor = editorOf(context);
  // At the prompt the line editor owns the terminal until the program is started.
  const preparation = await context.processes.prepareGuard({
    savesTerminal: context.shell.isOneShot,
  });
  try {
    const child = await preparation.start({
      argv: ["sh", "-c", `${editor} "$@"`, editor, path],
      env: {},
      // The editor must be in the foreground of the terminal.
      group: "share",
      goesOn: true,
      onSignal: () => {},
      signal: context.signal,
    });
    return await child.ended.finally(() => child.dispose());
  } finally {
    preparation.dispose();
  }
}

async function readBack(file: ScratchFile): Promise<Buffer> {
  try {
    return await file.read();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `nothing was changed: what the editor has left cannot be read: ${why}`;
    throw new OperationError("editor-failed", message, { cause });
  }
}

const NOT_FOUND = 127;

function editorFailed(context: Context, end: ChildEnd): Error {
  if (context.signal.aborted) return new InterruptedError();
  const how = "code" in end ? `ended with code ${end.code}` : `was killed by ${end.killedBy}`;
  const isMissing = "code" in end && end.code === NOT_FOUND;
  return new OperationError(
    "editor-failed",
    `nothing was changed: the editor ${editorOf(context)} ${how}`,
    isMissing ? { hint: "set VISUAL or EDITOR to a program that is installed" } : {},
  );
}

async function mayBreakJson({ input }: Context, before: Buffer, after: Buffer): Promise<void> {
  const problem = jsonProblem(before) === undefined ? jsonProblem(after) : undefined;
  if (problem === undefined) return;
  if (await input.confirm(`This is no longer valid JSON (${problem}). Store it anyway?`)) return;
  throw new RefusedError("declined", "nothing was changed");
}
