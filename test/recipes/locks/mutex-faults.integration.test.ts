/** What happens to a lock when lines, servers and sessions fail. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { Mutex } from "../../../src/recipes/locks/mutex.ts";
import { OPEN_ACL, type Session } from "../../../src/session/session.ts";
import { behindProxy, loseReply } from "../../support/behind-proxy.ts";
import { deferred, eventually } from "../../support/eventually.ts";
import { fourLetterWord } from "../../support/four-letter-word.ts";
import { openFor, rejection } from "../../support/open-session.ts";
import { freshChroot } from "../../support/shared-server.ts";
import { startServer, type ZooKeeperServer } from "../../support/zookeeper-server.ts";

/**
 * Short for a session, and long enough for a busy machine to see it suspended before it is lost.
 */
const SHORT_MS = 2_500;

/** Ticks of half a second: sessions may be as short as one. */
let server: ZooKeeperServer;
beforeAll(async () => {
  server = await startServer({ tickTime: 500 });
});
afterAll(() => server.stop());

async function watchCount(): Promise<number> {
  return Number(
    /^zk_watch_count\s+(\d+)$/m.exec(await fourLetterWord(server.address, "mntr"))?.[1],
  );
}

async function waiting(session: Session, options: { signal?: AbortSignal; waitMs?: number } = {}) {
  const events: LockEvent[] = [];
  const mutex = new Mutex(session, "/l", { onEvent: (event) => events.push(event) });
  const acquiring = mutex.acquire(options);
  acquiring.catch(() => {});
  await eventually(() => expect(events.at(-1)?.event).toBe("waiting"));
  return { mutex, acquiring, events };
}

describe("a create whose reply was lost", () => {
  test.each([
    { compat: "curator", tickets: 1 },
    { compat: "all", tickets: 2 },
  ] as const)(
    "is found again: one contender, its own token ($compat)",
    async ({ compat, tickets }) => {
      const { session, proxy, other } = await behindProxy();
      await other.create("/l", null);
      const losing = loseReply(
        proxy,
        "-lock-",
        async () => (await other.getChildren("/l")).length === tickets,
      );
      const acquiring = new Mutex(session, "/l", { compat }).acquire();
      await losing;
      const lock = await acquiring;
      expect(await other.getChildren("/l")).toHaveLength(tickets);
      expect((await other.getData(lock.nodePath)).stat.czxid).toBe(lock.fencingToken);
      expect(lock.nodePaths).toHaveLength(tickets);
      await lock.release();
      expect(await other.getChildren("/l")).toEqual([]);
    },
  );

  test("is made again when it had not been carried out", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/l", null);
    proxy.stall("to-server");
    const acquiring = new Mutex(session, "/l").acquire();
    await session.connected();
    await new Promise((resolve) => setImmediate(resolve));
    proxy.drop();
    proxy.heal();
    const lock = await acquiring;
    expect(await other.getChildren("/l")).toEqual([lock.nodePath.slice(3)]);
  });

  test("does not hide a contender that came meanwhile from others on the same object", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/l", null);
    const events: LockEvent[] = [];
    const mutex = new Mutex(session, "/l", { onEvent: (event) => events.push(event) });
    // The ticket is found in a listing, and takes its time until it is known to be ours.
    const known = deferred();
    const asked = deferred();
    const exists = session.exists.bind(session);
    session.exists = async (...args) => {
      session.exists = exists;
      asked.resolve();
      await known.promise;
      return exists(...args);
    };
    const losing = loseReply(
      proxy,
      "-lock-",
      async () => (await other.getChildren("/l")).length === 1,
    );
    const first = mutex.acquire();
    await losing;
    await asked.promise;
    const between = await waiting(other);
    const [, second] = [await session.sync("/l"), mutex.acquire()];
    await eventually(() => expect(events.at(-1)).toMatchObject({ event: "waiting", position: 2 }));
    known.resolve();
    const lock = await first;
    // A change of the one in between makes who waits behind it look again at what is known.
    const [node = ""] = (await other.getChildren("/l")).filter((name) => name.endsWith("1"));
    await other.setData(`/l/${node}`, Buffer.from("changed"));
    for (let round = 0; round < 3; round++) await session.sync("/l");
    await lock.release();
    const foreign = await between.acquiring;
    for (let round = 0; round < 3; round++) await session.sync("/l");
    expect(events.filter(({ event }) => event === "acquired")).toHaveLength(1);
    await foreign.release();
    await (await second).release();
  });

  test("is not taken over from another session", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/l", null);
    let ghost = "";
    const losing = loseReply(proxy, "-lock-", async () => {
      const [name] = await other.getChildren("/l");
      if (name === undefined) return false;
      ghost = name;
      // The same name, but not ours: as if left behind by a session of ours that is over.
      await other.multi([
        { op: "delete", path: `/l/${name}` },
        { op: "create", path: `/l/${name}`, data: null, mode: "ephemeral" },
      ]);
      return true;
    });
    const events: LockEvent[] = [];
    const mutex = new Mutex(session, "/l", { onEvent: (event) => events.push(event) });
    const acquiring = mutex.acquire();
    await losing;
    // Its uuid is ours, so that it is in nobody's way who made it; it is not what is held.
    const lock = await acquiring;
    expect(lock.nodePath).not.toBe(`/l/${ghost}`);
    expect((await other.getData(lock.nodePath)).stat.ephemeralOwner).toBe(session.id);
  });

  test("is deleted when its caller has aborted, also after a lost reply", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/l", null);
    const cancel = new AbortController();
    const losing = loseReply(proxy, "-lock-", async () => {
      if ((await other.getChildren("/l")).length === 0) return false;
      cancel.abort(new Error("enough"));
      return true;
    });
    const mutex = new Mutex(session, "/l");
    const acquiring = rejection(mutex.acquire({ signal: cancel.signal }));
    await losing;
    expect(await acquiring).toMatchObject({ message: "enough" });
    await mutex.settled();
    expect(await other.getChildren("/l")).toEqual([]);
  });

  test("is deleted whole, also if another client deletes one of its tickets meanwhile", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/l", null);
    const cancel = new AbortController();
    const losing = loseReply(proxy, "-lock-", async () => {
      if ((await other.getChildren("/l")).length < 2) return false;
      cancel.abort(new Error("enough"));
      return true;
    });
    // It was listed a moment ago.
    const exists = session.exists.bind(session);
    session.exists = async (path, ...args) => {
      session.exists = exists;
      await other.delete(path);
      return exists(path, ...args);
    };
    const mutex = new Mutex(session, "/l", { compat: "all" });
    const acquiring = rejection(mutex.acquire({ signal: cancel.signal }));
    await losing;
    expect(await acquiring).toMatchObject({ message: "enough" });
    await mutex.settled();
    expect(await other.getChildren("/l")).toEqual([]);
  });

  test("is deleted when its caller aborts during the search for it", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/l", null);
    const cancel = new AbortController();
    const mutex = new Mutex(session, "/l");
    const losing = loseReply(
      proxy,
      "-lock-",
      async () => (await other.getChildren("/l")).length === 1,
    );
    const acquiring = rejection(mutex.acquire({ signal: cancel.signal }));
    await losing;
    proxy.stall("to-client");
    const sent = new Promise<void>((resolve) => {
      session.onState(({ state }) => state === "connected" && resolve());
    });
    proxy.resume();
    await sent;
    proxy.stall("to-client");
    cancel.abort(new Error("enough"));
    expect(await acquiring).toMatchObject({ message: "enough" });
    proxy.resume();
    await mutex.settled();
    expect(await other.getChildren("/l")).toEqual([]);
  });
});

