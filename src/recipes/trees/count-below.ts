/**
 * How many znodes are below one: by one question where the server can answer it, by a walk where it
 * cannot.
 */
import { OperationError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { walk } from "./walk.ts";

export interface CountOptions {
  readonly signal: AbortSignal;
  /** Told of a znode that could not be listed; what is below it is then not counted. */
  readonly onFailure?: (path: string, error: Error) => void;
}

export async function countBelow(
  session: Session,
  path: string,
  options: CountOptions,
): Promise<number> {
  const { signal, onFailure = () => {} } = options;
  try {
    return await session.getAllChildrenNumber(path, { signal });
  } catch (error) {
    if (!(error instanceof OperationError) || error.reason !== "unimplemented") throw error;
  }
  let count = 0;
  for await (const visits of walk(session, path, { signal, onFailure })) {
    for (const { children } of visits) count += children.length;
  }
  return count;
}
