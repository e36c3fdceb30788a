/** When the numbers of a queue's tickets cannot be trusted: docs/adr/0007-ticket-numbers.md. */
import { LockError } from "../../../errors.ts";
import type { Contender } from "./contender.ts";
import type { Ticket } from "./ticket.ts";

/**
 * The counter ends at 2,147,483,647; servers from 3.6 on then give every ticket that number. No
 * lock is granted on the last 1,000 numbers, so that tickets created at the same time stay below
 * the end.
 */
const LAST_NUMBER = 2 ** 31 - 1 - 1_000;

/**
 * Throws LockError near the end of the counter, and beside another client's ticket with our number.
 */
export function checkNumbers(ticket: Ticket, present: readonly Contender[], path: string): void {
  const isTwin = (own: Contender) => (other: Contender) =>
    other.sequence === own.sequence &&
    other.uuid !== ticket.uuid &&
    // Curator's writer that becomes a reader gives its read ticket the number of its write ticket.
    (own.claim === "lock" || other.claim === own.claim);
  if (ticket.contenders.some(({ sequence }) => sequence >= LAST_NUMBER)) {
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
