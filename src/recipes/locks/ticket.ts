/**
 * A place in a queue: one ephemeral sequential znode, or two with the same uuid where stock kazoo has to be kept out too.
 *
 * Making one must survive a lost reply: the znode may exist although we never heard so, and would then block everybody,
 * ourselves too. The uuid in its name finds it again; it counts only if our session owns it.
 */
import { ConnectionError, DeadlineError, InterruptedError, LockError, NoNodeError, ZkshError } from "../../errors.ts";
import type { Acl, CallOptions, CreateMode, MultiOp, Session } from "../../session/session.ts";
import { type Contender, compareSequences, parseContender } from "./contender.ts";

/** Near the end of the counter the server hands out the same number twice. Nobody may hold a lock on such a number. */
const LAST_SEQUENCE = 2 ** 31 - 1 - 1_000;

export interface Ticket {
  /** The znodes, the one that counts first. */
  readonly nodes: readonly [string, ...string[]];
  readonly contender: Contender;
  readonly uuid: string;
  /** czxid: grows from one holder to the next. */
  readonly token: bigint;
}

export interface TicketShape {
  /** The lock's path. */
  readonly path: string;
  /** What stands in front of the number, the one that counts first: `lock-`. */
  readonly labels: readonly [string, ...string[]];
  readonly data: Buffer;
  readonly acl?: readonly Acl[];
  /** Containers go away by themselves when empty. Undefined: the path must exist. */
  readonly parents: "container" | "persistent" | undefined;
}

/** A ticket, and who was in the queue right after it was made. */
export interface Entered {
  readonly ticket: Ticket;
  readonly children: readonly string[];
}

/**
 * Makes a ticket and lists the queue in one flight: the server keeps a session's order, so the ticket is in the list.
 * `chores` collects what has to be finished in the background when this is cut short.
 */
export async function enter(
  session: Session,
  shape: TicketShape,
  uuid: string,
  { signal, chores }: { signal: AbortSignal; chores: Chores },
): Promise<Entered> {
  const { path } = shape;
  for (;;) {
    signal.throwIfAborted();
    const creating = session.multi(creates(shape, uuid), { signal });
    const listing = session.getChildren(path, { signal });
    // Whatever becomes of the ticket decides; without one the list is of no use.
    listing.catch(() => {});
    try {
      const { results, zxid } = await creating;
      const nodes = results.flatMap((result) => (result.op === "create" ? [result.path] : []));
      const ticket = toTicket(nodes, uuid, zxid);
      try {
        return { ticket, children: await listing };
      } catch (error) {
        chores.add(remove(session, ticket.nodes));
        throw error;
      }
    } catch (error) {
      if (error instanceof NoNodeError && shape.parents) await makeParents(session, path, shape.parents, { signal });
      else if (isFateUnknown(error)) {
        const found = await findAgain(session, path, uuid, { signal });
        if (found) return found;
      } else {
        chores.add(removeLater(session, path, uuid, error));
        throw error;
      }
    }
  }
}

function creates({ path, labels, data, acl }: TicketShape, uuid: string): MultiOp[] {
  return labels.map((label) => ({
    op: "create",
    path: `${path === "/" ? "" : path}/_c_${uuid}-${label}`,
    data,
    mode: "ephemeralSequential",
    ...(acl && { acl }),
  }));
}

function toTicket(nodes: readonly string[], uuid: string, token: bigint): Ticket {
  const parsed = nodes
    .flatMap((node) => parseContender(nameOf(node)) ?? [])
    .sort((a, b) => compareSequences(a.sequence, b.sequence));
  const [node, ...others] = nodes;
  const [contender] = parsed;
  if (node === undefined || contender === undefined) throw new Error(`no ticket in ${nodes.join(", ")}`);
  return { nodes: [node, ...others], contender, uuid, token };
}

/** Throws where the server's numbers can no longer be relied on: beside another ticket with our number, or near the last one. */
export function checkSequence(ticket: Ticket, contenders: readonly Contender[], path: string): void {
  const { sequence, claim } = ticket.contender;
  const isTwin = (other: Contender) =>
    other.sequence === sequence &&
    other.uuid !== ticket.uuid &&
    // Curator's writer that becomes a reader gives its read ticket the number of its write ticket.
    !(claim !== "lock" && other.claim !== claim);
  if (sequence < LAST_SEQUENCE && !contenders.some(isTwin)) return;
  throw new LockError("sequence-exhausted", `the sequence numbers below ${path} are used up`, {
    path,
    hint: `delete ${path} while nobody uses it: numbers then begin again`,
  });
}

