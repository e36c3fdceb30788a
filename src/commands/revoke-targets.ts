/** Finds the holders that `revoke` asks, and makes its errors. */
import { DeadlineError, OperationError, PartialError, type ZkshError } from "../errors.ts";
import { inspectLock, type QueueMember } from "../recipes/locks/inspect/inspect-lock.ts";
import { baseName } from "../session/path.ts";
import { formatDuration } from "../text/duration.ts";
import { nameParty } from "../text/party-name.ts";
import type { Context } from "./command.ts";

/** Returns the holders, or with `node` the holder or waiter whose ticket has that name. */
export async function findTargets(
  { session, signal }: Context,
  path: string,
  node?: string,
): Promise<readonly QueueMember[]> {
  const { holders, waiters } = await inspectLock(session(), path, { signal });
  if (node === undefined) return holders;
  return [...holders, ...waiters].filter(({ nodes }) =>
    nodes.some((one) => one === node || baseName(one) === node),
  );
}

export function notHeld(path: string, node: string | undefined): OperationError {
  return new OperationError(
    "not-held",
    node === undefined ? `${path} is not held` : `there is no ticket ${node} at ${path}`,
    {
      path,
    },
  );
}

export function tooLate(path: string, left: readonly QueueMember[], ms: number): DeadlineError {
  return new DeadlineError(
    `${nameAll(left)} did not release ${path} within ${formatDuration(ms)}`,
    {
      path,
      hint: "revoke --force takes the lock away",
    },
  );
}

export function notAsked(
  path: string,
  unaskable: readonly QueueMember[],
  targets: number,
): ZkshError {
  const message = `${nameAll(unaskable)} cannot be asked to release ${path}`;
  const details = {
    path,
    hint: "its library has no revocation; revoke --force takes the lock away",
  };
  return unaskable.length < targets
    ? new PartialError("partial", message, details)
    : new OperationError("unaskable", message, details);
}

/**
 * Tells what happens to the command of a holder whose ticket is deleted. The next holder does not
 * wait for its end.
 */
export function afterForce(targets: readonly QueueMember[]): string {
  if (targets.every(({ isOurs }) => isOurs)) {
    return "Its command is killed, but may run for a moment beside that of the next holder.";
  }
  return "A holder that does not watch its ticket keeps running beside the next one.";
}

const MAX_NAMED = 3;

export function nameAll(holders: readonly QueueMember[]): string {
  const named = holders.slice(0, MAX_NAMED).map(nameParty).join(", ");
  return holders.length > MAX_NAMED ? `${named} and ${holders.length - MAX_NAMED} more` : named;
}
