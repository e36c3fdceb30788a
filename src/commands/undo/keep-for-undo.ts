/** Exports what a command is about to destroy, and says what could not be brought back. */
import { RefusedError } from "../../errors.ts";
import { ChangesUnder } from "../../recipes/trees/changed-under.ts";
import { TreeExport } from "../../recipes/trees/export-tree.ts";
import type { Result } from "../../results/result.ts";
import type { Session } from "../../session/session.ts";
import { formatSize } from "../../text/size.ts";
import type { Context } from "../context.ts";
import type { UndoStore, UndoTree } from "./undo-store.ts";

interface Destruction {
  /** As it would be typed. */
  readonly command: string;
  readonly session: Session;
  readonly paths: readonly string[];
  readonly movedTo?: string | undefined;
}

/** What is called when the command has ended, also after a failure. */
type KeptForUndo = () => Promise<void>;

/**
 * Only for a person at a terminal; elsewhere nothing is kept. Asks where it is too much. Throws
 * RefusedError where the person then says no.
 */
export async function* keepForUndo(
  context: Context,
  destruction: Destruction,
): AsyncGenerator<Result, KeptForUndo> {
  const { input } = context;
  const undo = await context.undo();
  if (undo === undefined) return async () => {};
  const { command, session, movedTo } = destruction;
  const id = undo.newId();
  const keeping = new Keeping(context, undo, id);
  try {
    for (const path of destruction.paths) await keeping.keep(session, path);
  } catch (error) {
    await undo.remove(id);
    if (!(error instanceof TooMuch)) throw error;
    const more = `more than ${formatSize(undo.limit)}`;
    const question = `undo could not bring this back, because it is ${more}. Go on?`;
    if (!(await input.confirm(question))) throw new RefusedError("declined", "nothing was done");
    return async () => {};
  }
  const { trees, znodes, bytes, ephemerals, unreadable } = keeping;
  if (znodes === 0) {
    await undo.remove(id);
    return async () => {};
  }
  const at = new Date().toISOString();
  const servers = session.connectString;
  await undo.add({ id, command, at, servers, trees, ...(movedTo !== undefined && { movedTo }) });
  yield { kind: "kept-for-undo", znodes, bytes, ephemerals, unreadable };
  return () => undo.done(id, session.lastZxid);
}

/** Does the work of a command after {@link keepForUndo}. */
export async function* destroy(
  context: Context,
  destruction: Destruction,
  work: AsyncIterable<Result>,
): AsyncGenerator<Result> {
  const kept = yield* keepForUndo(context, destruction);
  try {
    yield* work;
  } finally {
    await kept();
  }
}

class TooMuch extends Error {}

class Keeping {
  readonly trees: UndoTree[] = [];
  znodes = 0;
  bytes = 0;
  ephemerals = 0;
  unreadable = 0;
  readonly #context: Context;
  readonly #undo: UndoStore;
  readonly #id: string;

  constructor(context: Context, undo: UndoStore, id: string) {
    this.#context = context;
    this.#undo = undo;
    this.#id = id;
  }

  async keep(session: Session, path: string): Promise<void> {
    const { signal, output } = this.#context;
    if (!(await session.exists(path, { signal }))) return;
    const name = `${this.#id}-${this.trees.length}.jsonl`;
    const changes = await ChangesUnder.begin(session, path, signal);
    const file = await this.#undo.folder.create(name);
    try {
      const tree = new TreeExport(session, path, {
        signal,
        acls: session,
        withEphemerals: false,
        onFailure: () => {
          this.unreadable += 1;
        },
      });
      for await (const text of tree.lines(changes)) {
        this.bytes += Buffer.byteLength(text);
        if (this.bytes > this.#undo.limit) throw new TooMuch();
        await file.write(text);
        output.onProgress?.(this.znodes + tree.znodes, "znodes kept for undo");
        signal.throwIfAborted();
      }
      this.znodes += tree.znodes;
      this.ephemerals += tree.ephemerals;
      this.trees.push({ path, file: name, znodes: tree.znodes });
    } finally {
      await file.close();
      await changes.end();
    }
  }
}
