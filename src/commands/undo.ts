import { ConflictError, OperationError, RefusedError } from "../errors.ts";
import { deleteTree } from "../recipes/trees/delete-tree.ts";
import { readTree } from "../recipes/trees/read-tree.ts";
import { readTreeFile } from "../recipes/trees/tree-file.ts";
import { type OnConflict, TreeWriter } from "../recipes/trees/write-tree.ts";
import type { Result } from "../results/result.ts";
import { type Context, defineCommand } from "./command.ts";
import { toNewZnode } from "./import.ts";
import type { UndoEntry, UndoStore, UndoTree } from "./undo/undo-store.ts";
import { refuseProtected } from "./whole-tree.ts";
import { explainWrite, onConflictOption, reportWritten, requireParent } from "./write-options.ts";

export const undo = defineCommand({
  details:
    "On a terminal deleteall, import --prune, mv and cp --on-conflict overwrite first export what " +
    "they destroy, up to 64 MB (undo in the settings file), to $XDG_STATE_HOME/zksh/undo: the last " +
    "20 commands, 512 MB. undo shows the last and asks. Data, ACLs and TTLs come back; versions, " +
    "times, sequence counters and ephemerals do not. A znode that was made or changed since is a " +
    "conflict: exit code 5, and nothing is written without --on-conflict. What cp or import " +
    "created stays; what mv moved is deleted where it has not changed.",
  examples: ["undo", "undo --yes"],
  effect: "write",
  args: {},
  options: { onConflict: onConflictOption },
  async confirm(context) {
    const entry = await lastEntry(context);
    return {
      text: `Bring back ${describe(entry)}, as before ${entry.command} at ${entry.at}?`,
      paths: entry.trees.map(({ path }) => path),
    };
  },
  async *run(context, _args, { onConflict }) {
    const store = await storeOf(context);
    const entry = await lastEntry(context);
    for (const { path } of entry.trees) refuseProtected("undo", path, context.writes);
    if (onConflict === undefined) await refuseNewer(context, entry);
    const how = onConflict ?? (entry.doneAt === undefined ? "fail" : "overwrite");
    for (const tree of entry.trees) yield* restore(context, { store, tree, onConflict: how });
    if (entry.movedTo !== undefined) await deleteMoved(context, entry, entry.movedTo);
    await store.remove(entry.id);
  },
});

async function storeOf(context: Context): Promise<UndoStore> {
  const store = await context.undoStore();
  if (store) return store;
  throw new RefusedError("no-undo", "undo keeps nothing", {
    hint: 'there is no home directory, or the settings file has "undo": false',
  });
}

async function lastEntry(context: Context): Promise<UndoEntry> {
  const entry = await (await storeOf(context)).last();
  if (entry === undefined)
    throw new OperationError("nothing-to-undo", "there is nothing to undo", {
      hint: "only what was destroyed on a terminal is kept: help undo",
    });
  const { connectString } = context.session();
  if (entry.servers !== connectString)
    throw new RefusedError("other-servers", `the last was ${entry.command} on ${entry.servers}`, {
      hint: `connect ${entry.servers}, and then undo`,
    });
  return entry;
}

function describe({ trees }: UndoEntry): string {
  const znodes = trees.reduce((sum, tree) => sum + tree.znodes, 0);
  const number = znodes === 1 ? "1 znode" : `${znodes.toLocaleString("en-US")} znodes`;
  const [first] = trees;
  const more = trees.length > 1 ? ` and ${trees.length - 1} more` : "";
  return `${first?.path}${more} (${number})`;
}

/** Throws ConflictError for a znode that was made or changed since the command ended. */
async function refuseNewer(context: Context, { trees, doneAt }: UndoEntry): Promise<void> {
  if (doneAt === undefined) return;
  const { signal } = context;
  const since = BigInt(doneAt);
  const session = context.session();
  for (const { path } of trees) {
    if (!(await session.exists(path, { signal }))) continue;
    for await (const piece of readTree(session, path, {
      signal,
      statsOnly: true,
      onFailure: () => {},
    })) {
      const newer = piece.find(({ stat }) => stat.mzxid > since || stat.czxid > since);
      if (!newer) continue;
      const verb = newer.stat.czxid > since ? "created" : "changed";
      throw new ConflictError("changed", `${newer.path} was ${verb} since`, {
        path: newer.path,
        hint: "undo --on-conflict skip keeps it, undo --on-conflict overwrite replaces it",
      });
    }
  }
}

async function* restore(
  context: Context,
  { store, tree, onConflict }: { store: UndoStore; tree: UndoTree; onConflict: OnConflict },
): AsyncGenerator<Result> {
  const { signal, output } = context;
  const session = context.session();
  const { header, znodes } = await readTreeFile(tree.file, store.folder.stream(tree.file));
  const root = header.path;
  await requireParent(session, root, signal);
  const writer = new TreeWriter(session, {
    signal,
    onConflict,
    onProgress: (done) => output.onProgress?.(done, "znodes brought back"),
  });
  try {
    for await (const group of znodes) {
      await writer.add(
        group.map((one) => toNewZnode(one, root, root, { exact: false, withoutAcls: false })),
      );
      signal.throwIfAborted();
    }
    yield* reportWritten(await writer.finish(), { path: root, ephemerals: 0 });
  } catch (error) {
    throw explainWrite(await writer.stopped(error), root);
  }
}

/** What has changed at the new place since stays there. */
async function deleteMoved(context: Context, { doneAt }: UndoEntry, path: string): Promise<void> {
  const { signal } = context;
  const session = context.session();
  if (doneAt === undefined || !(await session.exists(path, { signal }))) return;
  context.writes.refuseTree("undo", path);
  await deleteTree(session, path, { signal, unchangedSince: BigInt(doneAt) });
}
