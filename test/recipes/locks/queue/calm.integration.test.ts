/**
 * A lock that is taken again while nothing else happens on the servers: the ticket alone, and never
 * a lock that somebody else has. On a server of its own, because every transaction of anybody
 * else's counts.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { ConnectionError } from "../../../../src/errors.ts";
import type { LockEvent } from "../../../../src/recipes/locks/events.ts";
import type { LockOptions } from "../../../../src/recipes/locks/lock-recipe.ts";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import type { MultiOp, Session } from "../../../../src/session/session.ts";
import { startFaultProxy } from "../../../support/fault-proxy.ts";
import { openFor, rejection } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";
import { ticket, uuid } from "../../../support/tickets.ts";
import { startServer, type ZooKeeperServer } from "../../../support/zookeeper-server.ts";

const TICKET = `/l/_c_${uuid("0")}-lock-`;
const TICKET_OP: MultiOp = { op: "create", path: TICKET, mode: "ephemeralSequential" };

let server: ZooKeeperServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

/**
 * A lock that was taken so often that the next time is expected to be calm, the requests since the
 * last look, and somebody else.
 */
async function calmLock(options: LockOptions = {}) {
  const address = await freshChroot(server.address);
  const lines: string[] = [];
  const session = openFor(address, { trace: (line) => lines.push(line) });
  const other = openFor(address);
  await Promise.all([session.connected(), other.connected()]);
  const sent = () => {
    const requests = lines.map((line) => line.split(" ")[0]);
    lines.length = 0;
    return requests.filter(
      (word) =>
        word === "exists" || word === "getChildren2" || word === "create" || word === "delete",
    );
  };
  const mutex = new Mutex(session, "/l", options);
  let isCalm = false;
  // Ten turns, or more where the server itself has written something.
  for (let turn = 0; !isCalm && turn < 100; turn++) {
    sent();
    await cycle(mutex);
    isCalm = sent().join() === "create,delete";
    expect(isCalm && turn < 9).toBe(false);
  }
  expect(isCalm).toBe(true);
  return { mutex, session, other, sent };
}

async function cycle(mutex: Mutex): Promise<void> {
  await (await mutex.acquire()).release();
}

/** So many tickets have been made below /l. */
async function made(session: Session): Promise<number> {
  const stat = await session.exists("/l");
  if (stat === undefined) throw new Error("/l is not there");
  return (stat.cversion + stat.numChildren) / 2;
}

test("asks nothing behind its ticket", async () => {
  const { mutex, sent } = await calmLock();
  for (let time = 0; time < 3; time++) await cycle(mutex);
  expect(sent()).toEqual(["create", "delete", "create", "delete", "create", "delete"]);
});

test("nor where releases are not waited for", async () => {
  const { mutex, sent } = await calmLock();
  const releases = [];
  for (let time = 0; time < 3; time++) releases.push((await mutex.acquire()).release());
  await Promise.all(releases);
  expect(sent()).toEqual(["create", "delete", "create", "delete", "create", "delete"]);
});

test("lists when something has happened elsewhere, and looks again until it is calm", async () => {
  const { mutex, other, sent } = await calmLock();
  await other.create("/elsewhere", null);
  await cycle(mutex);
  expect(sent()).toEqual(["create", "getChildren2", "delete"]);
  await cycle(mutex);
  expect(sent()).toEqual(["create", "exists", "delete"]);
  for (let time = 0; time < 7; time++) await cycle(mutex);
  sent();
  await cycle(mutex);
  expect(sent()).toEqual(["create", "delete"]);
});

test("waits for whoever has come in between", async () => {
  const { mutex, other } = await calmLock();
  const ahead = await ticket(other, TICKET);
  expect(await rejection(mutex.acquire({ waitMs: 300 }))).toMatchObject({ reason: "lock-timeout" });
  await other.delete(ahead);
  await cycle(mutex);
});

test("waits for whoever came while it was held", async () => {
  const { mutex, other } = await calmLock();
  const lock = await mutex.acquire();
  const ahead = await ticket(other, TICKET);
  // The next ticket follows this delete directly: only its number tells.
  await lock.release();
  expect(await rejection(mutex.acquire({ waitMs: 300 }))).toMatchObject({ reason: "lock-timeout" });
  await other.delete(ahead);
  await cycle(mutex);
});

