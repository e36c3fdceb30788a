/**
 * Finds the tickets of a create that was interrupted or whose reply was lost, and has them deleted
 * if the caller has left. The uuid in their names finds them; they count only if our session owns
 * them.
 */
import { DeadlineError, InterruptedError, NoNodeError } from "../../../errors.ts";
import { joinPath, parentPath } from "../../../session/path.ts";
import type { CallOptions, Session } from "../../../session/session.ts";
import type { CreatedTicket, CreateTicketsOptions } from "./create-tickets.ts";
import { listTickets } from "./list-tickets.ts";
import { removeZnodes } from "./remove-znodes.ts";
import { isUnanswered, untilAnswered } from "./retry-unanswered.ts";
import { nodesOf, type TicketShape, toTicket } from "./ticket.ts";

/**
 * The tickets that a failed request created after all; undefined where it created none, so that it
 * may be repeated. Throws an error that is final.
 */
export async function findAfterFailure(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  error: unknown,
  { signal, cleanup }: Pick<CreateTicketsOptions, "signal" | "cleanup">,
): Promise<CreatedTicket[] | undefined> {
  if (!isUnanswered(error)) {
    const wasCutShort = error instanceof InterruptedError || error instanceof DeadlineError;
    if (wasCutShort && error.outcome) cleanup.add(takeBack(session, shapes, uuid, error.outcome));
    throw error;
  }
  try {
    return await findAll(session, shapes, uuid, { signal });
  } catch (failure) {
    cleanup.add(takeBack(session, shapes, uuid));
    throw failure;
  }
}

/**
 * A create that was delayed on its old connection may have been carried out after we had looked for
 * it: removes what has the ticket's uuid and is not the ticket.
 */
export async function removeSpares(
  session: Session,
  { ticket, listing }: CreatedTicket,
): Promise<void> {
  const path = parentPath(ticket.nodes[0]);
  const spares = listing.children
    .filter((name) => name.includes(ticket.uuid))
    .map((name) => joinPath(path, name))
    .filter((node) => !ticket.nodes.includes(node));
  if (spares.length > 0) await removeZnodes(session, spares);
}

/** A ticket of each shape, or undefined and none of them left. */
async function findAll(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  options: CallOptions,
): Promise<CreatedTicket[] | undefined> {
  const found = await Promise.all(shapes.map((shape) => findOne(session, shape, uuid, options)));
  const tickets = found.flatMap((one) => one ?? []);
  const isWhole = tickets.every(
    ({ ticket }, index) => ticket.nodes.length === shapes[index]?.labels.length,
  );
  if (tickets.length === shapes.length && isWhole) return tickets;
  // Another client has deleted some of them: what is left must not block the queue.
  await removeZnodes(session, nodesOf(tickets.map(({ ticket }) => ticket)));
  return undefined;
}

async function findOne(
  session: Session,
  shape: TicketShape,
  uuid: string,
  options: CallOptions,
): Promise<CreatedTicket | undefined> {
  const { path } = shape;
  try {
    // After the sync the server that answers now knows of the ticket, if there is one.
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
    // Another client has deleted it since; a second znode of the ticket may still be there.
    if (stat === undefined) return findOne(session, shape, uuid, options);
    if (stat.ephemeralOwner !== session.id) return undefined;
    return { ticket: toTicket(own, uuid, stat.czxid), listing };
  } catch (error) {
    if (error instanceof NoNodeError) return undefined;
    throw error;
  }
}

/** Waits until it is known what became of a request that was cut short, and removes its tickets. */
async function takeBack(
  session: Session,
  shapes: readonly TicketShape[],
  uuid: string,
  outcome: Promise<unknown> = Promise.resolve(),
): Promise<void> {
  await outcome.catch(() => {});
  const found = await findAll(session, shapes, uuid, {});
  await removeZnodes(session, nodesOf((found ?? []).map(({ ticket }) => ticket)));
}
