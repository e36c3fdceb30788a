import { describe, expect, test } from "vitest";
import type { LockError } from "../../../src/errors.ts";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { MultiLock } from "../../../src/recipes/locks/multi-lock.ts";
import { Mutex } from "../../../src/recipes/locks/mutex.ts";
import { onBothServers } from "../../contract/on-both-servers.ts";
import { deferred, eventually } from "../../support/eventually.ts";
import { openFor, rejection } from "../../support/open-session.ts";

onBothServers((server) => {
  describe("MultiLock", () => {
    test("takes all, sorted and each once, with one transaction and one flight", async () => {
      const trace: string[] = [];
      const session = openFor(await server.freshChroot(), { trace: (line) => trace.push(line) });
      const multiLock = new MultiLock(session, ["/c", "/a", "/b", "/a"]);
      await (await multiLock.acquire()).release();
      trace.length = 0;
      const held = await multiLock.acquire();
      expect(held.locks.map(({ path }) => path)).toEqual(["/a", "/b", "/c"]);
      expect(new Set(held.locks.map(({ fencingToken }) => fencingToken)).size).toBe(1);
      expect(trace.map((line) => line.split(" ")[0]).slice(0, 4)).toEqual([
        "multi",
        ...Array(3).fill("getChildren2"),
      ]);
      expect(held.isHeld()).toBe(true);
      expect(held.heldForMs()).toBeGreaterThan(0);
      const { results } = await held.fenced([{ op: "create", path: "/done", data: null }]);
      expect(results).toMatchObject([{ op: "create", path: "/done" }]);
      expect(await held.release()).toBe("delete");
      expect(held.isHeld()).toBe(false);
      expect(
        (await Promise.all(held.locks.map(({ path }) => session.getChildren(path)))).flat(),
      ).toEqual([]);
    });

    test("takes all or nothing: busy, late, and nothing stays", async () => {
      const chroot = await server.freshChroot();
      const [holder, other] = [openFor(chroot), openFor(chroot)];
      const held = await new Mutex(holder, "/b", { holder: { who: "ann" } }).acquire();
      const both = new MultiLock(other, ["/a", "/b", "/c"]);
      expect(await rejection(both.acquire({ waitMs: 0 }))).toMatchObject({
        reason: "busy",
        message: "/b is held by ann",
      });
      const late = await both.acquire({ waitMs: 50 }).catch((error: LockError) => error);
      expect(late).toMatchObject({
        reason: "lock-timeout",
        message: "gave up on /a, /b, /c after 50 ms",
      });
      await both.settled();
      expect(await Promise.all(["/a", "/b", "/c"].map((path) => holder.getChildren(path)))).toEqual(
        [[], [held.nodePath.slice(3)], []],
      );
    });

    test("keeps the free locks before the first held one, and queues for none after it", async () => {
      const chroot = await server.freshChroot();
      const [holder, other] = [openFor(chroot), openFor(chroot)];
      const held = await new Mutex(holder, "/b").acquire();
      const events: LockEvent[] = [];
      const all = new MultiLock(other, ["/a", "/b", "/c"], {
        onEvent: (event) => events.push(event),
      });
      const acquiring = all.acquire();
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ event: "waiting", path: "/b", position: 1 }),
      );
      await all.settled();
      const queues = await Promise.all(["/a", "/b", "/c"].map((path) => holder.getChildren(path)));
      expect(queues.map(({ length }) => length)).toEqual([1, 2, 0]);
      await held.release();
      const got = await acquiring;
      expect(got.locks.map(({ path }) => path)).toEqual(["/a", "/b", "/c"]);
      const [a, b, c] = got.locks.map(({ fencingToken }) => fencingToken);
      expect(a).toBe(b);
      expect(c).toBeGreaterThan(b ?? 0n);
      await got.release();
    });

    test("many of them in all orders of paths get through", async () => {
      const chroot = await server.freshChroot();
      const paths = ["/a", "/b", "/c", "/d"];
      let inside = 0;
      let most = 0;
      const clients = Array.from({ length: 6 }, async (_, client) => {
        const session = openFor(chroot);
        const mine = client % 2 === 0 ? paths.slice(0, 3) : paths.slice(1).reverse();
        for (let round = 0; round < 8; round++) {
          await new MultiLock(session, mine).use(async () => {
            most = Math.max(most, ++inside);
            await session.exists("/");
            inside--;
          });
        }
      });
      await Promise.all(clients);
      expect(most).toBe(1);
    });

    test("does not block a contender that takes the locks one by one in the opposite order", async () => {
      const chroot = await server.freshChroot();
      const [sequential, other] = [openFor(chroot), openFor(chroot)];
      const events: LockEvent[] = [];
      const heldB = await new Mutex(sequential, "/b").acquire();
      const both = new MultiLock(other, ["/a", "/b"], { onEvent: (event) => events.push(event) });
      const acquiring = both.acquire();
      await eventually(() => expect(events.at(-1)).toMatchObject({ event: "waiting", path: "/b" }));
      // Each has what the other wants.
      const heldA = await new Mutex(sequential, "/a").acquire();
      expect(heldA.isHeld() && heldB.isHeld()).toBe(true);
      await heldA.release();
      await heldB.release();
      const held = await acquiring;
      expect(held.isHeld()).toBe(true);
      await held.release();
      expect(await Promise.all(["/a", "/b"].map((path) => other.getChildren(path)))).toEqual([
        [],
        [],
      ]);
    });

    test("is lost when one of them is, and says which", async () => {
      const chroot = await server.freshChroot();
      const [session, admin] = [openFor(chroot), openFor(chroot)];
      const held = await new MultiLock(session, ["/a", "/b"]).acquire();
      const lost = deferred<unknown>();
      held.signal.addEventListener("abort", () => lost.resolve(held.signal.reason));
      const [, b] = held.locks;
      await admin.delete(b?.nodePath ?? "");
      expect(await lost.promise).toMatchObject({ reason: "lock-lost", path: "/b" });
      expect(held.isHeld()).toBe(false);
      expect(await rejection(held.fenced([{ op: "check", path: "/a" }]))).toMatchObject({
        reason: "lock-lost",
        path: "/b",
      });
      await held.release();
      expect(await admin.getChildren("/a")).toEqual([]);
    });

    test("fenced writes end with the release", async () => {
      const session = openFor(await server.freshChroot());
      const held = await new MultiLock(session, ["/a", "/b"]).acquire();
      await held.release();
      session.multi = () => Promise.reject(new Error("sent"));
      expect(await rejection(held.fenced([]))).toMatchObject({
        reason: "lock-lost",
        message: "/a is no longer held",
      });
    });

    test("fails when what it has got is lost or asked for while it waits for the rest", async () => {
      const chroot = await server.freshChroot();
      const [session, admin] = [openFor(chroot), openFor(chroot)];
      const held = await new Mutex(admin, "/b").acquire();
      for (const disturb of [
        (node: string) => admin.delete(node),
        (node: string) => admin.setData(node, Buffer.from("__REVOKE__")),
      ]) {
        const events: LockEvent[] = [];
        const both = new MultiLock(session, ["/a", "/b"], {
          onEvent: (event) => events.push(event),
        });
        const failing = rejection(both.acquire());
        await eventually(() =>
          expect(events.at(-1)).toMatchObject({ event: "waiting", path: "/b" }),
        );
        const [own] = await admin.getChildren("/a");
        await disturb(`/a/${own}`);
        expect(await failing).toMatchObject({ name: "LockError", path: "/a" });
        await both.settled();
        expect(await admin.getChildren("/a")).toEqual([]);
        expect(await admin.getChildren("/b")).toHaveLength(1);
      }
      await held.release();
    });

    test("wants at least one path, and none of them /", async () => {
      const session = openFor(await server.freshChroot());
      expect(() => new MultiLock(session, [])).toThrow("no path to lock");
      expect(() => new MultiLock(session, ["/a", "/"])).toThrow("/ cannot be locked");
    });
  });
});
