/** Which znodes of a tree are deleted, deepest first, and how many in one transaction. */
import { ConflictError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { readTree } from "./read-tree.ts";
import { deepestFirst, type TreeFailure } from "./tree-failures.ts";
import { childPaths, type WalkOptions, walk } from "./walk.ts";

/** A znode to delete; with a version only if it still has that one. */
export interface Deletion {
  readonly path: string;
  readonly version?: number;
}

/** All znodes of a tree. Throws when the root cannot be listed. */
export async function* everything(
  session: Session,
  root: string,
  options: WalkOptions,
): AsyncGenerator<Deletion[]> {
  for await (const visit of deepestFirst(walk(session, root, options)))
    yield childPaths(visit).map((path) => ({ path }));
  yield [{ path: root }];
}

interface UnchangedOptions extends WalkOptions {
  /** A zxid that the session has seen already. */
  readonly since: bigint;
  /** Called with each znode that was created or changed since, before its parents are yielded. */
  readonly onChanged: (failure: TreeFailure) => void;
}

/** The znodes that have not been changed since, with their versions. */
export async function* unchangedOnly(
  session: Session,
  root: string,
  { since, onChanged, ...options }: UnchangedOptions,
): AsyncGenerator<Deletion[]> {
  const entries = readTree(session, root, { ...options, statsOnly: true });
  for await (const { path, stat } of deepestFirst(entries)) {
    if (stat.mzxid <= since) yield [{ path, version: stat.version }];
    else onChanged({ path, error: changed(path) });
  }
}

function changed(path: string): ConflictError {
  return new ConflictError("changed", `${path} was created or changed meanwhile, and stays`, {
    path,
  });
}

/** Servers close the connection at requests of 1 MB; the chroot is added to each path. */
const MAX_BATCH_LENGTH = 300_000;

/** Splits deletions, in their order, into batches that fit into one request. */
export class Batches {
  readonly #size: number;
  #batch: Deletion[] = [];
  #length = 0;

  constructor(size: number) {
    this.#size = size;
  }

  *add(deletions: readonly Deletion[]): Generator<Deletion[]> {
    for (const deletion of deletions) {
      const { length } = deletion.path;
      if (this.#batch.length >= this.#size || this.#length + length > MAX_BATCH_LENGTH)
        yield* this.rest();
      this.#batch.push(deletion);
      this.#length += length;
    }
  }

  *rest(): Generator<Deletion[]> {
    if (this.#batch.length > 0) yield this.#batch;
    this.#batch = [];
    this.#length = 0;
  }
}
