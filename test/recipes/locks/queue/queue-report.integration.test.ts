/**
 * What waiters are told of their queue: true within two seconds where a person looks, and for
 * nothing where nobody does.
 */
import { describe, expect, test } from "vitest";
import { Election } from "../../../../src/recipes/locks/election.ts";
import type { LockEvent, Waiting } from "../../../../src/recipes/locks/events.ts";
import type { HeldLock } from "../../../../src/recipes/locks/held-lock.ts";
import type { AcquireOptions, LockOptions } from "../../../../src/recipes/locks/lock-recipe.ts";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import { refreshDelay } from "../../../../src/recipes/locks/queue/wait-turn.ts";
import { ReadWriteLock } from "../../../../src/recipes/locks/read-write-lock.ts";
import { Semaphore } from "../../../../src/recipes/locks/semaphore.ts";
import { UniqueLock } from "../../../../src/recipes/locks/unique-lock.ts";
import type { Session } from "../../../../src/session/session.ts";
import { eventually } from "../../../support/eventually.ts";
import { openFor } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";

const FOLLOWED = { refreshMs: 2_000 };

type Lock = { acquire(options?: AcquireOptions): Promise<HeldLock> };

/** Queues, and resolves when it waits. */
async function wait(
  chroot: string,
  who: string,
  make: (session: Session, options: LockOptions) => Lock,
  options: AcquireOptions = FOLLOWED,
) {
  const events: LockEvent[] = [];
  const trace: string[] = [];
  const session = openFor(chroot, { trace: (line) => trace.push(line) });
  const lock = make(session, {
    holder: { tool: "zksh/1", who, pid: 1 },
    onEvent: (event) => events.push(event),
  });
  const acquiring = lock.acquire(options);
  acquiring.catch(() => {});
  const last = () => events.findLast((event): event is Waiting => event.event === "waiting");
  await eventually(() => expect(events.length).toBeGreaterThan(0));
  await eventually(() => expect(["waiting", "acquired"]).toContain(events.at(-1)?.event));
  return { events, trace, acquiring, last };
}

const mutex = (session: Session, options: LockOptions) => new Mutex(session, "/l", options);
const side = (mode: "read" | "write") => (session: Session, options: LockOptions) =>
  new ReadWriteLock(session, "/l", options)[mode];
const names = (parties: readonly { who?: string }[] | undefined) => parties?.map(({ who }) => who);

