/**
 * Moves a tree within its servers as one transaction: creates everything below the target, parents
 * first, and deletes the source, children first, each znode with the version that was copied. A
 * znode that another client changes or adds meanwhile makes the server refuse the whole.
 */
import { ConflictError, NoNodeError, PermissionError, UsageError } from "../../../errors.ts";
import { movedPath, parentPath } from "../../../session/path.ts";
import type { MultiOp } from "../../../session/session.ts";
import { refusedIndex, transact, tryTransaction } from "../../transaction.ts";
import { copyOf, type TreePlace } from "../copy-tree.ts";
import { createOf } from "../new-znode.ts";
import { counterPair } from "../raise-sequence-counter.ts";
import { type EntryWithAcl, readAcls } from "../read-acls.ts";
import { readTree } from "../read-tree.ts";
import { mayHaveBeenDone } from "../tree-failures.ts";
import { mustBeMovable, mustBeReadable } from "./survey-tree.ts";

export interface Move {
  readonly from: TreePlace;
  readonly to: TreePlace;
  /** Sequence counters too. */
  readonly exact: boolean;
}

interface MoveTransaction {
  readonly ops: readonly MultiOp[];
  readonly znodes: number;
  /** The operations behind this number delete the source. */
  readonly creates: number;
}

/** Connections that may break under the same transaction. */
const MAX_LOSSES = 3;
/** Transactions that may be refused because the source was changed. */
const MAX_CHANGES = 5;
/** More pairs for a sequence counter do not fit into a request of any server. */
const MAX_COUNTER_PAIRS = 10_000;

/** Why a tree cannot be moved in one transaction. */
export type Obstacle =
  | { readonly kind: "too-large" }
  /** The ACL of this znode does not let us create its children. */
  | { readonly kind: "acl"; readonly path: string };

/**
 * Asks the server whether it would move the tree in one transaction; undefined: yes. Throws what
 * would also keep the tree from being copied.
 */
export async function findObstacle(move: Move, signal: AbortSignal): Promise<Obstacle | undefined> {
  for (let losses = 0; ; losses++) {
    const transaction = await readTransaction(move, signal);
    if (transaction === undefined) return { kind: "too-large" };
    const { ops, creates } = transaction;
    try {
      await tryTransaction(move.from.session, ops, { signal });
      return undefined;
    } catch (error) {
      if (isTooLarge(error)) return { kind: "too-large" };
      const index = refusedIndex(error, {}) ?? 0;
      const path = ops[index]?.path ?? "/";
      // The first create needs a permission of a znode that is not ours.
      if (error instanceof PermissionError && index > 0 && index < creates)
        return { kind: "acl", path: movedPath(parentPath(path), move.to.path, move.from.path) };
      // All creates were accepted. The move itself reads the source again.
      if (isChangedSource(error, transaction)) return undefined;
      if (!mayHaveBeenDone(error) || losses >= MAX_LOSSES) throw error;
    }
  }
}

/** Moves the tree; the error of an interruption or a lost answer says what became of it. */
export async function moveInTransaction(
  move: Move,
  signal: AbortSignal,
): Promise<{ readonly znodes: number; readonly zxid?: bigint }> {
  const { from, to } = move;
  const howToLook = `it was moved as a whole or not at all; look with: exists ${to.path}`;
  let znodes = 0;
  for (let losses = 0, changes = 0; ; ) {
    let transaction: MoveTransaction | undefined;
    try {
      transaction = await readTransaction(move, signal);
      if (transaction === undefined) throw tooLarge(from.path);
      znodes = transaction.znodes;
      const { zxid } = await transact(from.session, transaction.ops, { signal, howToLook });
      return { znodes, zxid };
    } catch (error) {
      const isLost = mayHaveBeenDone(error);
      if ((isLost || losses > 0) && (await isMoved(move, signal))) return { znodes };
      // The same transaction cannot be carried out twice: its creates would be refused.
      if (isLost && losses < MAX_LOSSES) losses += 1;
      else if (transaction && isChangedSource(error, transaction)) {
        if (++changes > MAX_CHANGES) throw busy(from.path, error);
      } else throw isTooLarge(error) ? tooLarge(from.path) : error;
    }
  }
}

/** Undefined where the sequence counters alone are too much for one request. */
async function readTransaction(
  { from, to, exact }: Move,
  signal: AbortSignal,
): Promise<MoveTransaction | undefined> {
  const options = { signal, onFailure: mustBeReadable };
  const entries: EntryWithAcl[] = [];
  for await (const piece of readAcls(
    from.session,
    readTree(from.session, from.path, options),
    options,
  )) {
    entries.push(...piece);
  }
  mustBeMovable(from.path, entries);
  const copies = entries.map((entry) =>
    copyOf(entry, movedPath(entry.path, from.path, to.path), exact),
  );
  const counters: MultiOp[] = [];
  for (const [index, { path, nextSequence }] of copies.entries()) {
    if (nextSequence === undefined) continue;
    // Creating its children has raised the counter already.
    const missing = nextSequence - (entries[index] as EntryWithAcl).stat.numChildren;
    if (counters.length / 2 + missing > MAX_COUNTER_PAIRS) return undefined;
    const pair = counterPair(path);
    for (let i = 0; i < missing; i++) counters.push(...pair);
  }
  const creates = [...copies.map(createOf), ...counters];
  const deletes = entries
    .map(({ path, stat }): MultiOp => ({ op: "delete", path, version: stat.version }))
    .reverse();
  return { ops: [...creates, ...deletes], znodes: entries.length, creates: creates.length };
}

/** The server refused a delete: the source is not any more what was read. */
function isChangedSource(error: unknown, { creates }: MoveTransaction): boolean {
  const index = refusedIndex(error, {});
  if (index === undefined || index < creates) return false;
  return error instanceof NoNodeError || error instanceof ConflictError;
}

/** The session did not send the request. */
function isTooLarge(error: unknown): boolean {
  return error instanceof UsageError && error.reason === "request-too-large";
}

async function isMoved({ from, to }: Move, signal: AbortSignal): Promise<boolean> {
  const [source, target] = await Promise.all([
    from.session.exists(from.path, { signal }),
    to.session.exists(to.path, { signal }),
  ]);
  return source === undefined && target !== undefined;
}

function tooLarge(path: string): ConflictError {
  return new ConflictError("changed", `${path} has grown too large for one transaction meanwhile`, {
    path,
    hint: "nothing was moved; run the command again",
  });
}

function busy(path: string, cause: unknown): ConflictError {
  return new ConflictError("changed", `${path} is being changed all the time: nothing was moved`, {
    path,
    hint: "stop what writes below it, and run the command again",
    cause,
  });
}
