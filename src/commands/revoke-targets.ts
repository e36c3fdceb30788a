/** Whom `revoke` is about, and what it says when that leads nowhere. */
import { DeadlineError, OperationError, PartialError, type ZkshError } from "../errors.ts";
import { inspectLock, type Standing } from "../recipes/locks/inspect/inspect-lock.ts";
import { nameHolder } from "../results/lock-reports.ts";
import { baseName } from "../session/path.ts";
import type { Context } from "./command.ts";

/** The holders; with `node` the one, holding or waiting, whose ticket has that name. */
export async function findTargets(
  { session, signal }: Context,
  path: string,
  node?: string,
): Promise<readonly Standing[]> {
  const { holders, waiters } = await inspectLock(session(), path, { signal });
  if (node === undefined) return holders;
  return [...holders, ...waiters].filter(({ nodes }) =>
    nodes.some((one) => one === node || baseName(one) === node),
  );
}

export function nobody(path: string, node: string | undefined): OperationError {
  return new OperationError(
    "not-held",
    node === undefined ? `nobody holds ${path}` : `no ticket ${node} at ${path}`,
    {
      path,
    },
  );
}

export function tooLate(path: string, left: readonly Standing[], ms: number): DeadlineError {
  return new DeadlineError(`${path} was not given up within ${ms} ms by ${nameAll(left)}`, {
    path,
    hint: "--force takes it away",
  });
}

export function notAsked(path: string, unaskable: readonly Standing[], targets: number): ZkshError {
  const message = `${nameAll(unaskable)} cannot be asked to give up ${path}`;
  const details = { path, hint: "its library does not listen; --force takes the lock away" };
  return unaskable.length < targets
    ? new PartialError("partial", message, details)
    : new OperationError("unaskable", message, details);
}

/**
 * What happens to the commands of holders whose tickets are deleted: the next holder does not wait
 * for their end.
 */
export function afterForce(targets: readonly Standing[]): string {
  if (targets.every(({ isOurs }) => isOurs)) {
    return "A command that it runs is killed, but may run for a moment beside the next holder's.";
  }
  return "A holder that does not watch its ticket runs on beside the next one.";
}

const MAX_NAMED = 3;

export function nameAll(holders: readonly Standing[]): string {
  const named = holders.slice(0, MAX_NAMED).map(nameHolder).join(", ");
  return holders.length > MAX_NAMED ? `${named} and ${holders.length - MAX_NAMED} more` : named;
}