describe("cancelled", () => {
  test("with the create in flight, leaves neither znode nor watch", async () => {
    const { session, proxy, other } = await behindProxy({}, server.address);
    await other.create("/l", null);
    const before = await watchCount();
    proxy.stall("to-client");
    const cancel = new AbortController();
    const mutex = new Mutex(session, "/l");
    const acquiring = rejection(mutex.acquire({ signal: cancel.signal }));
    await eventually(async () => expect(await other.getChildren("/l")).toHaveLength(1));
    cancel.abort(new Error("enough"));
    expect(await acquiring).toMatchObject({ message: "enough" });
    proxy.resume();
    await mutex.settled();
    expect(await other.getChildren("/l")).toEqual([]);
    expect(await watchCount()).toBe(before);
  });

  test("while still in the queue of a suspended session, was never sent", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/l", null);
    await proxy.refuse();
    await eventually(() => expect(session.state).toBe("suspended"));
    const mutex = new Mutex(session, "/l");
    expect(await rejection(mutex.acquire({ waitMs: 30 }))).toMatchObject({
      reason: "lock-timeout",
    });
    await mutex.settled();
    await proxy.listen();
    await session.sync("/l");
    expect((await other.exists("/l"))?.cversion).toBe(0);
  });

  test.each([
    { name: "behind one that it may read", acl: undefined },
    { name: "behind one that it may not read", acl: [{ perms: 31, scheme: "auth", id: "" }] },
  ])("while it waits $name, leaves neither znode nor watch", async ({ acl }) => {
    const chroot = await freshChroot(server.address);
    const [holder, other] = [openFor(chroot), openFor(chroot)];
    await holder.addAuth("digest", Buffer.from("ann:secret"));
    const none = await watchCount();
    // Data of its own, which does not change: a change would use the watches up.
    const held = await new Mutex(holder, "/l", {
      data: Buffer.from("mine"),
      ...(acl && { acl, pathAcl: OPEN_ACL }),
    }).acquire();
    await eventually(async () => expect(await watchCount()).toBe(none + 1));
    const before = none + 1;
    for (let round = 0; round < 5; round++) {
      const cancel = new AbortController();
      const { mutex, acquiring } = await waiting(other, { signal: cancel.signal });
      cancel.abort(new Error("enough"));
      await rejection(acquiring);
      await mutex.settled();
    }
    expect(await holder.getChildren("/l")).toEqual([held.nodePath.slice(3)]);
    await eventually(async () => expect(await watchCount()).toBe(before));
    await held.release();
    await eventually(async () => expect(await watchCount()).toBe(none));
  });
});

