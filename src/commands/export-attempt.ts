/** One attempt of `export`; a consistent one may have to begin again. */
import { OperationError, PartialError, UsageError } from "../errors.ts";
import { AclReaders } from "../recipes/trees/acl-readers.ts";
import { ChangesUnder } from "../recipes/trees/changed-under.ts";
import { TreeExport } from "../recipes/trees/export-tree.ts";
import { mergeTreeFile } from "../recipes/trees/merge-tree-file.ts";
import { type RereadZnodes, rereadChanges } from "../recipes/trees/reread-changes.ts";
import type { Result } from "../results/result.ts";
import type { Context } from "./command.ts";
import { ExportFile } from "./export-file.ts";
import { Unreadable } from "./unreadable.ts";

export interface Attempt {
  readonly path: string;
  readonly file: string | undefined;
  readonly consistent: boolean;
  readonly withAcls: boolean;
  readonly withEphemerals: boolean;
  readonly isLast: boolean;
}

/** Returns false, and keeps nothing, when a consistent export has to begin again. */
export async function* attemptExport(
  context: Context,
  { path, file, consistent, withAcls, withEphemerals, isLast }: Attempt,
): AsyncGenerator<Result, boolean> {
  const { signal, output } = context;
  const session = context.session();
  const unreadable = new Unreadable();
  const { onFailure } = unreadable;
  const changes = await ChangesUnder.begin(session, path, signal);
  const acls = withAcls
    ? new AclReaders(session, { open: () => context.shell.openSession({}), signal })
    : undefined;
  let written: ExportFile | undefined;
  let merged: ExportFile | undefined;
  try {
    if (consistent && !changes.isWatching) throw needsWatches();
    written = file === undefined ? undefined : await ExportFile.open(context, file);
    if (consistent && written?.isFile === false) throw needsFile(file ?? "");
    const tree = new TreeExport(session, path, { signal, onFailure, acls, withEphemerals });
    for await (const text of tree.lines(changes)) {
      if (written) await written.write(text);
      else yield { kind: "tree-file", text };
      output.onProgress?.(tree.znodes, "znodes exported");
      signal.throwIfAborted();
    }
    const reread = consistent ? await rereadChanges(tree, changes, signal) : undefined;
    if (reread && !changes.isComplete && !isLast) return false;
    let { znodes } = tree;
    if (reread && reread.lines.size > 0 && written && file !== undefined) {
      merged = await ExportFile.open(context, file);
      znodes = await merge(file, written, { into: merged, lines: reread.lines });
    }
    const changed = reread?.unsettled ?? (await changes.paths(signal));
    await (merged ?? written)?.commit();
    yield {
      kind: "exported",
      path,
      ...(file !== undefined && { file }),
      znodes,
      ephemerals: tree.ephemerals,
      changed,
      ...(reread && { reread: reread.lines.size }),
      isEveryChangeKnown: changes.isComplete,
    };
    if (reread) refuseUnsettled(path, reread, changes.isComplete);
  } finally {
    await Promise.all([written?.discard(), merged?.discard()]);
    await Promise.all([acls?.close(), changes.end()]);
  }
  yield* unreadable.report();
  return true;
}

/** Returns the number of znodes. */
async function merge(
  name: string,
  from: ExportFile,
  { into, lines }: { readonly into: ExportFile; readonly lines: RereadZnodes["lines"] },
): Promise<number> {
  let znodes = 0;
  for await (const piece of mergeTreeFile(name, from.read(), lines)) {
    await into.write(piece.text);
    znodes += piece.znodes;
  }
  return znodes;
}

function refuseUnsettled(path: string, { passes, unsettled }: RereadZnodes, isComplete: boolean) {
  if (unsettled.length === 0 && isComplete) return;
  const why = isComplete
    ? `znodes still changed after they had been read ${passes} more times`
    : "changes may have gone unnoticed";
  throw new PartialError("inconsistent", `the export of ${path} is not consistent: ${why}`, {
    path,
    hint: "the file was written; run it again when there are fewer writers, or export a smaller tree",
  });
}

export function needsFile(where: string): UsageError {
  return new UsageError(`--consistent cannot write to ${where}`, {
    hint: "it replaces znodes in the file that it has written: give one with -o FILE",
  });
}

function needsWatches(): OperationError {
  return new OperationError("unimplemented", "--consistent needs servers from ZooKeeper 3.6 on", {
    hint: "older servers have no recursive watch; without --consistent changed znodes are named as far as they are seen",
  });
}
