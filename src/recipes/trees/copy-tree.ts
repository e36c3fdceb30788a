/** Copies a tree: reads it on a session and hands it to what writes it. */
import { kindOf, nextSequence, ttlOf } from "../../session/node-kind.ts";
import { movedPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import type { AclSource } from "./acl-readers.ts";
import type { ChangesUnder } from "./changed-under.ts";
import type { NewZnode } from "./new-znode.ts";
import { type EntryWithAcl, readAcls } from "./read-acls.ts";
import { readTree } from "./read-tree.ts";
import type { TreeSink } from "./tree-sink.ts";
import type { WalkOptions } from "./walk.ts";
import type { WrittenTree } from "./write-tree.ts";

/** The root of a tree, and the session that reaches it. */
export interface TreePlace {
  readonly session: Session;
  readonly path: string;
  /** What reads many ACLs of the tree. Left out: the session. */
  readonly acls?: AclSource;
}

export interface CopyTarget {
  readonly sink: TreeSink;
  /** The path that the root of the copy gets. */
  readonly path: string;
}

export interface CopyTreeOptions extends WalkOptions {
  /** What reads the ACLs of the source, which are set last. Left out: ACLs are not copied. */
  readonly acls?: AclSource | undefined;
  /** Sequence counters too. */
  readonly exact: boolean;
  /** Told of every znode that was read. */
  readonly changes?: ChangesUnder | undefined;
}

export interface CopiedTree extends WrittenTree {
  /** Left out: they belong to sessions. */
  readonly ephemerals: number;
  /** Children of the source that were left out, because it was copied alone. */
  readonly childrenLeft: number;
}

/**
 * Throws ConflictError with `onConflict: "fail"`, TreeInterruptedError when the signal is aborted,
 * and the error of a lost session.
 */
export async function copyTree(
  from: TreePlace,
  to: CopyTarget,
  options: CopyTreeOptions,
): Promise<CopiedTree> {
  const { acls, exact, changes } = options;
  const entries = readTree(from.session, from.path, options);
  const pieces: AsyncIterable<EntryWithAcl[]> = acls ? readAcls(acls, entries, options) : entries;
  let ephemerals = 0;
  let childrenLeft = 0;
  try {
    for await (const piece of pieces) {
      for (const entry of piece) changes?.saw(entry);
      if (options.maxDepth === 0) childrenLeft += piece[0]?.stat.numChildren ?? 0;
      const znodes = piece
        .filter(({ stat }) => kindOf(stat) !== "ephemeral")
        .map((entry) => copyOf(entry, movedPath(entry.path, from.path, to.path), exact));
      ephemerals += piece.length - znodes.length;
      await to.sink.add(znodes);
    }
    return { ...(await to.sink.finish()), ephemerals, childrenLeft };
  } catch (error) {
    throw await to.sink.stopped(error);
  }
}

/** The znode that has to be written for a copy at `path`. */
export function copyOf(
  { data = null, stat, acl }: EntryWithAcl,
  path: string,
  exact: boolean,
): NewZnode {
  const ttlMs = ttlOf(stat);
  const kind = kindOf(stat);
  const next = nextSequence(stat);
  return {
    path,
    data,
    acl,
    ...(kind === "container" && { mode: "container" }),
    ...(kind === "ttl" && { mode: "persistentWithTtl", ttlMs }),
    ...(exact && next !== stat.numChildren && { nextSequence: next }),
  };
}