describe("a release", () => {
  test("whose reply was lost is finished in the background: not held at once, gone in the end", async () => {
    const { session, proxy, other } = await behindProxy();
    const lock = await new Mutex(session, "/l").acquire();
    await session.sync("/l");
    const losing = loseReply(
      proxy,
      "-lock-",
      async () => (await other.getChildren("/l")).length === 0,
    );
    const releasing = lock.release();
    expect(lock.isHeld()).toBe(false);
    await losing;
    expect(await releasing).toBe("delete");
  });

  test("without a connection waits for one", async () => {
    const { session, proxy, other } = await behindProxy();
    const lock = await new Mutex(session, "/l").acquire();
    await proxy.refuse();
    await eventually(() => expect(session.state).toBe("suspended"));
    const releasing = lock.release();
    expect(lock.isHeld()).toBe(false);
    expect(await other.getChildren("/l")).toHaveLength(1);
    await proxy.listen();
    expect(await releasing).toBe("delete");
    expect(await other.getChildren("/l")).toEqual([]);
  });

  test("ends with the session where no server comes back", async () => {
    const { session, proxy } = await behindProxy({ timeoutMs: SHORT_MS }, server.address);
    const lock = await new Mutex(session, "/l").acquire();
    await proxy.refuse();
    await eventually(() => expect(session.state).toBe("suspended"));
    expect(await lock.release()).toBe("expiry");
    expect(lock.signal.aborted).toBe(false);
  });

  test.each(["before", "after"] as const)("%s the session's end is no failure", async (when) => {
    const session = openFor(await freshChroot());
    const lock = await new Mutex(session, "/l").acquire();
    const closing = session.close();
    if (when === "after") await closing;
    expect(await lock.release()).toBe("expiry");
    await closing;
  });
});

describe("the session's end", () => {
  test("while waiting is a ConnectionError, and nothing is left to do", async () => {
    const { session, proxy, other } = await behindProxy({ timeoutMs: SHORT_MS }, server.address);
    const held = await new Mutex(other, "/l").acquire();
    const { mutex, acquiring } = await waiting(session);
    await proxy.refuse();
    expect(await rejection(acquiring)).toMatchObject({
      name: "ConnectionError",
      reason: "session-expired",
    });
    await mutex.settled();
    await eventually(async () =>
      expect(await other.getChildren("/l")).toEqual([held.nodePath.slice(3)]),
    );
  });

  test("while holding aborts the signal, before another contender gets the lock", async () => {
    const { session, proxy, other } = await behindProxy({ timeoutMs: 2_000 }, server.address);
    const events: LockEvent[] = [];
    const lock = await new Mutex(session, "/l", {
      onEvent: (event) => events.push(event),
    }).acquire();
    const next = new Mutex(other, "/l").acquire();
    proxy.blackhole();
    const wasHeld = await Promise.race([
      new Promise<boolean>((resolve) =>
        lock.signal.addEventListener("abort", () => resolve(false)),
      ),
      next.then(() => lock.isHeld()),
    ]);
    expect(wasHeld).toBe(false);
    expect(lock.signal.aborted).toBe(true);
    expect(lock.signal.reason).toMatchObject({
      name: "LockError",
      reason: "lock-lost",
      path: "/l",
    });
    expect(events.at(-1)).toEqual({ event: "lost", path: "/l", reason: "session-lost" });
    expect(await lock.release()).toBe("expiry");
    expect((await next).fencingToken).toBeGreaterThan(lock.fencingToken);
  });

  test("between the answer and its reading gives no lock", async () => {
    const session = openFor(await freshChroot(server.address), { timeoutMs: 1_000 });
    await session.create("/l", null);
    const acquiring = rejection(new Mutex(session, "/l").acquire());
    await new Promise((resolve) => setImmediate(resolve));
    // As a process that is stopped: the answers come in, nobody reads them.
    const until = performance.now() + 2_000;
    while (performance.now() < until);
    expect(await acquiring).toMatchObject({ name: "ConnectionError" });
  });

  test("is closed although an event of the ticket comes in between", async () => {
    const { session, proxy, other } = await behindProxy();
    const lock = await new Mutex(session, "/l").acquire();
    await session.sync("/l");
    const changed = deferred<unknown>();
    await session.exists(lock.nodePath, { watch: changed.resolve });
    // It is being closed, but the server has not heard of it yet.
    proxy.stall("to-server");
    const closing = session.close();
    await other.setData(lock.nodePath, Buffer.from("changed"));
    await changed.promise;
    proxy.resume();
    await closing;
    expect(lock.signal.reason).toMatchObject({ reason: "lock-lost" });
  });
});

