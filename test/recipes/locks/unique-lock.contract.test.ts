import { describe, expect, test } from "vitest";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { UniqueLock } from "../../../src/recipes/locks/unique-lock.ts";
import { onBothServers } from "../../contract/on-both-servers.ts";
import { behindProxy } from "../../support/behind-proxy.ts";
import { deferred, eventually } from "../../support/eventually.ts";
import { openFor, rejection } from "../../support/open-session.ts";

onBothServers((server) => {
  describe("UniqueLock", () => {
    test("is one ephemeral znode at the path, made with its parents and deleted at the end", async () => {
      const session = openFor(await server.freshChroot());
      const lock = await new UniqueLock(session, "/app/job/leader", {
        holder: { who: "ann" },
      }).acquire();
      const { data, stat } = await session.getData("/app/job/leader");
      expect(stat.ephemeralOwner).toBe(session.id);
      expect(lock.fencingToken).toBe(stat.czxid);
      const record = JSON.parse(String(data));
      expect(record).toMatchObject({ v: 1, tool: "zksh", who: "ann", mode: "exclusive" });
      expect(Date.parse(record.acquired)).toBeGreaterThanOrEqual(Date.parse(record.queued));
      expect(await lock.release()).toBe("delete");
      expect(await session.exists("/app/job/leader")).toBeUndefined();
    });

    test("does not wait, or not longer than told", async () => {
      const chroot = await server.freshChroot();
      const [holder, other] = [openFor(chroot), openFor(chroot)];
      const held = await new UniqueLock(holder, "/l", { holder: { who: "ann" } }).acquire();
      const lock = new UniqueLock(other, "/l");
      expect(await rejection(lock.acquire({ waitMs: 0 }))).toMatchObject({
        reason: "busy",
        message: "/l is held by ann",
      });
      expect(await rejection(lock.acquire({ waitMs: 30 }))).toMatchObject({
        reason: "lock-timeout",
      });
      expect(held.isHeld()).toBe(true);
    });

    test("cannot fence writes: the next holder's znode has the same path", async () => {
      const session = openFor(await server.freshChroot());
      const lock = await new UniqueLock(session, "/l").acquire();
      const write = () => rejection(lock.fenced([{ op: "create", path: "/late", data: null }]));
      expect(await write()).toMatchObject({
        name: "UsageError",
        message: "a unique lock cannot fence writes: /l",
      });
      await lock.release();
      const next = await new UniqueLock(session, "/l").acquire();
      expect(await write()).toMatchObject({ reason: "lock-lost", message: "/l is no longer held" });
      expect(await session.exists("/late")).toBeUndefined();
      await next.release();
    });

    test("two of one session do not take each other's znode for their own", async () => {
      const session = openFor(await server.freshChroot());
      const held = await new UniqueLock(session, "/l").acquire();
      expect(await rejection(new UniqueLock(session, "/l").acquire({ waitMs: 0 }))).toMatchObject({
        reason: "busy",
      });
      await held.release();
    });

    test("wakes every waiter when it is released; those that are too late report it and wait on", async () => {
      const chroot = await server.freshChroot();
      const held = await new UniqueLock(openFor(chroot), "/l").acquire();
      const events: (LockEvent & { by: number })[] = [];
      let inside = 0;
      const waiting = [0, 1, 2].map((by) =>
        new UniqueLock(openFor(chroot), "/l", {
          onEvent: (event) => events.push({ ...event, by }),
        }).use(async () => {
          expect(++inside).toBe(1);
          await eventually(() => events.some(({ event }) => event === "outrun"));
          inside--;
        }),
      );
      await eventually(() => expect(new Set(events.map(({ by }) => by)).size).toBe(3));
      await held.release();
      await Promise.all(waiting);
      expect(events.filter(({ event }) => event === "acquired")).toHaveLength(3);
    });

    test("respects a znode that another program made, ephemeral or not", async () => {
      const chroot = await server.freshChroot();
      const [session, other] = [openFor(chroot), openFor(chroot)];
      await other.create("/l", Buffer.from("web3:4711"));
      const events: LockEvent[] = [];
      const acquiring = new UniqueLock(session, "/l", {
        onEvent: (event) => events.push(event),
      }).acquire();
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ event: "waiting", holder: { note: "web3:4711" } }),
      );
      // A change of its data is none of the lock.
      await other.setData("/l", Buffer.from("web3:4712"));
      await other.delete("/l");
      expect((await acquiring).isHeld()).toBe(true);
    });

    test("refuses the path of a lock that queues", async () => {
      const session = openFor(await server.freshChroot());
      await session.create("/l", null);
      await session.create("/l/_c_x-lock-", null, { mode: "ephemeralSequential" });
      expect(await rejection(new UniqueLock(session, "/l").acquire())).toMatchObject({
        reason: "not-a-unique-lock",
      });
    });

    test("waits for a znode that it may not read", async () => {
      const chroot = await server.freshChroot();
      const [session, other] = [openFor(chroot), openFor(chroot)];
      await other.addAuth("digest", Buffer.from("ann:secret"));
      await other.create("/l", null, {
        mode: "ephemeral",
        acl: [{ perms: 31, scheme: "auth", id: "" }],
      });
      const waiting = deferred();
      const acquiring = new UniqueLock(session, "/l", {
        onEvent: () => waiting.resolve(),
      }).acquire();
      await waiting.promise;
      await other.delete("/l");
      expect((await acquiring).isHeld()).toBe(true);
    });

    test("finds its znode again when the reply was lost, and makes no second", async () => {
      const { session, proxy, other } = await behindProxy({}, server.address);
      proxy.stall("to-client");
      const acquiring = new UniqueLock(session, "/l").acquire();
      const ghost = await eventually(async () => (await other.exists("/l")) ?? false);
      proxy.drop();
      proxy.heal();
      const lock = await acquiring;
      expect(lock.fencingToken).toBe(ghost.czxid);
      await lock.release();
      expect(await other.exists("/l")).toBeUndefined();
    });

    test("does not take another session's znode for its own after a lost reply", async () => {
      const { session, proxy, other } = await behindProxy({}, server.address);
      proxy.stall("to-client");
      const cancel = new AbortController();
      const waiting = deferred();
      const lock = new UniqueLock(session, "/l", {
        onEvent: ({ event }) => event === "waiting" && waiting.resolve(),
      });
      const acquiring = rejection(lock.acquire({ signal: cancel.signal }));
      await eventually(async () => (await other.exists("/l")) !== undefined);
      await other.delete("/l");
      const held = await new UniqueLock(other, "/l").acquire();
      proxy.drop();
      proxy.heal();
      await waiting.promise;
      cancel.abort(new Error("enough"));
      expect(await acquiring).toMatchObject({ message: "enough" });
      await lock.settled();
      expect(held.isHeld()).toBe(true);
    });

    test("cancelled with the create in flight, leaves nothing", async () => {
      const { session, proxy, other } = await behindProxy({}, server.address);
      proxy.stall("to-client");
      const cancel = new AbortController();
      const lock = new UniqueLock(session, "/l");
      const acquiring = rejection(lock.acquire({ signal: cancel.signal }));
      await eventually(async () => (await other.exists("/l")) !== undefined);
      cancel.abort(new Error("enough"));
      expect(await acquiring).toMatchObject({ message: "enough" });
      proxy.resume();
      await lock.settled();
      expect(await other.exists("/l")).toBeUndefined();
    });

    test("a release whose reply was lost does not delete the znode of the next holder", async () => {
      const { session, proxy, other } = await behindProxy({}, server.address);
      const lock = await new UniqueLock(session, "/l").acquire();
      // Its own watch is set.
      await session.sync("/l");
      proxy.stall("to-client");
      const releasing = lock.release();
      const next = await new UniqueLock(other, "/l").acquire();
      proxy.drop();
      proxy.heal();
      expect(await releasing).toBe("delete");
      expect(await other.exists("/l")).toMatchObject({ czxid: next.fencingToken });
      expect(next.isHeld()).toBe(true);
    });

    test("is lost when another client deletes its znode, and leaves the next holder's alone", async () => {
      const chroot = await server.freshChroot();
      const [session, other] = [openFor(chroot), openFor(chroot)];
      const lock = await new UniqueLock(session, "/l").acquire();
      await other.delete("/l");
      await eventually(() => expect(lock.signal.aborted).toBe(true));
      const next = await new UniqueLock(other, "/l").acquire();
      await lock.release();
      expect(await other.exists("/l")).toMatchObject({ czxid: next.fencingToken });
    });
  });
});
