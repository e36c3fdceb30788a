import { UsageError } from "../errors.ts";
import {
  type ComparedZnode,
  comparedZnodes,
  comparePaths,
  diffTrees,
} from "../recipes/trees/diff-trees.ts";
import { readAcls } from "../recipes/trees/read-acls.ts";
import { readTree } from "../recipes/trees/read-tree.ts";
import type { TreeFileZnode } from "../recipes/trees/tree-file.ts";
import { movedPath } from "../session/path.ts";
import { flag, required } from "./arguments.ts";
import { type Context, defineCommand } from "./command.ts";
import { openTreeFile } from "./open-tree-file.ts";
import { formatPlace, type Place, Places, place } from "./place.ts";
import { readFolder } from "./read-folder.ts";
import { Unreadable } from "./unreadable.ts";

export const diff = defineCommand({
  details:
    "A place is a path, zk://HOST[:PORT],…/PATH or @PROFILE:/PATH on other servers, or file:FILE, an " +
    "export or a folder as cp -r writes it. Text and JSON are shown as a unified diff, other data by its size. Exit code 0 when both are the same, 1 when they differ. " +
    "Ephemerals are not compared.",
  examples: [
    "diff /app /app.old",
    "diff -q /app zk://zk2:2181/app",
    "diff --acl /app file:app.jsonl",
    "diff --names /app /backup/app",
  ],
  effect: "read",
  args: { left: required(place, "one place"), right: required(place, "the other") },
  options: {
    brief: flag("-q", "only name the znodes that differ"),
    data: flag("", "compare names and data (the default)"),
    names: flag("", "compare names only"),
    acl: flag("", "compare ACLs too"),
  },
  async *run(context, { left, right }, { brief, data, names, acl }) {
    if (names && (data || acl))
      throw new UsageError("--names cannot be combined with --data or --acl");
    const unreadable = { left: new Unreadable(), right: new Unreadable() };
    const places = new Places(context, "diff");
    const sides = { left: formatPlace(left), right: formatPlace(right) };
    let isDifferent = false;
    try {
      const options = { data: !names, acl };
      const one = await openSide(context, left, places, { acl, unreadable: unreadable.left });
      const other = await openSide(context, right, places, { acl, unreadable: unreadable.right });
      const differences = diffTrees(one.znodes, other.znodes, options);
      for await (const difference of differences) {
        const { path } = difference;
        // Nothing is known of it: it is no difference, but named in the end.
        if (unreadable.left.covers(one.pathOf(path))) continue;
        if (unreadable.right.covers(other.pathOf(path))) continue;
        isDifferent = true;
        yield { kind: "difference", difference, sides, isBrief: brief || names };
        context.signal.throwIfAborted();
      }
    } finally {
      await places.close();
    }
    yield* unreadable.left.report(unreadable.right);
    if (isDifferent) yield { kind: "differs" };
  },
});

interface SideOptions {
  readonly acl: boolean;
  readonly unreadable: Unreadable;
}

interface Side {
  readonly znodes: AsyncGenerator<ComparedZnode[]>;
  /** The whole path of a znode whose path is relative to the root. */
  readonly pathOf: (relative: string) => string;
}

/** Throws where the root does not exist, before anything is compared. */
async function openSide(
  context: Context,
  of: Place,
  places: Places,
  { acl, unreadable: { onFailure } }: SideOptions,
): Promise<Side> {
  const { signal, files } = context;
  const below = (root: string) => (path: string) => movedPath(path, "/", root);
  if (of.kind === "file" && (await files.kind(of.file, { followsLink: true })) === "folder") {
    if (acl) throw new UsageError(`${of.file} is a folder, which keeps no ACLs`);
    return { znodes: readFolder(files, of.file, { signal, onFailure }), pathOf: below(of.file) };
  }
  if (of.kind === "file") {
    const { header, znodes } = await openTreeFile(context, of.file);
    return { znodes: fromFile(header.path, znodes, of.file), pathOf: below(header.path) };
  }
  const session = await places.session(of);
  const options = { signal, onFailure };
  const entries = readTree(session, of.path, options);
  const pieces = acl ? readAcls(await places.acls(of), entries, options) : entries;
  const znodes = counted(comparedZnodes(of.path, pieces), context);
  return { znodes, pathOf: below(of.path) };
}

async function* counted(
  pieces: AsyncIterable<ComparedZnode[]>,
  { output }: Context,
): AsyncGenerator<ComparedZnode[]> {
  let read = 0;
  for await (const piece of pieces) {
    read += piece.length;
    output.onProgress?.(read, "znodes compared");
    yield piece;
  }
}

async function* fromFile(
  root: string,
  groups: AsyncIterable<readonly TreeFileZnode[]>,
  file: string,
): AsyncGenerator<ComparedZnode[]> {
  let last: string | undefined;
  for await (const group of groups) {
    const piece: ComparedZnode[] = [];
    for (const { path, data, acl, kind } of group) {
      const own = movedPath(path, root, "");
      if (last !== undefined && comparePaths(last, own) >= 0) {
        throw new UsageError(`${file} is not sorted: ${path} comes too late`, {
          hint: "only files as export writes them can be compared",
        });
      }
      last = own;
      if (kind !== "ephemeral") piece.push({ path: own, data, acl });
    }
    yield piece;
  }
}
