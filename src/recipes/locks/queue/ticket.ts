/**
 * A place in a queue: ephemeral sequential znodes made in one transaction, found again by the uuid
 * in their names. One, as a rule; two where stock kazoo has to be kept out too; and one for each
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

/**
 * Near the end of the counter the server hands out the same number twice. Nobody may hold a lock on
 * such a number.
 */
const LAST_SEQUENCE = 2 ** 31 - 1 - 1_000;

/** The znodes that stand for us. */
export interface OwnedZnodes {
  /** The one that counts first. */
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
  /** Whose children the tickets are. */
  readonly path: string;
  /** What stands in front of the number, for each znode: `lock-`. */
  readonly labels: readonly string[];
  readonly data: Buffer;
  readonly acl?: readonly Acl[] | undefined;
  /** How the path is made when it is missing. Left out: it must be there. */
  readonly parents?: ParentKind | undefined;
  /**
   * The ACL of the path and its parents where they are missing; open to everybody when left out.
   */
  readonly pathAcl?: readonly Acl[] | undefined;
}

/** A transaction that makes a ticket of each shape. */
export function creates(shapes: readonly TicketShape[], uuid: string): MultiOp[] {
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

/** What that transaction has made. */
export function toTickets(
  shapes: readonly TicketShape[],
  results: readonly MultiResult[],
  uuid: string,
  token: bigint,
): Ticket[] {
  const nodes: string[] = [];
  for (const result of results) if (result.op === "create") nodes.push(result.path);
  if (shapes.length === 1) return [toTicket(nodes, uuid, token)];
  return shapes.map(({ labels }) => toTicket(nodes.splice(0, labels.length), uuid, token));
}

export function toTicket(nodes: readonly string[], uuid: string, token: bigint): Ticket {
  const made: { readonly node: string; readonly contender: Contender }[] = [];
  for (const node of nodes) {
    const contender = parseContender(baseName(node));
    if (contender) made.push({ node, contender });
  }
  if (made.length > 1) made.sort((a, b) => bySequence(a.contender, b.contender));
  const [first] = made;
  if (first === undefined) throw new Error(`no ticket in ${nodes.join(", ")}`);
  if (made.length === 1) return { nodes: [first.node], contenders: [first.contender], uuid, token };
  return {
    nodes: made.map(({ node }) => node) as [string, ...string[]],
    contenders: made.map(({ contender }) => contender) as [Contender, ...Contender[]],
    uuid,
    token,
  };
}

/** Somebody has deleted one of its znodes. */
export function isMissing({ nodes }: OwnedZnodes, { children }: TicketListing): boolean {
  return nodes.some((node) => !children.includes(baseName(node)));
}

/**
 * Why a ticket is not there any more. A server that expires a session deletes its tickets before it
 * tells of the end.
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

/** Its number is one of those that cannot be relied on. */
function isNearLast({ sequence }: Contender): boolean {
  return sequence >= LAST_SEQUENCE;
}

/**
 * Throws where the server's numbers can no longer be relied on: beside another ticket with our
 * number, or near the last one.
 */
export function checkSequence(ticket: Ticket, present: readonly Contender[], path: string): void {
  const isTwin = (own: Contender) => (other: Contender) =>
    other.sequence === own.sequence &&
    other.uuid !== ticket.uuid &&
    // Curator's writer that becomes a reader gives its read ticket the number of its write ticket.
    (own.claim === "lock" || other.claim === own.claim);
  if (ticket.contenders.some(isNearLast)) {
    throw new LockError("sequence-exhausted", `the sequence numbers below ${path} are used up`, {
      path,
      hint: `delete ${path} while no client uses it: the numbers then start again`,
    });
  }
  const twin = ticket.contenders.flatMap((own) => present.find(isTwin(own)) ?? [])[0];
  if (twin === undefined) return;
  throw new LockError(
    "sequence-exhausted",
    `${twin.name} has the same number as our ticket: no order can be told below ${path}`,
    {
      path,
      hint: "another client made up that number: delete its ticket, and let an ACL protect the path",
    },
  );
}
