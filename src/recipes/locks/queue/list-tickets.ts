/** Listings of the path that tickets queue below. */
import { abortable } from "../../../async/abortable.ts";
import type { ReadOptions, Session } from "../../../session/session.ts";
import { untilAnswered } from "./retry-unanswered.ts";

export interface TicketListing {
  readonly children: readonly string[];
  /** The zxid of the last child that was created or deleted before the listing (pzxid). */
  readonly asOf: bigint;
}

/**
 * The first request leaves in this very turn: behind a create of the same turn, it has its ticket.
 */
export async function listTickets(
  session: Session,
  path: string,
  options: ReadOptions,
): Promise<TicketListing> {
  const { children, stat } = await untilAnswered(() => session.getChildren2(path, options));
  return { children, asOf: stat.pzxid };
}

/**
 * One listing for all tickets that are created in one turn: a thousand tickets with a thousand
 * names each would take minutes. It is requested behind all of them, and the server keeps a
 * session's order.
 */
export class SharedListing {
  readonly #session: Session;
  readonly #path: string;
  #next: Promise<TicketListing> | undefined;

  constructor(session: Session, path: string) {
    this.#session = session;
    this.#path = path;
  }

  /** A caller that leaves does not take the listing from the others. */
  next(signal: AbortSignal | undefined): Promise<TicketListing> {
    this.#next ??= Promise.resolve().then(() => {
      this.#next = undefined;
      return listTickets(this.#session, this.#path, {});
    });
    return abortable(this.#next, signal);
  }
}
