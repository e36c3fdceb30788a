/** What the recipes that change whole trees share: everything in a tree, and failures that concern one znode only. */
import {
  ConflictError,
  ConnectionError,
  NoNodeError,
  OperationError,
  PermissionError,
  type ZkshError,
} from "../errors.ts";
import type { Session } from "../session/session.ts";
import { childPaths, type Visit, type WalkOptions, walk } from "./walk.ts";

/** A znode that could not be changed, and why. */
export interface TreeFailure {
  readonly path: string;
  readonly error: ZkshError;
}

export interface Tree {
  /** Every znode comes after its parent; the root is first. */
  readonly paths: readonly string[];
  /** Znodes whose children the server would not tell. */
  readonly unlisted: ReadonlyMap<string, Error>;
}

export async function listTree(session: Session, root: string, signal: AbortSignal): Promise<Tree> {
  const paths = [root];
  const unlisted = new Map<string, Error>();
  const onFailure = (path: string, error: Error) => void unlisted.set(path, error);
  for await (const visits of walk(session, root, { signal, onFailure })) {
    for (const visit of visits) for (const path of childPaths(visit)) paths.push(path);
  }
  return { paths, unlisted };
}

/** The visits of a walk, each after everything below its children has come: the order in which a tree can be deleted. */
export async function* deepestFirst(session: Session, root: string, options: WalkOptions): AsyncGenerator<Visit> {
  const open: Visit[] = [];
  for await (const visits of walk(session, root, options)) {
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

function isBelow(path: string, parent: string): boolean {
  return path.startsWith(parent === "/" ? parent : `${parent}/`);
}

/** The connection broke before the answer came; the session goes on, and can be asked what became of it. */
export function isFateUnknown(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === "connection-loss";
}

/** The server refused one znode; the others may still go well. Without a session nothing will, so that is thrown. */
export function refusalOf(error: unknown): ZkshError {
  const concernsOne =
    error instanceof NoNodeError ||
    error instanceof PermissionError ||
    error instanceof ConflictError ||
    error instanceof OperationError;
  if (!concernsOne || error.reason === "auth-failed") throw error;
  return error;
}
