import { describe, expect, onTestFinished, test } from "vitest";
import type { LockError } from "../../../src/errors.ts";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { HeldLock } from "../../../src/recipes/locks/held-lock.ts";
import type { RevokeRequest } from "../../../src/recipes/locks/holder-record.ts";
import { Mutex } from "../../../src/recipes/locks/mutex.ts";
import { OPEN_ACL, type Session } from "../../../src/session/session.ts";
import { deferred, eventually } from "../../support/eventually.ts";
import { openFor, rejection } from "../../support/open-session.ts";
import { freshChroot } from "../../support/shared-server.ts";

/** Queues, and resolves when it waits. */
async function queueUp(session: Session, path = "/l") {
  const events: LockEvent[] = [];
  const leave = new AbortController();
  const mutex = new Mutex(session, path, { onEvent: (event) => events.push(event) });
  const acquiring = mutex.acquire({ signal: leave.signal });
  acquiring.catch(() => {});
  await eventually(() => expect(events.at(-1)?.event).toBe("waiting"));
  const [queued] = events;
  const node = queued?.event === "queued" ? queued.node : "";
  return { mutex, events, acquiring, leave, node };
}

describe("Mutex", () => {
  test("creates the path, holds the lock and leaves no ticket", async () => {
    const session = openFor(await freshChroot());
    const mutex = new Mutex(session, "/a/b");
    const lock = await mutex.acquire();
    expect(lock.isHeld()).toBe(true);
    expect(await session.getChildren("/a/b")).toEqual([lock.nodePath.slice(5)]);
    const { stat } = await session.getData(lock.nodePath);
    expect(lock.fencingToken).toBe(stat.czxid);
    expect(await lock.release()).toBe("delete");
    expect(lock.isHeld()).toBe(false);
    expect(lock.heldForMs()).toBe(0);
    expect(await session.getChildren("/a/b")).toEqual([]);
  });

  test("sends ticket and listing in one flight, behind the path where that may be missing", async () => {
    const trace: string[] = [];
    const session = openFor(await freshChroot(), { trace: (line) => trace.push(line) });
    const lock = await new Mutex(session, "/l").acquire();
    await lock.release();
    const requests = trace
      .filter((line) => !line.startsWith("sync /"))
      .map((line) => line.split(" ")[0]);
    expect(requests).toEqual(["attached", "createContainer", "create", "getChildren2", "delete"]);
  });

  test("creates no path that must exist, and refuses /", async () => {
    const session = openFor(await freshChroot());
    const missing = new Mutex(session, "/a/b", { mustExist: true });
    expect(await rejection(missing.acquire())).toMatchObject({ reason: "no-node" });
    expect(await session.exists("/a")).toBeUndefined();
    expect(() => new Mutex(session, "/")).toThrow("/ cannot be locked");
  });

  test("serves waiters in their order, each with a higher token", async () => {
    const chroot = await freshChroot();
    const order: number[] = [];
    const first = openFor(chroot);
    const held = await new Mutex(first, "/l").acquire();
    const tokens = [held.fencingToken];
    const waiting: Promise<void>[] = [];
    for (const turn of [1, 2, 3]) {
      const events: LockEvent[] = [];
      const mutex = new Mutex(openFor(chroot), "/l", { onEvent: (event) => events.push(event) });
      const work = mutex.use(async (lock) => {
        order.push(turn);
        tokens.push(lock.fencingToken);
      });
      waiting.push(work);
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ event: "waiting", position: turn, of: turn }),
      );
    }
    await held.release();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
    expect(tokens).toEqual([...tokens].sort((a, b) => Number(a - b)));
    expect(new Set(tokens).size).toBe(4);
    expect(await first.getChildren("/l")).toEqual([]);
  });

  test("one release wakes one waiter", async () => {
    const chroot = await freshChroot();
    const held = await new Mutex(openFor(chroot), "/l").acquire();
    const waiters = [];
    for (let i = 0; i < 5; i++) waiters.push(await queueUp(openFor(chroot)));
    await held.release();
    const first = await waiters[0]?.acquiring;
    // Whatever the release has set off has reached everybody after this.
    const marker = openFor(chroot);
    await marker.create("/done", null);
    const woken = waiters.map(
      ({ events }) => events.filter(({ event }) => event === "predecessor-gone").length,
    );
    expect(woken).toEqual([1, 0, 0, 0, 0]);
    for (const { leave } of waiters.slice(1)) leave.abort(new Error("enough"));
    await first?.release();
  });

  test("the next in line needs no question to know that it is its turn", async () => {
    const chroot = await freshChroot();
    const trace: string[] = [];
    const held = await new Mutex(openFor(chroot), "/l").acquire();
    const session = openFor(chroot, { trace: (line) => trace.push(line) });
    const { acquiring } = await queueUp(session);
    await session.sync("/l");
    trace.length = 0;
    await held.release();
    const lock = await acquiring;
    expect(trace.filter((line) => !line.startsWith("sync "))).toEqual([]);
    await lock.release();
  });

  test("200 waiters on one object are served in order", async () => {
    const session = openFor(await freshChroot());
    const mutex = new Mutex(session, "/l");
    const order: number[] = [];
    let inside = 0;
    const all = Array.from({ length: 200 }, (_, turn) =>
      mutex.use(async () => {
        expect(++inside).toBe(1);
        order.push(turn);
        await session.exists("/l");
        inside--;
      }),
    );
    await Promise.all(all);
    expect(order).toEqual(Array.from({ length: 200 }, (_, turn) => turn));
    expect(await session.getChildren("/l")).toEqual([]);
  });

  test("does not wait, or not longer than told, and leaves no ticket", async () => {
    const chroot = await freshChroot();
    const [holder, other] = [openFor(chroot), openFor(chroot)];
    const held = await new Mutex(holder, "/l", { holder: { who: "ann@web3", pid: 47 } }).acquire();
    const mutex = new Mutex(other, "/l");
    const busy = await mutex.acquire({ waitMs: 0 }).catch((error: LockError) => error);
    expect(busy).toMatchObject({ reason: "busy", message: "/l is held by ann@web3 pid 47" });
    const late = await mutex.acquire({ waitMs: 50 }).catch((error: LockError) => error);
    expect(late).toMatchObject({ reason: "lock-timeout" });
    await mutex.settled();
    expect(await holder.getChildren("/l")).toEqual([held.nodePath.slice(3)]);
  });

  test("waits longer than a timer can", async () => {
    const chroot = await freshChroot();
    const held = await new Mutex(openFor(chroot), "/l").acquire();
    const events: LockEvent[] = [];
    const mutex = new Mutex(openFor(chroot), "/l", { onEvent: (event) => events.push(event) });
    const acquiring = mutex.acquire({ waitMs: 30 * 24 * 3_600_000 });
    await eventually(() => expect(events.at(-1)?.event).toBe("waiting"));
    await held.release();
    expect((await acquiring).isHeld()).toBe(true);
  });

  test("looks at the queue less often than a timer can tell", async () => {
    const chroot = await freshChroot();
    const holder = openFor(chroot);
    const held = await new Mutex(holder, "/l").acquire();
    const events: LockEvent[] = [];
    const trace: string[] = [];
    const session = openFor(chroot, { trace: (line) => trace.push(line) });
    const mutex = new Mutex(session, "/l", { onEvent: (event) => events.push(event) });
    const acquiring = mutex.acquire({ refreshMs: 30 * 24 * 3_600_000 });
    await eventually(() => expect(events.at(-1)?.event).toBe("waiting"));
    for (let round = 0; round < 20; round++) await holder.sync("/l");
    expect(trace.filter((line) => line.startsWith("getChildren2"))).toHaveLength(1);
    await held.release();
    expect((await acquiring).isHeld()).toBe(true);
  });

  test("a signal that has been aborted makes no ticket", async () => {
    const session = openFor(await freshChroot());
    const mutex = new Mutex(session, "/l");
    const reason = new Error("enough");
    expect(await rejection(mutex.acquire({ signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(await session.exists("/l")).toBeUndefined();
  });

  test.each(["queued", "waiting", "predecessor-gone", "acquired"] as const)(
    "either held or removed, never both, when it is cancelled at the moment of %s",
    async (moment) => {
      const chroot = await freshChroot();
      const [holder, other] = [openFor(chroot), openFor(chroot)];
      const held = await new Mutex(holder, "/l").acquire();
      const cancel = new AbortController();
      const onEvent = ({ event }: LockEvent) => {
        if (event === moment) cancel.abort(new Error("enough"));
        else if (event === "waiting") void held.release();
      };
      const mutex = new Mutex(other, "/l", { onEvent });
      const lock = await mutex.acquire({ signal: cancel.signal }).catch(() => undefined);
      await held.release();
      await mutex.settled();
      expect(cancel.signal.aborted).toBe(true);
      expect(await holder.getChildren("/l")).toEqual(lock ? [lock.nodePath.slice(3)] : []);
      expect(lock?.isHeld() ?? false).toBe(lock !== undefined);
    },
  );

  test("either held or removed, never both, when the release and the cancel meet", async () => {
    const chroot = await freshChroot();
    const [holder, other] = [openFor(chroot), openFor(chroot)];
    for (let round = 0; round < 40; round++) {
      const held = await new Mutex(holder, "/l").acquire();
      const { mutex, acquiring, leave } = await queueUp(other);
      const releasing = held.release();
      // Around the time that the event needs.
      for (let turns = round; turns > 0; turns--)
        await new Promise((resolve) => setImmediate(resolve));
      leave.abort(new Error("enough"));
      const lock = await acquiring.catch(() => undefined);
      await releasing;
      await mutex.settled();
      expect(await holder.getChildren("/l")).toHaveLength(lock ? 1 : 0);
      await lock?.release();
    }
  });

  test("writes into its ticket who queues since when, and later that it holds", async () => {
    const session = openFor(await freshChroot());
    const mutex = new Mutex(session, "/l", { holder: { who: "ann", why: "release 42" } });
    let lock = await mutex.acquire();
    const read = async () => JSON.parse(String((await session.getData(lock.nodePath)).data));
    const id = `0x${BigInt.asUintN(64, session.id).toString(16)}`;
    expect(await read()).toMatchObject({ session: id });
    await lock.release();
    const before = Date.now();
    lock = await mutex.acquire();
    const record = await read();
    expect(record).toMatchObject({
      v: 1,
      tool: "zksh",
      who: "ann",
      why: "release 42",
      mode: "exclusive",
      session: id,
    });
    expect(Date.parse(record.queued)).toBeGreaterThanOrEqual(before);
    expect(record.acquired).toBeUndefined();
    await eventually(async () => expect((await read()).acquired).toBeDefined());
    expect(lock.isHeld()).toBe(true);
    await lock.release();
  });

  test("keeps data that the caller gives as it is", async () => {
    const session = openFor(await freshChroot());
    const lock = await new Mutex(session, "/l", { data: Buffer.from("127.0.0.1") }).acquire();
    expect(String((await session.getData(lock.nodePath)).data)).toBe("127.0.0.1");
  });

  test("is re-entrant by its handle, not by its path", async () => {
    const session = openFor(await freshChroot());
    const mutex = new Mutex(session, "/l");
    const lock = await mutex.acquire();
    expect(lock.again()).toBe(lock);
    expect(lock.count).toBe(2);
    await lock.release();
    expect(lock.isHeld()).toBe(true);
    expect(await rejection(mutex.acquire({ waitMs: 0 }))).toMatchObject({ reason: "busy" });
    await lock.release();
    expect(lock.isHeld()).toBe(false);
    expect(lock.count).toBe(0);
    expect(() => lock.again()).toThrow("no longer held");
    expect(await lock.release()).toBe("delete");
    await mutex.settled();
    expect(await session.getChildren("/l")).toEqual([]);
  });

  test.each([Number.NaN, -1])("refuses to wait %d ms", async (waitMs) => {
    const session = openFor(await freshChroot());
    expect(await rejection(new Mutex(session, "/l").acquire({ waitMs }))).toMatchObject({
      name: "UsageError",
    });
    expect(await session.exists("/l")).toBeUndefined();
  });

  test.each(["/zookeeper", "/zookeeper/quota/l"])(
    "refuses %s, which belongs to the server",
    async (path) => {
      const session = openFor(await freshChroot());
      expect(() => new Mutex(session, path)).toThrow("/zookeeper belongs to the server");
      expect(() => new Mutex(session, "/zookeepers")).not.toThrow();
    },
  );

  test("a fenced write is carried out while the lock is held, and refused afterwards", async () => {
    const chroot = await freshChroot();
    const [session, admin] = [openFor(chroot), openFor(chroot)];
    const lock = await new Mutex(session, "/l", { compat: "all" }).acquire();
    const made = await lock.fenced([{ op: "create", path: "/one", data: null }]);
    expect(made.results).toMatchObject([{ op: "create", path: "/one" }]);
    expect(await rejection(lock.fenced([{ op: "delete", path: "/none" }]))).toMatchObject({
      reason: "no-node",
    });
    await admin.delete(lock.nodePaths[1] ?? "");
    const refused = lock.fenced([{ op: "create", path: "/two", data: null }]);
    expect(await rejection(refused)).toMatchObject({ name: "LockError", reason: "lock-lost" });
    expect(await admin.exists("/two")).toBeUndefined();
    await lock.release();
    expect(
      await rejection(lock.fenced([{ op: "create", path: "/three", data: null }])),
    ).toMatchObject({
      reason: "lock-lost",
    });
  });

  test("a fenced write is not even sent once the lock is released", async () => {
    const session = openFor(await freshChroot());
    const lock = await new Mutex(session, "/l").acquire();
    const releasing = lock.release();
    session.multi = () => Promise.reject(new Error("sent"));
    const refused = { name: "LockError", reason: "lock-lost", message: "/l is no longer held" };
    expect(await rejection(lock.fenced([]))).toMatchObject(refused);
    await releasing;
    expect(await rejection(lock.fenced([]))).toMatchObject(refused);
  });

  test("a fenced write that a release has overtaken blames no other client", async () => {
    const session = openFor(await freshChroot());
    const lock = await new Mutex(session, "/l").acquire();
    const multi = session.multi.bind(session);
    session.multi = async (...args) => {
      session.multi = multi;
      await lock.release();
      return multi(...args);
    };
    expect(await rejection(lock.fenced([]))).toMatchObject({
      reason: "lock-lost",
      message: "/l is no longer held",
    });
  });

  test("with kazoo's ticket: both in one transaction, both given back, both watched", async () => {
    const chroot = await freshChroot();
    const [session, admin] = [openFor(chroot), openFor(chroot)];
    const events: LockEvent[] = [];
    const lock = await new Mutex(session, "/l", {
      compat: "all",
      onEvent: (event) => events.push(event),
    }).acquire();
    const uuid = lock.nodePath.slice(6, 42);
    expect((await admin.getChildren("/l")).sort()).toEqual([
      `_c_${uuid}-__lock__0000000001`,
      `_c_${uuid}-lock-0000000000`,
    ]);
    expect(events.filter(({ event }) => event === "strangers")).toEqual([]);
    await admin.delete(`/l/_c_${uuid}-__lock__0000000001`);
    await eventually(() => expect(lock.signal.reason).toMatchObject({ reason: "lock-lost" }));
    await lock.release();
    expect(await admin.getChildren("/l")).toEqual([]);
  });

  test("waits for the tickets of every family, and says when two of them do not see each other", async () => {
    const chroot = await freshChroot();
    const [session, other] = [openFor(chroot), openFor(chroot)];
    await other.create("/l", null);
    const make = (name: string) =>
      other.create(`/l/${name}`, null, { mode: "ephemeralSequential" });
    const foreign = [
      await make(`${"0".repeat(32)}__lock__`),
      await make("x-72057594037927936-"),
      await make("lock-72057594037927936-"),
    ];
    await make("config-");
    const { acquiring, events } = await queueUp(session);
    expect(events).toContainEqual({
      event: "strangers",
      path: "/l",
      sorts: ["Curator locks", "WriteLock locks", "kazoo locks", "textbook locks"],
    });
    expect(events.at(-1)).toMatchObject({ event: "waiting", position: 3 });
    for (const node of foreign.reverse()) await other.delete(node);
    expect((await acquiring).isHeld()).toBe(true);
  });

  test.each<[string, Buffer, RevokeRequest]>([
    [
      "our own record",
      Buffer.from('{"v":1,"tool":"zksh","revoke":{"by":"bob","reason":"urgent"}}'),
      { by: "bob", reason: "urgent" },
    ],
    ["Curator's word", Buffer.from("__REVOKE__"), {}],
    ["the textbook's word", Buffer.from("unlock"), {}],
  ])(
    "a holder that %s asks to give way hears of it, and goes on holding",
    async (_, data, request) => {
      const chroot = await freshChroot();
      const [session, other] = [openFor(chroot), openFor(chroot)];
      const events: LockEvent[] = [];
      const lock = await new Mutex(session, "/l", {
        onEvent: (event) => events.push(event),
      }).acquire();
      const heard: RevokeRequest[] = [];
      lock.onRevoke((asked) => heard.push(asked));
      await other.setData(lock.nodePath, data);
      await eventually(() => expect(heard).toEqual([request]));
      expect(events.at(-1)).toEqual({ event: "revoke-asked", path: "/l", request });
      // Whoever asks late hears of it too; whoever has left does not.
      const late = deferred<RevokeRequest>();
      lock.onRevoke(late.resolve)();
      expect(await late.promise).toEqual(request);
      expect(lock.isHeld()).toBe(true);
      await lock.release();
    },
  );

  test("a waiter that is asked to give way leaves the queue", async () => {
    const chroot = await freshChroot();
    const [holder, other] = [openFor(chroot), openFor(chroot)];
    const held = await new Mutex(holder, "/l").acquire();
    const { mutex, acquiring, node } = await queueUp(other);
    await holder.setData(
      node,
      Buffer.from('{"v":1,"tool":"zksh","revoke":{"by":"bob","reason":"urgent"}}'),
    );
    expect(await rejection(acquiring)).toMatchObject({
      reason: "revoked",
      message: "/l was revoked by bob: urgent",
    });
    await mutex.settled();
    expect(await holder.getChildren("/l")).toEqual([held.nodePath.slice(3)]);
  });

  test("a predecessor that gives up is not mistaken for a release", async () => {
    const chroot = await freshChroot();
    const held = await new Mutex(openFor(chroot), "/l").acquire();
    const [one, two, three] = [
      await queueUp(openFor(chroot)),
      await queueUp(openFor(chroot)),
      await queueUp(openFor(chroot)),
    ];
    two.leave.abort(new Error("enough"));
    await eventually(() =>
      expect(three.events.at(-1)).toMatchObject({ event: "waiting", position: 2 }),
    );
    one.leave.abort(new Error("enough"));
    await eventually(() =>
      expect(three.events.at(-1)).toMatchObject({ event: "waiting", position: 1 }),
    );
    await held.release();
    await (await three.acquiring).release();
  });

  test("a predecessor that is gone before it can be watched keeps nobody waiting", async () => {
    const chroot = await freshChroot();
    const [session, other] = [openFor(chroot), openFor(chroot)];
    const held = await new Mutex(other, "/l").acquire();
    // The listing has been seen, the watch has not been set.
    const released = deferred<unknown>();
    const onEvent = ({ event }: LockEvent) =>
      event === "queued" && released.resolve(held.release());
    const getData = session.getData.bind(session);
    session.getData = async (path, options) => {
      await released.promise;
      return getData(path, options);
    };
    const lock = await new Mutex(session, "/l", { onEvent }).acquire();
    expect(lock.isHeld()).toBe(true);
  });

  test("a predecessor that may not be read is waited for all the same", async () => {
    const chroot = await freshChroot();
    const [session, other] = [openFor(chroot), openFor(chroot)];
    await other.addAuth("digest", Buffer.from("ann:secret"));
    const acl = [{ perms: 31, scheme: "auth", id: "" }];
    const held = await new Mutex(other, "/l", { acl, pathAcl: OPEN_ACL }).acquire();
    const { acquiring, events } = await queueUp(session);
    expect(events.at(-1)).not.toHaveProperty("holder");
    // Others come and go meanwhile.
    const third = await queueUp(openFor(chroot));
    third.leave.abort(new Error("enough"));
    await third.mutex.settled();
    await held.release();
    expect((await acquiring).isHeld()).toBe(true);
  });

  test("a path that may not be read, or written to, is an error and leaves no ticket", async () => {
    const chroot = await freshChroot();
    const [session, admin] = [openFor(chroot), openFor(chroot)];
    await admin.addAuth("digest", Buffer.from("ann:secret"));
    const [all, some] = [
      { perms: 31, scheme: "auth", id: "" },
      { scheme: "world", id: "anyone" },
    ];
    await admin.create("/closed", null, { acl: [all] });
    await admin.create("/blind", null, { acl: [all, { perms: 2 | 4 | 8, ...some }] });
    for (const path of ["/closed", "/blind"]) {
      const mutex = new Mutex(session, path);
      expect(await rejection(mutex.acquire())).toMatchObject({ name: "PermissionError" });
      await mutex.settled();
      expect(await admin.getChildren(path)).toEqual([]);
    }
  });

  test("a holder whose znode is deleted has lost the lock; a waiter leaves", async () => {
    const chroot = await freshChroot();
    const [holder, other, admin] = [openFor(chroot), openFor(chroot), openFor(chroot)];
    const events: LockEvent[] = [];
    const lock = await new Mutex(holder, "/l", {
      onEvent: (event) => events.push(event),
    }).acquire();
    const waiter = await queueUp(other);
    await admin.delete(waiter.node);
    expect(await rejection(waiter.acquiring)).toMatchObject({ reason: "revoked" });
    await admin.delete(lock.nodePath);
    await eventually(() => expect(lock.signal.aborted).toBe(true));
    expect(lock.signal.reason).toMatchObject({
      name: "LockError",
      reason: "lock-lost",
      path: "/l",
    });
    expect(lock.isHeld()).toBe(false);
    expect(lock.heldForMs()).toBe(0);
    expect(events.at(-1)).toEqual({ event: "lost", path: "/l", reason: "node-deleted" });
    expect(await lock.release()).toBe("missing");
  });

  test("a lock that is released before its holder hears that its ticket was deleted was not held to the end", async () => {
    const chroot = await freshChroot();
    const [holder, admin] = [openFor(chroot), openFor(chroot)];
    await admin.connected();
    const lock = await new Mutex(holder, "/l").acquire();
    await admin.delete(lock.nodePath);
    expect(await lock.release()).toBe("missing");
  });

  test("a lock notices within a round trip that its ticket was deleted, also right after it was taken", async () => {
    const chroot = await freshChroot();
    const [holder, admin] = [openFor(chroot), openFor(chroot)];
    await admin.connected();
    const lock = await new Mutex(holder, "/l").acquire();
    await admin.delete(lock.nodePath);
    // The watch left before this: its answer, or its event, is there when the next answer is.
    await new Promise((resolve) => setImmediate(resolve));
    await holder.sync("/");
    await new Promise((resolve) => setImmediate(resolve));
    expect(lock.isHeld()).toBe(false);
  });

  test("a lock whose path is deleted is lost, and the next contender creates the path again", async () => {
    const chroot = await freshChroot();
    const [holder, admin] = [openFor(chroot), openFor(chroot)];
    const mutex = new Mutex(holder, "/a/l");
    const lock = await mutex.acquire();
    const waiter = await queueUp(openFor(chroot), "/a/l");
    // Events come in the order of the deletions: the waiter hears of its own ticket first.
    await admin.multi(
      [waiter.node, lock.nodePath, "/a/l", "/a"].map((path) => ({ op: "delete", path })),
    );
    await eventually(() => expect(lock.signal.aborted).toBe(true));
    expect(await rejection(waiter.acquiring)).toMatchObject({ reason: "revoked" });
    const next = await mutex.acquire();
    expect(next.fencingToken).toBeGreaterThan(lock.fencingToken);
    expect(next.nodePath).toMatch(/0000000000$/);
    await next.release();
  });

  test("a ticket that is deleted together with the one before it does not keep the lock", async () => {
    const chroot = await freshChroot();
    const [holder, admin] = [openFor(chroot), openFor(chroot)];
    const lock = await new Mutex(holder, "/l").acquire();
    const waiter = await queueUp(openFor(chroot));
    await admin.multi([lock.nodePath, waiter.node].map((path) => ({ op: "delete", path })));
    // Whether both events are there when the first is looked at is up to the network.
    const got = await waiter.acquiring.catch((error: unknown) => error);
    if (got instanceof HeldLock) await eventually(() => expect(got.signal.aborted).toBe(true));
    else expect(got).toMatchObject({ reason: "revoked" });
  });

  test("many waiters under one signal raise no warning of Node", async () => {
    const session = openFor(await freshChroot());
    const mutex = new Mutex(session, "/l");
    const lock = await mutex.acquire();
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    const leave = new AbortController();
    const waiting = Array.from({ length: 40 }, (_, index) => {
      const one = index < 20 ? mutex : new Mutex(session, "/l");
      return one.acquire({ signal: leave.signal });
    });
    leave.abort(new Error("enough"));
    for (const one of waiting) expect(await rejection(one)).toMatchObject({ message: "enough" });
    await lock.release();
    expect(warnings).toEqual([]);
  });

  test("beside a ticket with its own number it does not hold", async () => {
    const chroot = await freshChroot();
    const [session, other] = [openFor(chroot), openFor(chroot)];
    await other.create("/l", null);
    // The counter counts children made, so that the next one is number 1 too.
    await other.create("/l/_c_00000000-0000-0000-0000-000000000000-lock-0000000001", null);
    const mutex = new Mutex(session, "/l");
    expect(await rejection(mutex.acquire())).toMatchObject({
      name: "LockError",
      reason: "sequence-exhausted",
    });
    await mutex.settled();
    expect(await other.getChildren("/l")).toHaveLength(1);
  });

  test("a listener that throws takes the ticket with it", async () => {
    const session = openFor(await freshChroot());
    const onEvent = () => {
      throw new Error("mine");
    };
    const mutex = new Mutex(session, "/l", { onEvent });
    expect(await rejection(mutex.acquire())).toMatchObject({ message: "mine" });
    await mutex.settled();
    expect(await session.getChildren("/l")).toEqual([]);
  });
});