/** A request that was written and not answered: it may have been carried out. */
function isFateUnknown(error: unknown): boolean {
  return error instanceof ConnectionError && error.reason === "connection-loss";
}

/** Looks for the ticket whose reply was lost. The sync makes sure that the server asked now has heard of it. */
async function findAgain(
  session: Session,
  path: string,
  uuid: string,
  options: CallOptions,
): Promise<Entered | undefined> {
  for (;;) {
    try {
      const syncing = session.sync(path, options);
      syncing.catch(() => {});
      const children = await session.getChildren(path, options);
      await syncing;
      const own = children.filter((name) => name.includes(uuid)).map((name) => `${path === "/" ? "" : path}/${name}`);
      const [first] = own;
      if (first === undefined) return undefined;
      const { stat } = await session.getData(first, options);
      if (stat.ephemeralOwner !== session.id) return undefined;
      return { ticket: toTicket(inOrder(own), uuid, stat.czxid), children };
    } catch (error) {
      if (error instanceof NoNodeError) return undefined;
      if (!isFateUnknown(error)) throw error;
    }
  }
}

function inOrder(nodes: readonly string[]): string[] {
  const number = (node: string) => parseContender(nameOf(node))?.sequence ?? 0;
  return [...nodes].sort((a, b) => compareSequences(number(a), number(b)));
}

async function makeParents(
  session: Session,
  path: string,
  kind: "container" | "persistent",
  options: CallOptions,
): Promise<void> {
  const parts = path.split("/").filter((part) => part !== "");
  const levels = parts.map((_, depth) => `/${parts.slice(0, depth + 1).join("/")}`);
  const make = (level: string, mode: CreateMode) => session.create(level, null, { ...options, mode });
  const all = async (mode: CreateMode) => {
    const made = await Promise.allSettled(levels.map((level) => make(level, mode)));
    // A missing level shows as NoNode below it, an existing one as NodeExists: only the last one counts.
    const last = made.at(-1);
    if (last?.status === "rejected" && !(last.reason instanceof ZkshError && last.reason.reason === "node-exists")) {
      throw made.find((one) => one.status === "rejected" && !isNodeExists(one.reason))?.reason ?? last.reason;
    }
  };
  try {
    await all(kind);
  } catch (error) {
    // Servers before 3.5.3 have no containers.
    if (kind === "persistent" || !(error instanceof ZkshError) || error.reason !== "unimplemented") throw error;
    await all("persistent");
  }
}

function isNodeExists(error: unknown): boolean {
  return error instanceof ZkshError && error.reason === "node-exists";
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

/**
 * Deletes znodes, over as many connections as it takes. `expiry`: the session ended first, and takes them with it.
 */
export async function remove(session: Session, nodes: readonly string[]): Promise<"delete" | "expiry"> {
  for (;;) {
    try {
      await Promise.all(nodes.map((node) => removeOne(session, node)));
      return "delete";
    } catch (error) {
      if (session.state === "lost") return "expiry";
      if (!isFateUnknown(error)) throw error;
    }
  }
}

async function removeOne(session: Session, node: string): Promise<void> {
  try {
    await session.delete(node);
  } catch (error) {
    if (!(error instanceof NoNodeError)) throw error;
  }
}

/** After an attempt was cut short: waits until the fate of its request is known, and takes back what it made. */
async function removeLater(session: Session, path: string, uuid: string, error: unknown): Promise<void> {
  const wasCut = error instanceof InterruptedError || error instanceof DeadlineError;
  if (!wasCut || error.outcome === undefined) return;
  await error.outcome.catch(() => {});
  if (session.state === "lost") return;
  const found = await findAgain(session, path, uuid, {});
  if (found) await remove(session, found.ticket.nodes);
}

export function nameOf(node: string): string {
  return node.slice(node.lastIndexOf("/") + 1);
}
