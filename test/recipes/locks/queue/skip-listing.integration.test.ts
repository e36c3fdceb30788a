/**
 * Tickets whose number tells that nobody has come in between: no listing, and never a lock that
 * somebody else has.
 */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { HeldLock } from "../../../../src/recipes/locks/held-lock.ts";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import { type Ticket, toTicket } from "../../../../src/recipes/locks/queue/ticket.ts";
import { TicketQueue } from "../../../../src/recipes/locks/queue/ticket-queue.ts";
import { ReadWriteLock } from "../../../../src/recipes/locks/read-write-lock.ts";
import { parseAcl } from "../../../../src/session/acl.ts";
import { behindProxy } from "../../../support/behind-proxy.ts";
import { eventually } from "../../../support/eventually.ts";
import { startFaultProxy } from "../../../support/fault-proxy.ts";
import { openFor, rejection } from "../../../support/open-session.ts";
import { freshChroot, sharedServer } from "../../../support/shared-server.ts";
import { ticket, uuid } from "../../../support/tickets.ts";

/** A session, and the requests it has sent since the last look. */
function traced(address: string) {
  const lines: string[] = [];
  const session = openFor(address, { trace: (line) => lines.push(line) });
  const sent = () => {
    const requests = lines
      .map((line) => line.split(" ")[0])
      .filter((word) => word !== "sync" && word !== "attached");
    lines.length = 0;
    return requests;
  };
  return { session, sent };
}

async function cycle(mutex: Mutex): Promise<void> {
  await (await mutex.acquire()).release();
}

const TICKET = `/l/_c_${uuid("0")}-lock-`;

