/**
 * A ticket: ephemeral sequential znodes that one transaction creates, found again by the uuid in
 * their names. One znode, as a rule; two where stock kazoo has to be kept out too; one for each
 * permit of a semaphore.
 */
import { ConnectionError, LockError, type ZkshError } from "../../../errors.ts";
import { baseName, joinPath } from "../../../session/path.ts";
import {
  type Acl,
  type MultiOp,
  type MultiResult,
  OPEN_ACL,
  type Session,
} from "../../../session/session.ts";
import { bySequence, type Contender, parseContender } from "./contender.ts";
import type { ParentKind } from "./create-lock-path.ts";
import type { TicketListing } from "./list-tickets.ts";

/** Ephemeral znodes of our session: a ticket, or the one znode of a unique lock. */
export interface OwnedZnodes {
  /** The first is the one that counts. */
  readonly nodes: readonly [string, ...string[]];
  /** czxid: grows from one holder to the next. */
  readonly token: bigint;
}

export interface Ticket extends OwnedZnodes {
  readonly uuid: string;
  /** What the names of `nodes` say, in their order: the lowest number first. */
  readonly contenders: readonly [Contender, ...Contender[]];
}

export interface TicketShape {
  /** The znode whose children the tickets are. */
  readonly path: string;
  /** What stands in front of the number, for each znode: `lock-`. */
  readonly labels: readonly string[];
  readonly data: Buffer;
  readonly acl?: readonly Acl[] | undefined;
  /** How the path is created when it is missing. Left out: it must exist. */
  readonly parents?: ParentKind | undefined;
  /** The ACL of the path and its parents where they are missing. Left out: open to all clients. */
  readonly pathAcl?: readonly Acl[] | undefined;
}

/** The operations that create a ticket of each shape. */
export function createOps(shapes: readonly TicketShape[], uuid: string): MultiOp[] {
  const ops: MultiOp[] = [];
  for (const { path, labels, data, acl = OPEN_ACL } of shapes) {
    for (const label of labels) {
      ops.push({
        op: "create",
        path: joinPath(path, `_c_${uuid}-${label}`),
        data,
        mode: "ephemeralSequential",
        acl,
      });
    }
  }
  return ops;
}

/** The tickets that {@link createOps} has created. */
export function toTickets(
  shapes: readonly TicketShape[],
  results: readonly MultiResult[],
  uuid: string,
  token: bigint,
): Ticket[] {
  const nodes: string[] = [];
  for (const result of results) if (result.op === "create") nodes.push(result.path);
  return shapes.map(({ labels }) => toTicket(nodes.splice(0, labels.length), uuid, token));
}

export function toTicket(nodes: readonly string[], uuid: string, token: bigint): Ticket {
  const created = nodes
    .flatMap((node) => {
      const contender = parseContender(baseName(node));
      return contender ? [{ node, contender }] : [];
    })
    .sort((a, b) => bySequence(a.contender, b.contender));
  if (created.length === 0) throw new Error(`no ticket in ${nodes.join(", ")}`);
  return {
    nodes: created.map(({ node }) => node) as [string, ...string[]],
    contenders: created.map(({ contender }) => contender) as [Contender, ...Contender[]],
    uuid,
    token,
  };
}

export function nodesOf(tickets: readonly Ticket[]): string[] {
  return tickets.flatMap(({ nodes }) => nodes);
}

/** One of its znodes is not in the listing: another client has deleted it. */
export function isMissing({ nodes }: OwnedZnodes, { children }: TicketListing): boolean {
  return nodes.some((node) => !children.includes(baseName(node)));
}

/**
 * Why a ticket is gone. A server that expires a session deletes its tickets before it tells of the
 * end.
 */
export function ticketGone(path: string, session: Session): ZkshError {
  if (!session.isAlive()) return sessionLost();
  return new LockError("revoked", `another client deleted our ticket in the queue of ${path}`, {
    path,
  });
}

export function sessionLost(): ConnectionError {
  return new ConnectionError(
    "session-expired",
    "the session ended, and the ticket in the queue with it",
  );
}
