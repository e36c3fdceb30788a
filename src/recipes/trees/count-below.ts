/**
 * Counts the znodes below a znode: with getAllChildrenNumber, or with a walk if the server does not
 * know that operation (before 3.6).
 */
import { OperationError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { walk } from "./walk.ts";

export interface CountOptions {
  readonly signal: AbortSignal;
  /** Called with a znode that could not be listed; the znodes below it are not counted. */
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
