/**
 * Shared by deleteTree, setTreeAcl and TreeWriter: the order of a tree, and failures that concern one znode
 * only.
 */
import {
  ConflictError,
  ConnectionError,
  NoNodeError,
  OperationError,
  PermissionError,
  UsageError,
  type ZkshError,
} from "../../errors.ts";

/** A znode that could not be changed, and why. */
export interface TreeFailure {
  readonly path: string;
  readonly error: ZkshError;
}

/**
 * Yields what a walk has found (visits, or entries) in the order in which a tree can be deleted:
 * each after everything below it.
 */
export async function* deepestFirst<Found extends { readonly path: string }>(
  walk: AsyncIterable<readonly Found[]>,
): AsyncGenerator<Found> {
  const open: Found[] = [];
  for await (const group of walk) {
    for (const found of group) {
      for (let last = open.at(-1); last && !isBelow(found.path, last.path); last = open.at(-1)) {
        open.pop();
        yield last;
      }
      open.push(found);
    }
  }
  yield* open.reverse();
}

/**
 * Compares paths of one tree by the order of a walk: the children of a znode together, then the
 * znodes below each child.
 */
export function inWalkOrder(a: string, b: string): number {
  const [namesOfA, namesOfB] = [a.split("/"), b.split("/")];
  let shared = 0;
  while (shared < namesOfA.length && namesOfA[shared] === namesOfB[shared]) shared += 1;
  const [restOfA, restOfB] = [namesOfA.length - shared, namesOfB.length - shared];
  // The shorter path is a child of the common parent, or is the common parent; the other one is
  // further below.
  if (Math.min(restOfA, restOfB) <= 1 && restOfA !== restOfB) return restOfA - restOfB;
  return (namesOfA[shared] ?? "") < (namesOfB[shared] ?? "") ? -1 : 1;
}

export function isBelow(path: string, parent: string): boolean {
  return path.startsWith(parent === "/" ? parent : `${parent}/`);
}

/**
 * Returns true if the connection broke before the answer: the session continues, so the next server
 * can be asked whether the request was applied.
 */
export function mayHaveBeenDone(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === "connection-loss";
}

/**
 * Returns the error if the server refused one znode: the others may succeed. Throws it if the
 * session is lost.
 */
export function refusalOf(error: unknown): ZkshError {
  const concernsOne =
    (error instanceof UsageError && error.reason === "request-too-large") ||
    error instanceof NoNodeError ||
    error instanceof PermissionError ||
    error instanceof ConflictError ||
    error instanceof OperationError;
  if (!concernsOne || error.reason === "auth-failed") throw error;
  return error;
}

/**
 * Whether a refused create may mean that the znode exists: a server checks the parent's ACL first
 * and answers NoAuth for an existing znode, too.
 */
export function mayExist(reason: unknown): boolean {
  const isExisting = reason instanceof ConflictError && reason.reason === "node-exists";
  return isExisting || (reason instanceof PermissionError && reason.reason === "no-auth");
}