describe("a short outage", () => {
  test("while holding changes nothing, and a deletion during it is noticed", async () => {
    const { session, proxy, other } = await behindProxy();
    const lock = await new Mutex(session, "/l").acquire();
    const { fencingToken } = lock;
    for (let round = 0; round < 3; round++) {
      proxy.drop();
      await eventually(() => expect(session.state).toBe("suspended"), { intervalMs: 1 });
      await session.connected();
    }
    expect(lock.isHeld()).toBe(true);
    expect(lock.fencingToken).toBe(fencingToken);
    expect(lock.signal.aborted).toBe(false);
    await proxy.refuse();
    await other.delete(lock.nodePath);
    await proxy.listen();
    await eventually(() => expect(lock.signal.reason).toMatchObject({ reason: "lock-lost" }));
  });

  test("while waiting keeps the place, and a release during it is noticed", async () => {
    const { session, proxy, other } = await behindProxy();
    const held = await new Mutex(other, "/l").acquire();
    const { acquiring } = await waiting(session);
    const queue = (await other.getChildren("/l")).sort();
    proxy.drop();
    await eventually(() => expect(session.state).toBe("suspended"), { intervalMs: 1 });
    await session.connected();
    expect((await other.getChildren("/l")).sort()).toEqual(queue);
    await proxy.refuse();
    await held.release();
    await proxy.listen();
    const lock = await acquiring;
    expect(queue).toContain(lock.nodePath.slice(3));
  });

  test("many in a row, with requests under way each time, do not end the wait", async () => {
    const { session, proxy, other } = await behindProxy();
    const held = await new Mutex(other, "/l").acquire();
    const drops = { left: 8 };
    proxy.onBytes = (direction, chunk) => {
      if (direction === "to-server" && chunk.includes("-lock-") && drops.left-- > 0)
        setImmediate(() => proxy.drop());
    };
    const acquiring = new Mutex(session, "/l").acquire();
    await eventually(() => expect(drops.left).toBeLessThan(0));
    await held.release();
    const lock = await acquiring;
    await eventually(async () =>
      expect(await other.getChildren("/l")).toEqual([lock.nodePath.slice(3)]),
    );
  });
});

describe("after the release", () => {
  test("nothing listens to the session any more", async () => {
    const session = openFor(await freshChroot());
    let listeners = 0;
    const onState = session.onState.bind(session);
    session.onState = (listener) => {
      listeners++;
      const stop = onState(listener);
      return () => {
        listeners--;
        stop();
      };
    };
    const mutex = new Mutex(session, "/l");
    const lock = await mutex.acquire();
    expect(listeners).toBe(1);
    await lock.release();
    expect(listeners).toBe(0);
    await rejection(mutex.acquire({ signal: AbortSignal.abort(new Error("enough")) }));
    const other = await mutex.acquire();
    await session.delete(other.nodePath);
    await eventually(() => expect(other.signal.aborted).toBe(true));
    expect(listeners).toBe(0);
  });

  test("no promise is left rejected without a handler", async () => {
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => unheard.push(reason);
    process.on("unhandledRejection", hear);
    onTestFinished(() => void process.off("unhandledRejection", hear));
    const { session, proxy, other } = await behindProxy({ timeoutMs: SHORT_MS }, server.address);
    const held = await new Mutex(other, "/l").acquire();
    const waiters = await Promise.all([1, 2, 3].map(() => waiting(session)));
    const cancel = new AbortController();
    const late = waiting(session, { signal: cancel.signal });
    await late;
    cancel.abort(new Error("enough"));
    await proxy.refuse();
    await Promise.allSettled(waiters.map(({ acquiring }) => acquiring));
    await Promise.all(waiters.map(({ mutex }) => mutex.settled()));
    await (await late).mutex.settled();
    await held.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unheard).toEqual([]);
  });
});
