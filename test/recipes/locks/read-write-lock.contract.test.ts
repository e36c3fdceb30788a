import { describe, expect, test } from "vitest";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { Mutex } from "../../../src/recipes/locks/mutex.ts";
import { ReadWriteLock } from "../../../src/recipes/locks/read-write-lock.ts";
import { onBothServers } from "../../contract/on-both-servers.ts";
import { behindProxy, loseReply } from "../../support/behind-proxy.ts";
import { deferred, eventually } from "../../support/eventually.ts";
import { openFor, rejection } from "../../support/open-session.ts";

onBothServers((server) => {
  describe("ReadWriteLock", () => {
    test("readers share the lock, writers hold it alone, and no contender overtakes another", async () => {
      const chroot = await server.freshChroot();
      const order: string[] = [];
      const leave = {
        w1: deferred(),
        r1: deferred(),
        r2: deferred(),
        w2: deferred(),
        r3: deferred(),
      };
      const done: Promise<unknown>[] = [];
      for (const name of ["w1", "r1", "r2", "w2", "r3"] as const) {
        const events: LockEvent[] = [];
        const lock = new ReadWriteLock(openFor(chroot), "/l", {
          onEvent: (event) => events.push(event),
        });
        const side = name.startsWith("w") ? lock.write : lock.read;
        done.push(
          side.use(async () => {
            order.push(name);
            await leave[name].promise;
          }),
        );
        await eventually(() => ["acquired", "waiting"].includes(events.at(-1)?.event ?? ""));
      }
      expect(order).toEqual(["w1"]);
      leave.w1.resolve();
      await eventually(() => expect([...order].sort()).toEqual(["r1", "r2", "w1"]));
      leave.r1.resolve();
      await done[1];
      expect(order).toHaveLength(3);
      leave.r2.resolve();
      await eventually(() => expect(order.at(-1)).toBe("w2"));
      expect(order).toHaveLength(4);
      leave.w2.resolve();
      await eventually(() => expect(order.at(-1)).toBe("r3"));
      leave.r3.resolve();
      await Promise.all(done);
    });

    test("a reader watches the nearest writer before it: those behind are not woken by writers further ahead", async () => {
      const chroot = await server.freshChroot();
      const first = await new ReadWriteLock(openFor(chroot), "/l").write.acquire();
      const second = new ReadWriteLock(openFor(chroot), "/l").write.acquire();
      const events: LockEvent[] = [];
      await eventually(async () => expect(await openFor(chroot).getChildren("/l")).toHaveLength(2));
      const reader = new ReadWriteLock(openFor(chroot), "/l", {
        onEvent: (event) => events.push(event),
      }).read.acquire();
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ event: "waiting", position: 2 }),
      );
      await first.release();
      const held = await second;
      expect(events.filter(({ event }) => event === "predecessor-gone")).toEqual([]);
      await held.release();
      await (await reader).release();
    });

    test("a mutex on the same path keeps both sides out, and is kept out by both", async () => {
      const chroot = await server.freshChroot();
      const [one, two] = [openFor(chroot), openFor(chroot)];
      const [mutex, lock] = [new Mutex(one, "/l"), new ReadWriteLock(two, "/l")];
      const held = await mutex.acquire();
      for (const side of [lock.read, lock.write]) {
        expect(await rejection(side.acquire({ waitMs: 0 }))).toMatchObject({ reason: "busy" });
      }
      await held.release();
      for (const side of [lock.read, lock.write]) {
        const inside = await side.acquire();
        expect(await rejection(mutex.acquire({ waitMs: 0 }))).toMatchObject({ reason: "busy" });
        await inside.release();
      }
    });

    test("a mutex does not take a writer that becomes a reader for one that has left", async () => {
      const chroot = await server.freshChroot();
      const lock = new ReadWriteLock(openFor(chroot), "/l");
      const write = await lock.write.acquire();
      const events: LockEvent[] = [];
      const acquiring = new Mutex(openFor(chroot), "/l", {
        onEvent: (event) => events.push(event),
      }).acquire();
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ event: "waiting", position: 1 }),
      );
      const read = await lock.downgrade(write);
      const ahead = read.nodePath.slice(3);
      await eventually(() => expect(events.at(-1)).toMatchObject({ event: "waiting", ahead }));
      await read.release();
      expect((await acquiring).isHeld()).toBe(true);
    });

    test("a downgrade keeps the place: no other contender gets the lock in between", async () => {
      const chroot = await server.freshChroot();
      const [session, other] = [openFor(chroot), openFor(chroot)];
      const lock = new ReadWriteLock(session, "/l", { holder: { who: "ann" } });
      const write = await lock.write.acquire();
      const events: LockEvent[] = [];
      const writer = new ReadWriteLock(other, "/l", {
        onEvent: (event) => events.push(event),
      }).write.acquire();
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ event: "waiting", position: 1 }),
      );
      const read = await lock.downgrade(write);
      expect(read).toMatchObject({ mode: "read", path: "/l" });
      expect(read.nodePath).toBe(write.nodePath.replace("__WRIT__", "__READ__"));
      expect(JSON.parse(String((await other.getData(read.nodePath)).data))).toMatchObject({
        who: "ann",
        mode: "read",
      });
      expect(write.isHeld()).toBe(false);
      expect(write.signal.aborted).toBe(false);
      expect(await write.release()).toBe("delete");
      expect(read.isHeld()).toBe(true);
      // The writer has seen its predecessor go and found the reader in its place.
      const ahead = read.nodePath.slice(3);
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ event: "waiting", position: 1, ahead }),
      );
      const reader = new ReadWriteLock(other, "/l").read;
      expect(await rejection(reader.acquire({ waitMs: 0 }))).toMatchObject({ reason: "busy" });
      expect((await other.getData(read.nodePath)).stat.czxid).toBe(read.fencingToken);
      await read.release();
      await (await writer).release();
      expect(await other.getChildren("/l")).toEqual([]);
    });

    test("downgrade with kazoo's tickets keeps both numbers", async () => {
      const session = openFor(await server.freshChroot());
      const lock = new ReadWriteLock(session, "/l", { compat: "all" });
      const write = await lock.write.acquire();
      const read = await lock.downgrade(write);
      const names = (await session.getChildren("/l")).sort();
      expect(names.map((name) => name.slice(-19)).sort()).toEqual([
        "-__READ__0000000000",
        "__rlock__0000000001",
      ]);
      await read.release();
      expect(await session.getChildren("/l")).toEqual([]);
    });

    test("downgrade gives the lock back when a listener throws", async () => {
      const session = openFor(await server.freshChroot());
      let acquired = 0;
      const onEvent = ({ event }: LockEvent) => {
        if (event === "acquired" && ++acquired === 2) throw new Error("mine");
      };
      const lock = new ReadWriteLock(session, "/l", { onEvent });
      const write = await lock.write.acquire();
      expect(await rejection(lock.downgrade(write))).toMatchObject({ message: "mine" });
      expect(await session.getChildren("/l")).toEqual([]);
    });

    test("downgrade survives a lost reply", async () => {
      const { session, proxy, other } = await behindProxy({}, server.address);
      const lock = new ReadWriteLock(session, "/l");
      const write = await lock.write.acquire();
      const isReader = async () =>
        (await other.getChildren("/l"))[0]?.includes("__READ__") ?? false;
      const losing = loseReply(proxy, "__READ__", isReader);
      const downgrading = lock.downgrade(write);
      await losing;
      const held = await downgrading;
      expect(held.isHeld()).toBe(true);
      expect((await other.getData(held.nodePath)).stat.czxid).toBe(held.fencingToken);
      expect(write.signal.aborted).toBe(false);
    });

    test("a lost lock, a lock that is held twice and a read lock cannot be downgraded", async () => {
      const chroot = await server.freshChroot();
      const [session, admin] = [openFor(chroot), openFor(chroot)];
      const lock = new ReadWriteLock(session, "/l");
      const write = await lock.write.acquire();
      write.again();
      expect(await rejection(lock.downgrade(write))).toMatchObject({ reason: "usage" });
      await write.release();
      await admin.delete(write.nodePath);
      expect(await rejection(lock.downgrade(write))).toMatchObject({ reason: "lock-lost" });
      await eventually(() => expect(write.signal.aborted).toBe(true));
      const read = await lock.read.acquire();
      expect(await rejection(lock.downgrade(read))).toMatchObject({ reason: "usage" });
      await read.release();
    });

    test("a reader that wants to write as well is refused instead of waiting for itself", async () => {
      const session = openFor(await server.freshChroot());
      const lock = new ReadWriteLock(session, "/l");
      const read = await lock.read.acquire();
      expect(await rejection(lock.write.acquire({ holding: read }))).toMatchObject({
        name: "UsageError",
        message: "a read lock cannot become a write lock: /l",
      });
      await read.release();
      const write = await lock.write.acquire({ holding: read });
      expect(await lock.write.acquire({ holding: write })).toBe(write);
      expect(write.count).toBe(2);
    });
  });
});
