/**
 * Making tickets must survive a lost reply: the znodes may exist although we never heard so, and
 * would then block everybody, ourselves too. The uuid in their names finds them again; they count
 * only if our session owns them.
 */
import { DeadlineError, InterruptedError, NoNodeError } from "../../../errors.ts";
import { joinPath } from "../../../session/path.ts";
import type { CallOptions, Session } from "../../../session/session.ts";
import { askForPaths, parentMode } from "./create-lock-path.ts";
import { listTickets, type TicketListing } from "./list-tickets.ts";
import { type BackgroundCleanup, remove } from "./remove-znodes.ts";
import { ConnectionLosses, isUnanswered, untilAnswered } from "./retry-unanswered.ts";
import { creates, type Ticket, type TicketShape, toTicket, toTickets } from "./ticket.ts";

/** A ticket, and who was in the queue right after it was made. */
export interface CreatedTickets {
  readonly ticket: Ticket;
  readonly listing: TicketListing;
}

export interface CreateTicketsOptions {
  readonly signal: AbortSignal | undefined;
  /** Collects what has to be finished in the background when this is cut short. */
  readonly chores: BackgroundCleanup;
  /**
   * Paths that are there, or asked for: others are made first, which costs the server a transaction
   * for each level.
   */
  readonly knownPaths: Set<string>;
  /**
   * Called in the turn in which the tickets are requested: a listing that has them. Left out: each
   * has its own.
   */
  readonly list?: (path: string) => Promise<TicketListing>;
}

/**
 * Makes a ticket of each shape in one transaction, all or none, and lists their queues. Paths that
 * may be missing, tickets and lists leave in one flight: the server keeps a session's order, so
 * each ticket finds its path and is in its list.
 */
export async function createTickets(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  options: CreateTicketsOptions,
): Promise<CreatedTickets[]> {
  const { signal, chores, knownPaths } = options;
  const { list = (path) => listTickets(session, path, { signal }) } = options;
  const losses = new ConnectionLosses();
  for (let isAgain = false; ; isAgain = true) {
    signal?.throwIfAborted();
    const isUnknown = ({ path, parents }: TicketShape) => parents && !knownPaths.has(path);
    const kind = shapes.find(isUnknown)?.parents;
    const mode = kind && (await parentMode(session, kind, { signal }));
    // Asked for once by all who come at the same time.
    const unknown = shapes.filter(isUnknown);
    // Nothing of the ticket but its path: its record is for those who may read the ticket.
    const paths = unknown.map(({ path, pathAcl: acl }) => ({ path, acl }));
    const obstacle = mode && askForPaths(session, paths, mode, { signal });
    for (const { path } of unknown) knownPaths.add(path);
    const creating = session.multi(creates(shapes, uuid), { signal });
    const listings = shapes.map(({ path }) => list(path));
    // Whatever becomes of the tickets decides; without them the lists are of no use.
    for (const listing of listings) listing.catch(() => {});
    let tickets: Ticket[];
    try {
      const { results, zxid } = await creating;
      tickets = toTickets(shapes, results, uuid, zxid);
      for (const { path } of shapes) knownPaths.add(path);
    } catch (error) {
      if (error instanceof NoNodeError && shapes.every(({ parents }) => parents)) {
        const why = await obstacle;
        if (why !== undefined && !isUnanswered(why)) throw why;
        knownPaths.clear();
        continue;
      }
      const found = await afterFailure(session, shapes, uuid, error, { signal, chores });
      if (found) return found;
      const final = losses.add(error, shapes.map(({ path }) => path).join(", "));
      if (final) throw final;
      continue;
    }
    try {
      const entered = (await Promise.all(listings)).flatMap((listing, index) => {
        const ticket = tickets[index];
        return ticket ? [{ ticket, listing }] : [];
      });
      if (isAgain)
        for (const [index, one] of entered.entries())
          chores.add(removeSpares(session, shapes[index]?.path ?? "/", one));
      return entered;
    } catch (error) {
      chores.add(
        remove(
          session,
          tickets.flatMap(({ nodes }) => nodes),
        ),
      );
      // Deleted with all that was below, right after the ticket was made.
      if (!(error instanceof NoNodeError)) throw error;
    }
  }
}

/**
 * Prepares another try after a create that failed, or gives what it made after all; throws what is
 * final.
 */
async function afterFailure(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  error: unknown,
  { signal, chores }: Pick<CreateTicketsOptions, "signal" | "chores">,
): Promise<CreatedTickets[] | undefined> {
  if (!isUnanswered(error)) {
    const wasCut = error instanceof InterruptedError || error instanceof DeadlineError;
    if (wasCut && error.outcome) chores.add(takeBack(session, shapes, uuid, error.outcome));
    throw error;
  }
  try {
    return await findAgain(session, shapes, uuid, { signal });
  } catch (failure) {
    chores.add(takeBack(session, shapes, uuid));
    throw failure;
  }
}

/**
 * Looks for tickets whose reply was lost. The sync makes sure that the server asked now has heard
 * of them.
 */
async function findAgain(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  options: CallOptions,
): Promise<CreatedTickets[] | undefined> {
  const found = await Promise.all(shapes.map((shape) => findTicket(session, shape, uuid, options)));
  const entered = found.flatMap((one) => one ?? []);
  const isWhole = entered.every(
    ({ ticket }, index) => ticket.nodes.length === shapes[index]?.labels.length,
  );
  if (entered.length === shapes.length && isWhole) return entered;
  // Somebody has deleted some of them meanwhile: half a place is none.
  await remove(
    session,
    entered.flatMap(({ ticket }) => ticket.nodes),
  );
  return undefined;
}

async function findTicket(
  session: Session,
  shape: TicketShape,
  uuid: string,
  options: CallOptions,
): Promise<CreatedTickets | undefined> {
  const { path } = shape;
  try {
    const syncing = untilAnswered(() => session.sync(path, options));
    syncing.catch(() => {});
    const listing = await listTickets(session, path, options);
    await syncing;
    const own = listing.children
      .filter((name) => name.includes(uuid))
      .map((name) => joinPath(path, name));
    const [first] = own;
    if (first === undefined) return undefined;
    const stat = await untilAnswered(() => session.exists(first, options));
    // Somebody has deleted it since it was listed; what there was beside it must not stay behind.
    if (stat === undefined) return findTicket(session, shape, uuid, options);
    if (stat.ephemeralOwner !== session.id) return undefined;
    return { ticket: toTicket(own, uuid, stat.czxid), listing };
  } catch (error) {
    if (error instanceof NoNodeError) return undefined;
    throw error;
  }
}

/**
 * After an attempt was cut short: waits until the fate of its request is known, and takes back what
 * it made.
 */
async function takeBack(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  outcome: Promise<unknown> = Promise.resolve(),
): Promise<void> {
  await outcome.catch(() => {});
  const found = await findAgain(session, shapes, uuid, {});
  await remove(
    session,
    (found ?? []).flatMap(({ ticket }) => ticket.nodes),
  );
}

/**
 * A create that was held up on its old connection may have been carried out after we had looked for
 * it.
 */
async function removeSpares(
  session: Session,
  path: string,
  { ticket, listing }: CreatedTickets,
): Promise<void> {
  const spares = listing.children
    .filter((name) => name.includes(ticket.uuid))
    .map((name) => joinPath(path, name))
    .filter((node) => !ticket.nodes.includes(node));
  if (spares.length > 0) await remove(session, spares);
}
