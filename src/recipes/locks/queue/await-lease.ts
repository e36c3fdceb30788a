/**
 * A lock is granted with a lease that has some time left: what rests on it would be stopped at once
 * otherwise. A client that queued for a long time only sent cheap heartbeats, so its lease has run
 * out when its turn comes; one committed transaction brings it back, and also shows that the ticket
 * is still there.
 */
import { setTimeout as pause } from "node:timers/promises";
import { NoNodeError } from "../../../errors.ts";
import type { Session } from "../../../session/session.ts";
import { untilAnswered } from "./retry-unanswered.ts";
import { type OwnedZnodes, ticketGone } from "./ticket.ts";

/** The part of the session timeout that must be left when a lock is granted. */
const ENOUGH = 0.25;
/** Requests closer together than this part of the timeout prove no more than one of them. */
const RETRY = 1 / 64;

export interface LeaseOptions {
  readonly signal?: AbortSignal | undefined;
  /** How much of the session timeout must be left. */
  readonly part?: number;
}

export function hasLease(session: Session, part = ENOUGH): boolean {
  return session.leaseForMs() > session.timeoutMs * part;
}

/**
 * Commits `multi [check TICKET]` until the lease has enough time left; at once, where it has.
 * Throws when the ticket below
 * `path` is gone or the session has ended.
 */
export async function awaitLease(
  session: Session,
  path: string,
  { nodes: [node] }: Pick<OwnedZnodes, "nodes">,
  { signal, part = ENOUGH }: LeaseOptions = {},
): Promise<void> {
  while (!hasLease(session, part)) {
    try {
      await untilAnswered(() => session.multi([{ op: "check", path: node }], { signal }));
    } catch (error) {
      throw error instanceof NoNodeError ? ticketGone(path, session) : error;
    }
    if (hasLease(session, part)) return;
    await pause(session.timeoutMs * RETRY, undefined, { ...(signal && { signal }) });
  }
}
