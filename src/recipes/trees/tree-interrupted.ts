/** Counts what deleteTree or setTreeAcl did before an interruption, with the requests under way. */

import { within } from "../../async/within.ts";
import {
  ConflictError,
  ConnectionError,
  type ErrorDetails,
  InterruptedError,
  type ZkshError,
} from "../../errors.ts";

/** The work was interrupted after `done` znodes. */
export class TreeInterruptedError extends InterruptedError {
  readonly done: number;
  /** False if the last requests were not answered in time: `done` is then a lower bound. */
  readonly isExact: boolean;

  constructor(
    cause: unknown,
    { done, isExact }: { readonly done: number; readonly isExact: boolean },
  ) {
    super("interrupted", { cause });
    this.done = done;
    this.isExact = isExact;
  }
}

/**
 * A conflict or a lost session ended the work after `done` znodes: the same error, which says so.
 * Requests that were under way are not counted.
 */
export function stoppedAfter(error: unknown, done: number): unknown {
  if (done === 0) return error;
  const number = `${done.toLocaleString("en-US")} ${done === 1 ? "znode" : "znodes"}`;
  const written = `at least ${number} had been written`;
  if (error instanceof ConflictError)
    return new ConflictError(error.reason, `${error.message}; ${written}`, detailsOf(error));
  if (!(error instanceof ConnectionError)) return error;
  return new ConnectionError(error.reason, `${error.message}; ${written}`, {
    ...detailsOf(error),
    hint: "the same command goes on where it stopped",
  });
}

function detailsOf(error: ZkshError): ErrorDetails {
  const { code, path, hint } = error;
  return {
    ...(code !== undefined && { code }),
    ...(path !== undefined && { path }),
    ...(hint !== undefined && { hint }),
    cause: error,
  };
}

/** A request for some znodes whose outcome has not been handled yet. */
export interface UnfinishedRequest {
  readonly outcome: Promise<unknown>;
  readonly znodes: number;
}

/** How long to wait for the answers to requests under way. */
const LATE_MS = 1_000;

/** Waits up to LATE_MS for the requests under way, and returns the error to throw. */
export async function treeInterrupted(
  cause: InterruptedError,
  done: number,
  unfinished: readonly UnfinishedRequest[],
): Promise<TreeInterruptedError> {
  let late = 0;
  const counted = unfinished.map(async ({ outcome, znodes }) => {
    if (await hasSucceeded(outcome)) late += znodes;
  });
  const isExact = (await within(LATE_MS, Promise.all(counted))) !== undefined;
  return new TreeInterruptedError(cause, { done: done + late, isExact });
}

/**
 * Follows the outcome of an interrupted call: its request may have been sent, and its answer still
 * comes.
 */
async function hasSucceeded(outcome: Promise<unknown>): Promise<boolean> {
  try {
    await outcome;
    return true;
  } catch (error) {
    if (!(error instanceof InterruptedError) || error.outcome === undefined) return false;
    return hasSucceeded(error.outcome);
  }
}
