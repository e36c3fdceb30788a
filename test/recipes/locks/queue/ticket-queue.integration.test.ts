import { describe, expect, test } from "vitest";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import { type Ticket, toTicket } from "../../../../src/recipes/locks/queue/ticket.ts";
import { TicketQueue } from "../../../../src/recipes/locks/queue/ticket-queue.ts";
import { behindProxy } from "../../../support/behind-proxy.ts";
import { openFor, rejection } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";
import { ticket, uuid } from "../../../support/tickets.ts";

const TICKET = `/l/_c_${uuid("0")}-lock-`;

async function cycle(mutex: Mutex): Promise<void> {
  await (await mutex.acquire()).release();
}

describe("a lock that is taken again and again", () => {
  test("is not granted where the path was made anew, with as many tickets as there had been", async () => {
    const address = await freshChroot();
    const other = openFor(address);
    const mutex = new Mutex(openFor(address), "/l");
    for (let time = 0; time < 3; time++) await cycle(mutex);
    await other.delete("/l");
    await other.create("/l", null);
    // The next number is 3, as it would have been on the old path.
    const tickets = [
      await ticket(other, TICKET),
      await ticket(other, TICKET),
      await ticket(other, TICKET),
    ];
    const left = rejection(mutex.acquire({ waitMs: 300 }));
    expect(await left).toMatchObject({ reason: "lock-timeout" });
    expect(await rejection(mutex.acquire({ waitMs: 0 }))).toMatchObject({ reason: "busy" });
    for (const node of tickets) await other.delete(node);
    await cycle(mutex);
  });

  test("is not granted where that happened while the connection was down", async () => {
    const { session, proxy, other } = await behindProxy({ timeoutMs: 20_000 });
    const mutex = new Mutex(session, "/l");
    for (let time = 0; time < 3; time++) await cycle(mutex);
    await proxy.refuse();
    await other.delete("/l");
    await other.create("/l", null);
    for (let time = 0; time < 3; time++) await ticket(other, TICKET);
    await proxy.listen();
    expect(await rejection(mutex.acquire({ waitMs: 3_000 }))).toMatchObject({
      reason: "lock-timeout",
    });
  });

  test("an acquire that does not wait is not refused because of a ticket that is gone", async () => {
    const address = await freshChroot();
    const other = openFor(address);
    const mutex = new Mutex(openFor(address), "/l");
    for (let time = 0; time < 3; time++) await cycle(mutex);
    const ahead = await ticket(other, TICKET);
    for (let time = 0; time < 3; time++) {
      expect(await rejection(mutex.acquire({ waitMs: 0 }))).toMatchObject({ reason: "busy" });
    }
    await other.delete(ahead);
    for (let time = 0; time < 3; time++) await (await mutex.acquire({ waitMs: 0 })).release();
  });
});

describe("a queue", () => {
  function queueOf() {
    const session = openFor("localhost:1");
    const queue = new TicketQueue({ session, mode: "exclusive", path: "/l", onEvent: () => {} });
    const made = (number: number) => {
      const id = uuid(String(number % 10));
      return toTicket([`/l/_c_${id}-lock-${String(number).padStart(10, "0")}`], id, BigInt(number));
    };
    const listing = (...tickets: Ticket[]) => ({
      children: tickets.map(({ nodes: [node] }) => node.slice(3)),
      asOf: tickets.at(-1)?.token ?? 0n,
    });
    return { queue, made, listing };
  }

  test("does not forget a ticket because of a listing that was requested before it was created", () => {
    const { queue, made, listing } = queueOf();
    const [first, second, third] = [made(1), made(2), made(3)];
    queue.note(listing(first, second, third), third);
    queue.note(listing(first, second), second);
    queue.forget(first.contenders[0]);
    expect(queue.isFirst(second)).toBe(true);
    expect(queue.isFirst(third)).toBe(false);
  });

  test("does not remember a ticket that left because of a listing that several tickets share", () => {
    const { queue, made, listing } = queueOf();
    const [first, second, third] = [made(1), made(2), made(3)];
    const shared = listing(first, second, third);
    queue.note(shared, first);
    queue.forget(first.contenders[0]);
    queue.note(shared, second);
    expect(queue.isFirst(second)).toBe(true);
    queue.note(shared, third);
    expect(queue.isFirst(third)).toBe(false);
  });
});