describe("a lock that is taken again and again", () => {
  test("needs no listing when nobody has come in between", async () => {
    const { session, sent } = traced(await freshChroot());
    const mutex = new Mutex(session, "/l");
    await cycle(mutex);
    expect(sent()).toEqual(["createContainer", "create", "getChildren2", "delete"]);
    await cycle(mutex);
    await cycle(mutex);
    expect(sent()).toEqual(["create", "exists", "delete", "create", "exists", "delete"]);
  });

  test("lists when somebody has come in between, and waits for whoever has", async () => {
    const address = await freshChroot();
    const other = openFor(address);
    const { session, sent } = traced(address);
    const mutex = new Mutex(session, "/l");
    for (let time = 0; time < 3; time++) await cycle(mutex);
    const ahead = await ticket(other, TICKET);
    sent();
    const acquiring = mutex.acquire();
    let isHeld = false;
    void acquiring.then(() => {
      isHeld = true;
    });
    await eventually(() => expect(sent()).toContain("getChildren2"));
    await session.sync("/l");
    expect(isHeld).toBe(false);
    await other.delete(ahead);
    await (await acquiring).release();
    // Then not alone, as it seems: the listing leaves with the ticket, until numbers follow each
    // other again.
    sent();
    await cycle(mutex);
    expect(sent()).toEqual(["create", "getChildren2", "delete"]);
    await cycle(mutex);
    expect(sent()).toEqual(["create", "exists", "delete"]);
  });

  test("is not granted beside a child that looks as if numbers had gone further", async () => {
    const address = await freshChroot();
    const other = openFor(address);
    const mutex = new Mutex(openFor(address), "/l");
    await other.create("/l", null);
    await other.create("/l/copy-of-latch-0000000006", null);
    await cycle(mutex);
    const tickets = [];
    for (let number = 2; number <= 6; number++) tickets.push(await ticket(other, TICKET));
    expect(tickets.at(-1)).toBe(`${TICKET}0000000006`);
    expect(await rejection(mutex.acquire({ waitMs: 300 }))).toMatchObject({
      reason: "lock-timeout",
    });
  });

  test("nor where the path was made anew while nobody could read it", async () => {
    const address = await freshChroot();
    const other = openFor(address);
    const mutex = new Mutex(openFor(address), "/l");
    for (let time = 0; time < 3; time++) await cycle(mutex);
    await other.setAcl("/l", parseAcl("world:anyone:cda"));
    await cycle(mutex);
    await other.delete("/l");
    await other.create("/l", null);
    for (let number = 0; number <= 3; number++) await ticket(other, TICKET);
    expect(await rejection(mutex.acquire({ waitMs: 300 }))).toMatchObject({
      reason: "lock-timeout",
    });
  });

  test("is not granted where the path was made anew, with as many tickets as there had been", async () => {
    const address = await freshChroot();
    const other = openFor(address);
    const mutex = new Mutex(openFor(address), "/l");
    for (let time = 0; time < 3; time++) await cycle(mutex);
    await other.delete("/l");
    await other.create("/l", null);
    // The next number is 3, as if nobody had been there.
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

  test("nor where that happened while the connection was down", async () => {
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

  test("whoever does not wait is not sent away because of somebody who has gone", async () => {
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
  /** With tickets by number, on a path that is watched. */
  async function queueOf() {
    const session = openFor(await freshChroot());
    await session.create("/l", null);
    const { stat } = await session.getData("/l");
    const queue = new TicketQueue({ session, mode: "exclusive", path: "/l", onEvent: () => {} });
    queue.foresight({ mayWait: true });
    const foresight = queue.foresight({ mayWait: true });
    const foresees = (ticket: Ticket) => foresight?.knows(ticket, stat);
    const foreseesUnseen = (ticket: Ticket) => foresight?.knows(ticket, undefined);
    const made = (number: number) => {
      const id = uuid(String(number % 10));
      return toTicket([`/l/_c_${id}-lock-${String(number).padStart(10, "0")}`], id, BigInt(number));
    };
    const listing = (...tickets: Ticket[]) => ({
      children: tickets.map(({ nodes: [node] }) => node.slice(3)),
      asOf: tickets.at(-1)?.token ?? 0n,
      czxid: stat.czxid,
      nextNumber: Number(tickets.at(-1)?.token ?? -1) + 1,
    });
    return { queue, made, listing, foresees, foreseesUnseen };
  }

  test("does not forget a ticket because of a listing from before it", async () => {
    const { queue, made, listing, foresees } = await queueOf();
    const [first, second, third] = [made(1), made(2), made(3)];
    queue.note(listing(first), first);
    expect(await foresees(second)).toBe(true);
    queue.note(listing(first), first);
    queue.left(first);
    expect(queue.isFirst(second)).toBe(true);
    expect(await foresees(third)).toBe(true);
    expect(queue.isFirst(third)).toBe(false);
  });

  test("waits for what was answered just before", async () => {
    const { queue, made, listing, foresees } = await queueOf();
    const [first, second] = [made(1), made(2)];
    const early = foresees(second);
    queue.note(listing(first), first);
    expect(await early).toBe(true);
  });

  test("does not take the end of a ticket for a proof when the path may be another one than it knows", async () => {
    const { queue, made, listing, foresees, foreseesUnseen } = await queueOf();
    const [first, next] = [made(1), made(2)];
    queue.note(listing(first), first);
    expect(await foresees(made(5))).toBe(false);
    queue.gone(first, next.token - 1n);
    expect(await foreseesUnseen(next)).toBe(false);
  });

  test("does not rely on numbers near the last", async () => {
    const { queue, made, listing, foresees } = await queueOf();
    const [last, next] = [made(2_147_482_646), made(2_147_482_647)];
    queue.note(listing(last), last);
    expect(await foresees(next)).toBe(false);
  });
});

describe("many who want it at once", () => {
  test("one listing for all of them, and all get it in their order", async () => {
    const { session, sent } = traced(await freshChroot());
    const mutex = new Mutex(session, "/l");
    let inside = 0;
    const order: number[] = [];
    const turns = Array.from({ length: 200 }, async (_, index) => {
      const lock = await mutex.acquire();
      expect(++inside).toBe(1);
      order.push(index);
      inside--;
      await lock.release();
    });
    await Promise.all(turns);
    expect(order).toEqual(Array.from({ length: 200 }, (_, index) => index));
    const listings = sent().filter((request) => request === "getChildren2");
    expect(listings.length).toBeLessThanOrEqual(2);
  });

  test("who gives up in the middle leaves a place that others know of", async () => {
    const { session } = traced(await freshChroot());
    const mutex = new Mutex(session, "/l");
    const first = await mutex.acquire();
    const leave = new AbortController();
    const second = rejection(mutex.acquire({ signal: leave.signal }));
    const third = mutex.acquire();
    leave.abort(new Error("enough"));
    expect(await second).toMatchObject({ message: "enough" });
    await first.release();
    await (await third).release();
    await eventually(async () => expect(await session.getChildren("/l")).toEqual([]));
  });

  test.each(["mutex", "read/write"] as const)(
    "two sessions, several at a time, and the path deleted whenever it is empty: %s, never two at once",
    async (kind) => {
      const address = await freshChroot();
      const vandal = openFor(address);
      let isOver = false;
      const vandalism = (async () => {
        while (!isOver) {
          await vandal.delete("/l").catch(() => {});
        }
      })();
      let writers = 0;
      let readers = 0;
      let most = 0;
      const takers = [0, 1, 2].map((which) => {
        const session = openFor(address);
        const mutex = new Mutex(session, "/l");
        const lock = new ReadWriteLock(session, "/l");
        return async (turn: number) => {
          const isReader = kind === "read/write" && (turn + which) % 3 === 0;
          const side = kind === "mutex" ? mutex : isReader ? lock.read : lock.write;
          const held = await side.acquire();
          if (isReader) readers++;
          else writers++;
          most = Math.max(most, writers > 0 ? writers + readers : 1);
          if (turn % 5 === 0) await session.sync("/");
          if (isReader) readers--;
          else writers--;
          await held.release();
        };
      });
      for (let round = 0; round < 6; round++) {
        await Promise.all(
          takers.map(async (take) => {
            for (let turn = 0; turn < 10; turn++) await take(turn);
            await Promise.all([take(0), take(1), take(2)]);
          }),
        );
        await eventually(async () => expect(await vandal.exists("/l")).toBeUndefined());
      }
      isOver = true;
      await vandalism;
      expect(most).toBe(1);
    },
    30_000,
  );
});

test("lines that break and lag, and the path deleted whenever it is empty: never two at once", async () => {
  const address = sharedServer();
  const chroot = await freshChroot(address);
  const vandal = openFor(chroot);
  const ending = new AbortController();
  const { signal } = ending;
  const inside = new Set<HeldLock>();
  const tokens: bigint[] = [];
  const proxies = await Promise.all(
    [0, 1, 2].map(() => startFaultProxy(Number(address.split(":")[1]))),
  );
  onTestFinished(() => void Promise.all(proxies.map((proxy) => proxy.close())));
  const takers = proxies.map(async (proxy) => {
    const mutex = new Mutex(
      openFor(chroot.replace(address, proxy.address), { timeoutMs: 20_000 }),
      "/l",
    );
    while (!signal.aborted) {
      const lock = await mutex.acquire();
      expect([...inside].filter((other) => other.isHeld())).toEqual([]);
      inside.add(lock);
      tokens.push(lock.fencingToken);
      await pause(tokens.length % 3);
      inside.delete(lock);
      void lock.release();
    }
    await mutex.settled();
  });
  const vandalism = (async () => {
    while (!signal.aborted) await vandal.delete("/l").catch(() => {});
  })();
  // On a busy machine for longer, until enough of them have had it.
  for (let blow = 0; blow < 100 || (tokens.length <= 100 && blow < 1_000); blow++) {
    const proxy = proxies[blow % 3];
    if (blow % 4 === 0) proxy?.drop();
    proxy?.delay((blow * 7) % 5);
    await pause(40);
  }
  for (const proxy of proxies) proxy.delay(0);
  ending.abort();
  await Promise.all([...takers, vandalism]);
  expect(tokens.length).toBeGreaterThan(100);
  expect(tokens).toEqual([...tokens].sort((a, b) => Number(a - b)));
}, 120_000);
