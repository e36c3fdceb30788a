/** Compares the source and the target of a move, znode by znode. */
import type { TreePlace } from "../copy-tree.ts";
import { type ComparedZnode, comparedZnodes, type Difference, diffTrees } from "../diff-trees.ts";
import { type EntryWithAcl, readAcls } from "../read-acls.ts";
import { readTree } from "../read-tree.ts";
import { mustBeReadable } from "./survey-tree.ts";

export interface CompareOptions {
  readonly signal: AbortSignal;
  readonly acl: boolean;
  /** A zxid: znodes of the source that have changed since are left out. */
  readonly unchangedSince?: bigint;
  /** Told now and then how many znodes of the source have been compared. */
  readonly onProgress?: ((compared: number) => void) | undefined;
}

/** Paths of differences are relative to the roots. Throws where either side cannot be read. */
export async function* compareTrees(
  from: TreePlace,
  to: TreePlace,
  { unchangedSince, onProgress, ...options }: CompareOptions,
): AsyncGenerator<Difference> {
  let compared = 0;
  const source = znodesOf(from, {
    ...options,
    ...(unchangedSince !== undefined && { unchangedSince }),
    onRead(znodes) {
      compared += znodes;
      onProgress?.(compared);
    },
  });
  yield* diffTrees(source, znodesOf(to, options), { data: true, acl: options.acl });
}

interface ReadOptions extends Omit<CompareOptions, "onProgress"> {
  readonly onRead?: (znodes: number) => void;
}

async function* znodesOf(place: TreePlace, options: ReadOptions): AsyncGenerator<ComparedZnode[]> {
  yield* comparedZnodes(place.path, entriesOf(place, options));
}

async function* entriesOf(
  { session, path, acls = session }: TreePlace,
  { signal, acl, unchangedSince, onRead }: ReadOptions,
): AsyncGenerator<EntryWithAcl[]> {
  const options = { signal, onFailure: mustBeReadable };
  const entries = readTree(session, path, options);
  const pieces: AsyncIterable<EntryWithAcl[]> = acl ? readAcls(acls, entries, options) : entries;
  for await (const piece of pieces) {
    onRead?.(piece.length);
    yield unchangedSince === undefined
      ? piece
      : piece.filter(({ stat }) => stat.mzxid <= unchangedSince);
  }
}
