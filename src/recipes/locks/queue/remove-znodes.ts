/** Giving znodes back, whatever the network does. */
import { ConnectionError, NoNodeError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import { isUnanswered } from "./retry-unanswered.ts";

/**
 * How znodes went: by our `delete`; `missing`: another client had deleted them before; `expiry`:
 * the session ended first, and takes them with it.
 */
export type Removed = "delete" | "missing" | "expiry";

/** Deletes znodes with unique names, over as many connections as it takes. */
export function remove(session: Session, nodes: readonly string[]): Promise<Removed> {
  return unlessOver(session, async () => {
    const removed = await Promise.all(nodes.map((node) => removeOne(session, node)));
    return removed.includes("missing") ? "missing" : "delete";
  });
}

/** Does what takes something back: there is nothing left to do once the session is over. */
export async function unlessOver(
  session: Session,
  removing: () => Promise<"delete" | "missing">,
): Promise<Removed> {
  if (session.state === "lost") return "expiry";
  try {
    return await removing();
  } catch (error) {
    // Also while the session is being closed: the server hears that before anything we could still
    // say.
    const isOver = error instanceof ConnectionError && error.reason === "session-closed";
    if (isOver || isLost(session)) return "expiry";
    throw error;
  }
}

/** Asked anew: the state may have changed while something was awaited. */
function isLost(session: Session): boolean {
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

/** Work that goes on after its caller has left: removals that wait for a server. */
export class BackgroundCleanup {
  readonly #open = new Set<Promise<unknown>>();

  add(chore: Promise<unknown>): void {
    const done: Promise<unknown> = chore.catch(() => {}).finally(() => this.#open.delete(done));
    this.#open.add(done);
  }

  /** Resolves when nothing is left to do. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }
}
