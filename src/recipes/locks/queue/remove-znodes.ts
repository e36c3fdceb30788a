/** Removes znodes that are ours, over as many connections as it takes. */
import { ConnectionError, NoNodeError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import { isUnanswered } from "./retry-unanswered.ts";

/**
 * How znodes went: by our `delete`; `missing`: another client had deleted them before; `expiry`:
 * the session ended first, and the server removes them with it.
 */
export type Removed = "delete" | "missing" | "expiry";

/** Deletes znodes whose names are unique, so that a second try cannot delete another's. */
export function removeZnodes(session: Session, nodes: readonly string[]): Promise<Removed> {
  return unlessSessionEnds(session, async () => {
    const removed = await Promise.all(nodes.map((node) => removeOne(session, node)));
    return removed.includes("missing") ? "missing" : "delete";
  });
}

/** Runs a removal; once the session has ended there is nothing left to remove. */
export async function unlessSessionEnds(
  session: Session,
  removing: () => Promise<"delete" | "missing">,
): Promise<Removed> {
  if (hasEnded(session)) return "expiry";
  try {
    return await removing();
  } catch (error) {
    // A session that is being closed has told the server so before any request we could still send.
    const isClosed = error instanceof ConnectionError && error.reason === "session-closed";
    if (isClosed || hasEnded(session)) return "expiry";
    throw error;
  }
}

function hasEnded(session: Session): boolean {
  return session.state === "lost";
}

async function removeOne(session: Session, path: string): Promise<"delete" | "missing"> {
  for (let isRepeated = false; ; isRepeated = true) {
    try {
      await session.delete(path);
      return "delete";
    } catch (error) {
      // After a lost reply the first request may have been the one that deleted it.
      if (error instanceof NoNodeError) return isRepeated ? "delete" : "missing";
      if (!isUnanswered(error)) throw error;
    }
  }
}
