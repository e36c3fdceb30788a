/** Tickets below a path that another client deletes whenever it is empty. */
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { HeldLock } from "../../../../src/recipes/locks/held-lock.ts";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import { ReadWriteLock } from "../../../../src/recipes/locks/read-write-lock.ts";
import { eventually } from "../../../support/eventually.ts";
import { startFaultProxy } from "../../../support/fault-proxy.ts";
import { openFor } from "../../../support/open-session.ts";
import { freshChroot, sharedServer } from "../../../support/shared-server.ts";

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