describe("a waiter that is followed", () => {
  test("knows who holds, who waits before it, and whom it watches", async () => {
    const chroot = await freshChroot();
    await (await wait(chroot, "ann", mutex)).acquiring;
    await wait(chroot, "bob", mutex);
    const eve = await wait(chroot, "eve", mutex);
    expect(eve.last()).toMatchObject({
      position: 2,
      of: 2,
      inFront: 2,
      holder: { who: "ann" },
      aheadBy: { who: "bob" },
    });
    expect(names(eve.last()?.waiters)).toEqual(["bob"]);
  });

  test("hears within two seconds that the holder, which it does not watch, has left, and that another came", async () => {
    const chroot = await freshChroot();
    const ann = await (await wait(chroot, "ann", mutex)).acquiring;
    const bob = await wait(chroot, "bob", mutex);
    const eve = await wait(chroot, "eve", mutex);
    await wait(chroot, "zoe", mutex);
    const before = performance.now();
    await ann.release();
    await eventually(() =>
      expect(eve.last()).toMatchObject({ position: 1, of: 2, holder: { who: "bob" } }),
    );
    expect(performance.now() - before).toBeLessThan(2_000);
    const gone = eve.events.find(({ event }) => event === "contender-gone");
    expect(gone).toMatchObject({ aheadBy: { who: "ann" } });
    await (await bob.acquiring).release();
    await eve.acquiring;
    expect(eve.events.slice(-2)).toMatchObject([
      { event: "predecessor-gone", aheadBy: { who: "bob" }, heldMs: expect.any(Number) },
      { event: "acquired", hasWaited: true },
    ]);
  });

  test("does not count a holder's time in the queue as time that it holds", async () => {
    const chroot = await freshChroot();
    const ann = await (await wait(chroot, "ann", mutex)).acquiring;
    const bob = await wait(chroot, "bob", mutex);
    const eve = await wait(chroot, "eve", mutex);
    const released = Date.now();
    await ann.release();
    await bob.acquiring;
    await eventually(() => expect(eve.last()).toMatchObject({ holder: { who: "bob" } }));
    // The server's clock and ours are the same here.
    expect(eve.last()?.holder?.acquiredAt).toBeGreaterThanOrEqual(released);
    expect(eve.last()?.holder?.queuedAt).toBeLessThanOrEqual(released);
  });

  test("with two readers in front of its write lock is next, and told both", async () => {
    const chroot = await freshChroot();
    for (const who of ["ann", "bob"]) await (await wait(chroot, who, side("read"))).acquiring;
    const writer = await wait(chroot, "eve", side("write"));
    expect(writer.last()).toMatchObject({ position: 1, of: 1, inFront: 2, holderCount: 2 });
    expect(names(writer.last()?.holders)).toEqual(["ann", "bob"]);
    const reader = await wait(chroot, "zoe", side("read"));
    expect(reader.last()).toMatchObject({
      position: 2,
      of: 2,
      inFront: 1,
      holderCount: 2,
      aheadBy: { mode: "write" },
    });
    expect(names(reader.last()?.holders)).toEqual(["ann", "bob"]);
    expect(names(reader.last()?.waiters)).toEqual(["eve"]);
  });

  test("with an election to wait for knows the leader", async () => {
    const chroot = await freshChroot();
    const elect = (session: Session, options: LockOptions) => new Election(session, "/l", options);
    await (await wait(chroot, "ann", elect)).acquiring;
    const bob = await wait(chroot, "bob", elect);
    expect(bob.last()).toMatchObject({ position: 1, holder: { who: "ann", mode: "leader" } });
  });

  test("with a permit to wait for is told all holders, also those behind others, and the number of waiters", async () => {
    const chroot = await freshChroot();
    const permit = (session: Session, options: LockOptions) =>
      new Semaphore(session, "/s", { ...options, limit: 2 });
    const ann = await (await wait(chroot, "ann", permit)).acquiring;
    await (await wait(chroot, "bob", permit)).acquiring;
    const eve = await wait(chroot, "eve", permit);
    const zoe = await wait(chroot, "zoe", permit);
    for (const { last } of [eve, zoe]) {
      await eventually(() =>
        expect(last()).toMatchObject({ of: 2, permits: { taken: 2, limit: 2 } }),
      );
      expect(names(last()?.holders)).toEqual(["ann", "bob"]);
    }
    expect([eve.last()?.position, zoe.last()?.position]).toEqual([1, 2]);
    expect(names(zoe.last()?.waiters)).toEqual(["eve"]);
    await ann.release();
    await eve.acquiring;
    await eventually(() => expect(names(zoe.last()?.holders)).toEqual(["bob", "eve"]));
    expect(zoe.last()).toMatchObject({ position: 1, of: 1 });
  });

  test("with a unique lock to wait for is told no place in a queue", async () => {
    const chroot = await freshChroot();
    const unique = (session: Session, options: LockOptions) =>
      new UniqueLock(session, "/u", options);
    await (await wait(chroot, "ann", unique)).acquiring;
    const bob = await wait(chroot, "bob", unique);
    expect(bob.last()).toMatchObject({ holder: { who: "ann" }, holderCount: 1 });
    expect(bob.last()).not.toHaveProperty("position");
    expect(bob.last()).not.toHaveProperty("of");
  });
});

describe("a waiter that is not followed", () => {
  test("lists the queue once, whatever its predecessor writes", async () => {
    const chroot = await freshChroot();
    await (await wait(chroot, "ann", mutex)).acquiring;
    const bob = await wait(chroot, "bob", mutex, {});
    // A second after ann has got it, her record says so.
    await eventually(() => expect(bob.last()?.holder?.acquiredAt).toBeDefined());
    expect(bob.trace.filter((line) => line.startsWith("getChildren"))).toHaveLength(1);
  });
});

describe("a look at the queue", () => {
  test("is never as late as two seconds, in long queues never later than a tenth of a second per contender", () => {
    for (const random of [0, 0.5, 0.999]) {
      expect(refreshDelay(2_000, 20, random)).toBeLessThan(2_000);
      expect(refreshDelay(2_000, 500, random)).toBeLessThan(50_000);
      expect(refreshDelay(2_000, 500, random)).toBeGreaterThanOrEqual(30_000);
    }
    expect(refreshDelay(2_000, 20, 0)).not.toBe(refreshDelay(2_000, 20, 0.5));
  });
});