test("is not granted after a ticket of ours on a path that was made anew, which was found again and given back", async () => {
  let isClumsy = false;
  const onEvent = ({ event }: LockEvent) => {
    if (isClumsy && event === "queued") throw new Error("clumsy");
  };
  const { mutex, session, other } = await calmLock({ onEvent });
  const before = await made(other);
  await other.multi([
    { op: "delete", path: "/l" },
    { op: "create", path: "/l" },
    ...Array.from({ length: before - 1 }, () => TICKET_OP),
  ]);
  // Ours is made, and its answer lost.
  const multi = session.multi.bind(session);
  session.multi = async (...args) => {
    session.multi = multi;
    await multi(...args);
    throw new ConnectionError("connection-loss", "the connection was lost");
  };
  isClumsy = true;
  await expect(mutex.acquire()).rejects.toThrow("clumsy");
  isClumsy = false;
  await mutex.settled();
  expect(await rejection(mutex.acquire({ waitMs: 300 }))).toMatchObject({ reason: "lock-timeout" });
});

test("is not granted where one transaction has made the path anew, with as many tickets as there had been", async () => {
  const { mutex, other } = await calmLock();
  const before = await made(other);
  const anew: MultiOp[] = [
    { op: "delete", path: "/l" },
    { op: "create", path: "/l" },
  ];
  await other.multi([...anew, ...Array.from({ length: before }, () => TICKET_OP)]);
  expect(await made(other)).toBe(before);
  expect(await rejection(mutex.acquire({ waitMs: 300 }))).toMatchObject({ reason: "lock-timeout" });
});

test("nor where that happened while it was held, and the release found nothing to delete", async () => {
  const { mutex, other } = await calmLock();
  const lock = await mutex.acquire();
  const before = await made(other);
  const anew: MultiOp[] = [
    { op: "delete", path: lock.nodePath },
    { op: "delete", path: "/l" },
    { op: "create", path: "/l" },
  ];
  await other.multi([...anew, ...Array.from({ length: before }, () => TICKET_OP)]);
  // Refused, and the server has counted it: the next ticket follows it directly.
  await lock.release();
  expect(await rejection(mutex.acquire({ waitMs: 300 }))).toMatchObject({ reason: "lock-timeout" });
});

test("with lines that break, and a vandal who makes the path anew with the same numbers: never two at once", async () => {
  const address = await freshChroot(server.address);
  const proxy = await startFaultProxy(server.port);
  onTestFinished(() => proxy.close());
  const vandal = openFor(address);
  const asked: string[] = [];
  const trace = (line: string) => void asked.push(line.split(" ")[0] ?? "");
  const session = openFor(address.replace(server.address, proxy.address), {
    timeoutMs: 20_000,
    trace,
  });
  const mutex = new Mutex(session, "/l");
  const [never, over] = [new Set<string>(), new AbortController()];
  let isVandalInside = false;
  let [taken, anew] = [0, 0];
  const taking = (async () => {
    while (!over.signal.aborted) {
      const lock = await mutex.acquire();
      if (isVandalInside) never.add(lock.nodePath);
      taken++;
      const releasing = lock.release();
      if (taken % 20 === 0) await releasing;
    }
    await mutex.settled();
  })();
  const vandalism = (async () => {
    while (!over.signal.aborted) {
      await pause(1);
      const stat = await vandal.exists("/l");
      if (stat === undefined) continue;
      const before = (stat.cversion + stat.numChildren) / 2;
      // Not for ever more of them: that would be all that happens.
      const tickets = Array.from({ length: before < 2_000 ? before : 0 }, () => TICKET_OP);
      const again: MultiOp[] = [
        { op: "delete", path: "/l" },
        { op: "create", path: "/l" },
        ...tickets,
      ];
      const made = await vandal.multi(again).catch(() => undefined);
      if (made === undefined || tickets.length === 0) continue;
      anew++;
      isVandalInside = true;
      await pause(3);
      isVandalInside = false;
      const nodes = made.results.flatMap((result) =>
        result.op === "create" && result.path !== "/l" ? [result.path] : [],
      );
      await vandal.multi(nodes.map((path) => ({ op: "delete", path })));
    }
  })();
  // On a busy machine for longer, until both have had their turns.
  for (let blow = 0; blow < 30 || (blow < 300 && (taken <= 100 || anew <= 3)); blow++) {
    await pause(100);
    if (blow % 3 === 2) proxy.drop();
  }
  over.abort();
  await Promise.all([taking, vandalism]);
  expect([...never]).toEqual([]);
  // Most of the tickets were calm.
  expect(anew).toBeGreaterThan(3);
  expect(taken).toBeGreaterThan(100);
  const questions = asked.filter((word) => word === "exists" || word === "getChildren2").length;
  expect(questions).toBeLessThan(taken);
}, 60_000);
