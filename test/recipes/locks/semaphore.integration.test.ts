import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { Semaphore } from "../../../src/recipes/locks/semaphore.ts";
import { behindProxy, loseReply } from "../../support/behind-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { openFor, rejection } from "../../support/open-session.ts";
import { freshChroot } from "../../support/shared-server.ts";

describe("Semaphore", () => {
  test("lets in as many as there are permits, the rest in order, and leaves nothing", async () => {
    const chroot = await freshChroot();
    const session = openFor(chroot);
    const take = () => new Semaphore(openFor(chroot), "/a/s", { limit: 2 }).acquire();
    const held = [await take(), await take()];
    expect(held[0]).toMatchObject({ mode: "semaphore", path: "/a/s" });
    expect(held[0]?.nodePath).toMatch(/^\/a\/s\/leases\/_c_[0-9a-f-]{36}-lease-0000000000$/);
    const order: number[] = [];
    const waiting: Promise<unknown>[] = [];
    for (const [turn] of [1, 2, 3].entries()) {
      const events: LockEvent[] = [];
      const semaphore = new Semaphore(openFor(chroot), "/a/s", {
        limit: 2,
        onEvent: (event) => events.push(event),
      });
      waiting.push(semaphore.use(async () => void order.push(turn)));
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ event: "waiting", path: "/a/s", position: turn + 1 }),
      );
    }
    // Only the head of the queue may have a lease that is not good yet.
    await eventually(async () => expect(await session.getChildren("/a/s/leases")).toHaveLength(3));
    expect(order).toEqual([]);
    await Promise.all(held.map((lock) => lock.release()));
    await Promise.all(waiting);
    expect(order).toEqual([0, 1, 2]);
    for (const below of ["leases", "locks"]) {
      await eventually(async () => expect(await session.getChildren(`/a/s/${below}`)).toEqual([]));
    }
  });

  test("is one flight where a permit is free", async () => {
    const trace: string[] = [];
    const session = openFor(await freshChroot(), { trace: (line) => trace.push(line) });
    const semaphore = new Semaphore(session, "/s", { limit: 1 });
    await (await semaphore.acquire()).release();
    trace.length = 0;
    await semaphore.acquire();
    const requests = trace
      .filter((line) => !line.startsWith("sync /"))
      .map((line) => line.split(" ")[0]);
    expect(requests.slice(0, 4)).toEqual(["create", "getChildren2", "getChildren2", "getData"]);
  });

  test("never lets in more than the limit", async () => {
    const chroot = await freshChroot();
    let inside = 0;
    let most = 0;
    const clients = Array.from({ length: 6 }, async (_, client) => {
      const session = openFor(chroot);
      const count = (client % 3) + 1;
      const semaphore = new Semaphore(session, "/s", { limit: 3, count });
      for (let round = 0; round < 10; round++) {
        await semaphore.use(async () => {
          inside += count;
          most = Math.max(most, inside);
          await session.exists("/");
          inside -= count;
        });
      }
    });
    await Promise.all(clients);
    expect(most).toBe(3);
  });

  test("gives several permits at once or none: two contenders for all permits both get them", async () => {
    const chroot = await freshChroot();
    const admin = openFor(chroot);
    const one = await new Semaphore(admin, "/s", { limit: 3 }).acquire();
    const all = [1, 2].map(() => new Semaphore(openFor(chroot), "/s", { limit: 3, count: 3 }));
    const waiting = all.map((semaphore) => semaphore.use(async (lock) => lock.nodePaths.length));
    await eventually(async () => expect(await admin.getChildren("/s/leases")).toHaveLength(4));
    await one.release();
    expect(await Promise.all(waiting)).toEqual([3, 3]);
  });

  test("a new contender does not overtake waiters, even if a permit is free", async () => {
    const session = openFor(await freshChroot());
    const semaphore = new Semaphore(session, "/s", { limit: 2 });
    await (await semaphore.acquire()).release();
    // Somebody has just queued, and has no lease yet.
    const ticket = await session.create(`/s/locks/_c_${randomUUID()}-lock-`, null, {
      mode: "ephemeralSequential",
    });
    expect(await rejection(semaphore.acquire({ waitMs: 0 }))).toMatchObject({
      reason: "busy",
      message: "/s has no free permit (limit 2)",
    });
    await semaphore.settled();
    expect(await session.getChildren("/s/leases")).toEqual([]);
    const acquiring = semaphore.acquire();
    await eventually(async () => expect(await session.getChildren("/s/locks")).toHaveLength(2));
    await session.delete(ticket);
    expect((await acquiring).isHeld()).toBe(true);
  });

  test.each([
    { name: "in the queue", isHead: false },
    { name: "at its head", isHead: true },
  ])("gives up $name without a trace", async ({ isHead }) => {
    const chroot = await freshChroot();
    const admin = openFor(chroot);
    const held = await new Semaphore(admin, "/s", { limit: 1 }).acquire();
    const leave = new AbortController();
    const head = isHead ? undefined : new Semaphore(openFor(chroot), "/s", { limit: 1 });
    const heading = head?.acquire();
    if (head)
      await eventually(async () => expect(await admin.getChildren("/s/leases")).toHaveLength(2));
    const events: LockEvent[] = [];
    const semaphore = new Semaphore(openFor(chroot), "/s", {
      limit: 1,
      onEvent: (event) => events.push(event),
    });
    const leaving = rejection(semaphore.acquire({ signal: leave.signal }));
    await eventually(() =>
      expect(events.at(-1)).toMatchObject({ event: "waiting", position: isHead ? 1 : 2 }),
    );
    leave.abort(new Error("enough"));
    expect(await leaving).toMatchObject({ message: "enough" });
    await semaphore.settled();
    expect(await admin.getChildren("/s/locks")).toHaveLength(isHead ? 0 : 1);
    expect(await admin.getChildren("/s/leases")).toHaveLength(isHead ? 1 : 2);
    await held.release();
    await (await heading)?.release();
  });

  test("records the limit with a path that it makes, and refuses another", async () => {
    const session = openFor(await freshChroot());
    const held = await new Semaphore(session, "/s", { limit: 4 }).acquire();
    expect(String((await session.getData("/s")).data)).toBe('{"v":1,"limit":4}');
    const other = new Semaphore(session, "/s", { limit: 5 });
    expect(await rejection(other.acquire())).toMatchObject({
      name: "LockError",
      reason: "limit-mismatch",
      message: "/s has 4 permits, not 5",
    });
    await other.settled();
    expect(await session.getChildren("/s/leases")).toHaveLength(1);
    const changed = await new Semaphore(session, "/s", { limit: 5, setLimit: true }).acquire();
    expect(String((await session.getData("/s")).data)).toBe('{"v":1,"limit":5}');
    await Promise.all([held, changed].map((lock) => lock.release()));
  });

  test("does not change the data of a path that another client created, and refuses kazoo's", async () => {
    const session = openFor(await freshChroot());
    await session.create("/plain", Buffer.from("notes"));
    await (await new Semaphore(session, "/plain", { limit: 1 }).acquire()).release();
    expect(String((await session.getData("/plain")).data)).toBe("notes");
    await session.create("/kazoo", Buffer.from("3"));
    expect(
      await rejection(new Semaphore(session, "/kazoo", { limit: 3, setLimit: true }).acquire()),
    ).toMatchObject({
      reason: "limit-mismatch",
      message: "/kazoo is a kazoo semaphore (3 leases)",
    });
    expect(String((await session.getData("/kazoo")).data)).toBe("3");
  });

  test("makes no path that must exist", async () => {
    const session = openFor(await freshChroot());
    const semaphore = new Semaphore(session, "/s", { limit: 1, mustExist: true });
    expect(await rejection(semaphore.acquire())).toMatchObject({ reason: "no-node" });
    await session.create("/s", null);
    expect((await semaphore.acquire()).isHeld()).toBe(true);
  });

  test.each([
    [{ limit: 0 }, "bad limit 0: use 1 or more"],
    [{ limit: 1.5 }, "bad limit 1.5: use 1 or more"],
    [{ limit: 2, count: 0 }, "bad number of permits 0: use 1 or more"],
    [{ limit: 2, count: 3 }, "cannot take 3 permits: the limit is 2"],
    [
      { limit: 2, compat: "all" as const },
      "compat 'all' is not possible: kazoo's semaphore cannot share a path with zksh",
    ],
  ])("refuses %j", async (options, message) => {
    const session = openFor(await freshChroot());
    expect(() => new Semaphore(session, "/s", options)).toThrow(message);
  });

  test("is lost with any of its permits, and then gives the others back", async () => {
    const chroot = await freshChroot();
    const [session, admin] = [openFor(chroot), openFor(chroot)];
    const held = await new Semaphore(session, "/s", { limit: 3, count: 2 }).acquire();
    await admin.delete(held.nodePaths[1] ?? "");
    await eventually(() =>
      expect(held.signal.reason).toMatchObject({ reason: "lock-lost", path: "/s" }),
    );
    expect(await rejection(held.fenced([]))).toMatchObject({ reason: "lock-lost" });
    await held.release();
    expect(await admin.getChildren("/s/leases")).toEqual([]);
  });

  test("counts what Curator counts: anything below leases", async () => {
    const chroot = await freshChroot();
    const admin = openFor(chroot);
    const held = await new Semaphore(admin, "/s", { limit: 2 }).acquire();
    await admin.create("/s/leases/odd", null, { mode: "ephemeral" });
    const semaphore = new Semaphore(openFor(chroot), "/s", { limit: 2 });
    expect(await rejection(semaphore.acquire({ waitMs: 0 }))).toMatchObject({ reason: "busy" });
    await held.release();
  });

  test("the head that is removed from the queue, or asked to leave, goes", async () => {
    const chroot = await freshChroot();
    const admin = openFor(chroot);
    const held = await new Semaphore(admin, "/s", { limit: 1 }).acquire();
    for (const disturb of [
      (node: string) => admin.delete(node),
      (node: string) => admin.setData(node, Buffer.from("unlock")),
    ]) {
      const semaphore = new Semaphore(openFor(chroot), "/s", { limit: 1 });
      const failing = rejection(semaphore.acquire());
      await eventually(async () => expect(await admin.getChildren("/s/leases")).toHaveLength(2));
      const [ticket] = await admin.getChildren("/s/locks");
      await disturb(`/s/locks/${ticket}`);
      expect(await failing).toMatchObject({ reason: "revoked", path: "/s" });
      await semaphore.settled();
      expect(await admin.getChildren("/s/leases")).toHaveLength(1);
    }
    await held.release();
  });

  test("finds its permits again when the reply was lost", async () => {
    const { session, proxy, other } = await behindProxy();
    const semaphore = new Semaphore(session, "/s", { limit: 2, count: 2 });
    await (await semaphore.acquire()).release();
    const losing = loseReply(
      proxy,
      "lease-",
      async () => (await other.getChildren("/s/leases")).length === 2,
    );
    const acquiring = semaphore.acquire();
    await losing;
    const held = await acquiring;
    expect(await other.getChildren("/s/leases")).toHaveLength(2);
    expect(held.nodePaths).toHaveLength(2);
  });
});
