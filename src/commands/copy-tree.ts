/** Copies one tree for `cp`, between znodes, or from or to a folder, and says what was copied. */

import { UsageError } from "../errors.ts";
import { ChangesUnder } from "../recipes/trees/changed-under.ts";
import { copyTree } from "../recipes/trees/copy-tree.ts";
import { TreePlan } from "../recipes/trees/plan-tree.ts";
import type { TreeSink } from "../recipes/trees/tree-sink.ts";
import { type OnConflict, TreeWriter, type WrittenTree } from "../recipes/trees/write-tree.ts";
import type { Result } from "../results/result.ts";
import { movedPath } from "../session/path.ts";
import type { Context } from "./command.ts";
import { FolderWriter } from "./folder-writer.ts";
import { formatPlace, type Place, type Places, type ZnodePlace } from "./place.ts";
import { readFolder } from "./read-folder.ts";
import { Unreadable } from "./unreadable.ts";
import { explainWrite, reportWritten, requireParent } from "./write-options.ts";

export interface TreeCopy {
  readonly from: Place;
  readonly to: Place;
  readonly places: Places;
  readonly options: CopyOptions;
}

interface CopyOptions {
  readonly recursive: boolean;
  readonly preserve: boolean;
  readonly exact: boolean;
  readonly onConflict: OnConflict;
  readonly dryRun: boolean;
}

export async function* copyAndReport(context: Context, copy: TreeCopy): AsyncGenerator<Result> {
  const { from, to } = copy;
  const unreadable = new Unreadable();
  const target = { sink: await sinkOf(context, copy), path: to.kind === "file" ? "" : to.path };
  const name = formatPlace(to);
  try {
    const work = { ...copy, target, name, unreadable };
    if (from.kind === "file") yield* copyFolder(context, { ...work, from });
    else yield* copyZnodes(context, { ...work, from });
  } catch (error) {
    throw explainWrite(error, name);
  }
  yield* unreadable.report();
}

async function sinkOf(context: Context, { to, places, options }: TreeCopy): Promise<TreeSink> {
  const { signal, output, files } = context;
  const { onConflict, dryRun } = options;
  const onProgress = (done: number) => output.onProgress?.(done, "znodes copied");
  if (to.kind === "file")
    return new FolderWriter(files, to.file, { signal, onConflict, onProgress, dryRun });
  const session = await places.session(to);
  await requireParent(session, to.path, signal);
  return dryRun
    ? new TreePlan(session, { signal, onConflict })
    : new TreeWriter(session, { signal, onConflict, onProgress });
}

interface CopyWork extends TreeCopy {
  readonly target: { readonly sink: TreeSink; readonly path: string };
  /** How the target is shown. */
  readonly name: string;
  readonly unreadable: Unreadable;
}

async function* copyZnodes(
  { signal }: Context,
  { from, target, name, places, options, unreadable }: CopyWork & { readonly from: ZnodePlace },
): AsyncGenerator<Result> {
  const { recursive, preserve, exact, dryRun } = options;
  const session = await places.session(from);
  const acls = preserve ? await places.acls(from) : undefined;
  // A single znode is read in one request: nothing can change between its parts.
  const changes =
    dryRun || !recursive ? undefined : await ChangesUnder.begin(session, from.path, signal);
  try {
    const { onFailure } = unreadable;
    const copied = await copyTree({ session, path: from.path }, target, {
      acls,
      exact,
      signal,
      changes,
      onFailure,
      ...(!recursive && { maxDepth: 0 }),
    });
    const { ephemerals, childrenLeft, ...written } = copied;
    yield* reportWritten(written, {
      path: name,
      ephemerals,
      childrenLeft,
      isDryRun: dryRun,
      ...(changes && {
        changed: await changes.paths(signal),
        isEveryChangeKnown: changes.isComplete,
      }),
    });
  } finally {
    await changes?.end();
  }
}

async function* copyFolder(
  { signal, files }: Context,
  {
    from,
    target,
    name,
    options,
    unreadable,
  }: CopyWork & { readonly from: Extract<Place, { kind: "file" }> },
): AsyncGenerator<Result> {
  const { sink, path } = target;
  const isFolder = (await files.kind(from.file, { followsLink: true })) === "folder";
  if (isFolder && !options.recursive)
    throw new UsageError(`${from.file} is a folder`, { hint: "-r copies everything in it" });
  let written: WrittenTree;
  try {
    for await (const piece of readFolder(files, from.file, {
      signal,
      onFailure: unreadable.onFailure,
    }))
      await sink.add(piece.map((znode) => ({ ...znode, path: movedPath(znode.path, "", path) })));
    written = await sink.finish();
  } catch (error) {
    throw await sink.stopped(error);
  }
  yield* reportWritten(written, { path: name, ephemerals: 0, isDryRun: options.dryRun });
}
