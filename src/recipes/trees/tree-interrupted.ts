/** What work on a tree has done when it is interrupted, requests under way included. */

import { within } from "../../async/within.ts";
import { InterruptedError } from "../../errors.ts";

/** Work on a tree was interrupted after so many znodes. */
export class TreeInterruptedError extends InterruptedError {
  readonly done: number;
  /** False where the server has not said what became of the last requests. */
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

/** A request for some znodes whose end nobody has looked at. */
export interface UnfinishedRequest {
  readonly outcome: Promise<unknown>;
  readonly znodes: number;
}

/** How long answers are awaited that were under way. */
const LATE_MS = 1_000;

/**
 * The error to end with, when the requests under way have been answered, or have had a moment for
 * it.
 */
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

/** Also when its caller was interrupted: the request had been sent. */
async function hasSucceeded(outcome: Promise<unknown>): Promise<boolean> {
  try {
    await outcome;
    return true;
  } catch (error) {
    if (!(error instanceof InterruptedError) || error.outcome === undefined) return false;
    return hasSucceeded(error.outcome);
  }
}
