/**
 * Creates tickets, each with the listing that decides whether it is first.
 *
 * A ticket must survive a lost reply: the znode may exist although we never heard so, and would
 * then block every client, ourselves too. find-tickets.ts finds it again.
 */
import { NoNodeError } from "../../../errors.ts";
import type { Committed, CreateMode, Session } from "../../../session/session.ts";
import type { BackgroundCleanup } from "../background-cleanup.ts";
import { askForPaths, parentMode } from "./create-lock-path.ts";
import { findAfterFailure, removeSpares } from "./find-tickets.ts";
import { listTickets, type TicketListing } from "./list-tickets.ts";
import { removeZnodes } from "./remove-znodes.ts";
import { ConnectionLosses, isUnanswered } from "./retry-unanswered.ts";
import { createOps, nodesOf, type Ticket, type TicketShape, toTickets } from "./ticket.ts";

/** A ticket, and a listing of its queue that has it. */
export interface CreatedTicket {
  readonly ticket: Ticket;
  readonly listing: TicketListing;
}

export interface CreateTicketsOptions {
  readonly signal: AbortSignal | undefined;
  /** Takes the removals that go on in the background when this is cut short. */
  readonly cleanup: BackgroundCleanup;
  /**
   * Paths that exist, or were requested. Others are created first, which costs the server a
   * transaction for each level.
   */
  readonly knownPaths: Set<string>;
  /**
   * Called in the turn in which the tickets are requested: a listing that has them. Left out: each
   * ticket has a listing of its own.
   */
  readonly list?: (path: string) => Promise<TicketListing>;
}

/** The requests of one try. They leave together, and the server keeps their order. */
interface Flight {
  /** What kept the path from being created, if anything did. */
  readonly obstacle: Promise<unknown> | undefined;
  readonly creating: Promise<Committed>;
  readonly listings: readonly Promise<TicketListing>[];
}

/** Creates a ticket of each shape in one transaction, all or none, and lists their queues. */
export async function createTickets(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  options: CreateTicketsOptions,
): Promise<CreatedTicket[]> {
  const { signal, cleanup, knownPaths } = options;
  const losses = new ConnectionLosses();
  for (let isRetry = false; ; isRetry = true) {
    signal?.throwIfAborted();
    const kind = missingPaths(shapes, knownPaths)[0]?.parents;
    const mode = kind && (await parentMode(session, kind, { signal }));
    const flight = send(session, shapes, uuid, mode, options);
    let tickets: Ticket[];
    try {
      const { results, zxid } = await flight.creating;
      tickets = toTickets(shapes, results, uuid, zxid);
    } catch (error) {
      if (error instanceof NoNodeError && shapes.every(({ parents }) => parents)) {
        const why = await flight.obstacle;
        if (why !== undefined && !isUnanswered(why)) throw why;
        // The path was deleted, or its creation was not answered: create it with the next try.
        knownPaths.clear();
        continue;
      }
      const found = await findAfterFailure(session, shapes, uuid, error, { signal, cleanup });
      if (found) return found;
      const final = losses.add(error, shapes.map(({ path }) => path).join(", "));
      if (final) throw final;
      continue;
    }
    for (const { path } of shapes) knownPaths.add(path);
    try {
      const listings = await Promise.all(flight.listings);
      const created = tickets.flatMap((ticket, index) => {
        const listing = listings[index];
        return listing ? [{ ticket, listing }] : [];
      });
      if (isRetry) for (const one of created) cleanup.add(removeSpares(session, one));
      return created;
    } catch (error) {
      cleanup.add(removeZnodes(session, nodesOf(tickets)));
      // The path was deleted with its tickets right after they were created: try again.
      if (!(error instanceof NoNodeError)) throw error;
    }
  }
}

/** Paths that may be missing, then the tickets, then the listings: each finds what it needs. */
function send(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  mode: CreateMode | undefined,
  { signal, knownPaths, list }: CreateTicketsOptions,
): Flight {
  // Another acquire of the same object may have requested some of them meanwhile.
  const missing = mode === undefined ? [] : missingPaths(shapes, knownPaths);
  // Without the holder's record, which is for those who may read the ticket.
  const paths = missing.map(({ path, pathAcl: acl }) => ({ path, acl }));
  const obstacle = mode && askForPaths(session, paths, mode, { signal });
  for (const { path } of missing) knownPaths.add(path);
  const creating = session.multi(createOps(shapes, uuid), { signal });
  const listings = shapes.map(({ path }) =>
    list ? list(path) : listTickets(session, path, { signal }),
  );
  // Where the tickets are not created, the listings are not awaited.
  for (const listing of listings) listing.catch(() => {});
  return { obstacle, creating, listings };
}

function missingPaths(shapes: readonly TicketShape[], known: ReadonlySet<string>): TicketShape[] {
  return shapes.filter(({ path, parents }) => parents && !known.has(path));
}
