/** Giving znodes back, whatever the network does. */
import { ConnectionError, NoNodeError } from "../../errors.ts";
import type { Session } from "../../session/session.ts";
import { untilAnswered } from "./unanswered.ts";

/** `expiry`: the session ended first, and takes them with it. */
export type Removed = "delete" | "expiry";

/**
 * Deletes znodes whose names nobody else uses, over as many connections as it takes. `deleted` is told when, where it was this
 * very request that did it.
 */
export function remove(session: Session, nodes: readonly string[], deleted?: (zxid: bigint) => void): Promise<Removed> {
  return unlessOver(session, async () => {
    await Promise.all(nodes.map((node) => untilAnswered(() => removeOne(session, node, deleted))));
  });
}

/** Does what takes something back: there is nothing left to do once the session is over. */
export async function unlessOver(session: Session, removing: () => Promise<void>): Promise<Removed> {
  if (session.state === "lost") return "expiry";
  try {
    await removing();
    return "delete";
  } catch (error) {
    // Also while the session is being closed: the server hears that before anything we could still say.
    const isOver = error instanceof ConnectionError && error.reason === "session-closed";
    if (isOver || isLost(session)) return "expiry";
    throw error;
  }
}

/** Asked anew: the state may have changed while something was awaited. */
function isLost(session: Session): boolean {
  return session.state === "lost";
}

async function removeOne(session: Session, path: string, deleted?: (zxid: bigint) => void): Promise<void> {
  try {
    const { zxid } = await session.multi([{ op: "delete", path }]);
    deleted?.(zxid);
  } catch (error) {
    if (!(error instanceof NoNodeError)) throw error;
  }
}

/** Work that goes on after its caller has left: removals that wait for a server. */
export class Chores {
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
