/**
 * What the recipes that change whole trees share: orders of a tree, and failures that concern one
 * znode only.
 */
import {
  ConflictError,
  ConnectionError,
  NoNodeError,
  OperationError,
  PermissionError,
  type ZkshError,
} from "../../errors.ts";
import type { Visit } from "./walk.ts";

/** A znode that could not be changed, and why. */
export interface TreeFailure {
  readonly path: string;
  readonly error: ZkshError;
}

/**
 * The visits of a walk, each after everything below its children has come: the order in which a
 * tree can be deleted.
 */
export async function* deepestFirst(walk: AsyncIterable<readonly Visit[]>): AsyncGenerator<Visit> {
  const open: Visit[] = [];
  for await (const visits of walk) {
    for (const visit of visits) {
      for (let last = open.at(-1); last && !isBelow(visit.path, last.path); last = open.at(-1)) {
        open.pop();
        yield last;
      }
      open.push(visit);
    }
  }
  yield* open.reverse();
}

/**
 * Compares paths of one tree: in a walk's order, a znode's children together, then what is below
 * each of them.
 */
export function inWalkOrder(a: string, b: string): number {
  const [namesOfA, namesOfB] = [a.split("/"), b.split("/")];
  let shared = 0;
  while (shared < namesOfA.length && namesOfA[shared] === namesOfB[shared]) shared += 1;
  const [restOfA, restOfB] = [namesOfA.length - shared, namesOfB.length - shared];
  // One is told of with the children of what they share, or is what they share; the other is
  // further below.
  if (Math.min(restOfA, restOfB) <= 1 && restOfA !== restOfB) return restOfA - restOfB;
  return (namesOfA[shared] ?? "") < (namesOfB[shared] ?? "") ? -1 : 1;
}

export function isBelow(path: string, parent: string): boolean {
  return path.startsWith(parent === "/" ? parent : `${parent}/`);
}

/**
 * The connection broke before the answer came; the session goes on, and can be asked what became of
 * it.
 */
export function mayHaveBeenDone(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === "connection-loss";
}

/**
 * The server refused one znode; the others may still go well. Without a session nothing will, so
 * that is thrown.
 */
export function refusalOf(error: unknown): ZkshError {
  const concernsOne =
    error instanceof NoNodeError ||
    error instanceof PermissionError ||
    error instanceof ConflictError ||
    error instanceof OperationError;
  if (!concernsOne || error.reason === "auth-failed") throw error;
  return error;
}
