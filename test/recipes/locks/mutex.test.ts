import { describe, expect, test } from "vitest";
import type { LockError } from "../../../src/errors.ts";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { Mutex } from "../../../src/recipes/locks/mutex.ts";
import { eventually } from "../../support/eventually.ts";
import { openFor } from "../../support/open-session.ts";
import { freshChroot } from "../../support/shared-server.ts";

describe("Mutex", () => {
  test("makes the path, holds, and leaves nothing", async () => {
    const session = openFor(await freshChroot());
    const mutex = new Mutex(session, "/a/b");
    const lock = await mutex.acquire();
    expect(lock.isHeld()).toBe(true);
    expect(await session.getChildren("/a/b")).toEqual([lock.nodePath.slice(5)]);
    const { stat } = await session.getData(lock.nodePath);
    expect(lock.fencingToken).toBe(stat.czxid);
    expect(await lock.release()).toBe("delete");
    expect(lock.isHeld()).toBe(false);
    expect(await session.getChildren("/a/b")).toEqual([]);
  });

  test("first come first served, each token higher than the last", async () => {
    const chroot = await freshChroot();
    const sessions = [1, 2, 3].map(() => openFor(chroot));
    const order: number[] = [];
    const first = openFor(chroot);
    const held = await new Mutex(first, "/l").acquire();
    const tokens = [held.fencingToken];
    const waiting: Promise<void>[] = [];
    for (const [i, session] of sessions.entries()) {
      const events: LockEvent[] = [];
      const mutex = new Mutex(session, "/l", { onEvent: (event) => void events.push(event) });
      waiting.push(
        mutex.use(async (lock) => {
          order.push(i + 1);
          tokens.push(lock.fencingToken);
        }),
      );
      await eventually(() => expect(events.at(-1)).toMatchObject({ event: "waiting", position: i + 1, of: i + 1 }));
    }
    await held.release();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
    expect(tokens).toEqual([...tokens].sort((a, b) => Number(a - b)));
    expect(await first.getChildren("/l")).toEqual([]);
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
});
