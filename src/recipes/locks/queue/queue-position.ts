/** Who holds, who waits, and where a ticket stands, by the names in a listing and our own rules. */

import type { LockMode } from "../holder-record.ts";
import { blocks, bySequence, type Claim, type Contender } from "./contender.ts";
import type { Ticket } from "./ticket.ts";

export interface QueuePosition {
  /** All who hold, first come first; each client once. */
  readonly holders: readonly Contender[];
  /** Those who wait, came before the ticket, and keep it waiting. */
  readonly waiters: readonly Contender[];
  /** Of the holders and those waiters, how many keep the ticket waiting. */
  readonly inFront: number;
  /** How many wait, the ticket's own client among them. */
  readonly of: number;
}

const MODES: Readonly<Record<Claim, LockMode>> = {
  lock: "exclusive",
  read: "read",
  write: "write",
  lease: "semaphore",
  latch: "leader",
};

/** What a contender wants. */
export function modeOf({ claim }: Contender): LockMode {
  return MODES[claim];
}

/** `present` in the order of their numbers. One pass: a queue can have thousands. */
export function queuePosition(
  present: readonly Contender[],
  { contenders: [own], uuid }: Ticket,
): QueuePosition {
  const holders: Contender[] = [];
  const waiters: Contender[] = [];
  const all = new Clients();
  const exclusive = new Clients();
  let [of, inFront] = [0, 0];
  let last: string | undefined;
  for (const contender of present) {
    if (!sharesQueue(own.claim, contender)) continue;
    const client = clientOf(contender);
    const isFirstTicket = client !== last;
    last = client;
    const isWaiting = (contender.claim === "read" ? exclusive : all).hasOther(client);
    all.add(client);
    if (contender.claim !== "read") exclusive.add(client);
    // One client's two tickets have numbers in a row: they were made in one transaction.
    if (!isFirstTicket) continue;
    const isInFront =
      contender.uuid !== uuid && bySequence(contender, own) < 0 && blocks(own.claim, contender);
    if (isWaiting) of += 1;
    else holders.push(contender);
    if (isWaiting && isInFront) waiters.push(contender);
    if (isInFront) inFront += 1;
  }
  return { holders, waiters, inFront, of };
}

/**
 * Locks and read/write locks on one path wait for each other; leases and latches only for their
 * like.
 */
function sharesQueue(claim: Claim, other: Contender): boolean {
  if (claim === "lease" || claim === "latch") return other.claim === claim;
  return other.claim !== "lease" && other.claim !== "latch";
}

function clientOf({ uuid, name }: Contender): string {
  return uuid ?? name;
}

/** The clients seen so far, as far as it matters: whether there is another one. */
class Clients {
  #first: string | undefined;
  #hasTwo = false;

  add(client: string): void {
    this.#first ??= client;
    this.#hasTwo ||= client !== this.#first;
  }

  hasOther(client: string): boolean {
    return this.#first !== undefined && (this.#hasTwo || this.#first !== client);
  }
}
