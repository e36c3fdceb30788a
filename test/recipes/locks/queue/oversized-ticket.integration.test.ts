/** Tickets that are too large for the server, which answers by hanging up. */
import { expect, test } from "vitest";
import type { LockRecipe } from "../../../../src/recipes/locks/lock-recipe.ts";
import { MultiLock } from "../../../../src/recipes/locks/multi-lock.ts";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import { ReadWriteLock } from "../../../../src/recipes/locks/read-write-lock.ts";
import { Semaphore } from "../../../../src/recipes/locks/semaphore.ts";
import { UniqueLock } from "../../../../src/recipes/locks/unique-lock.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openFor, rejection } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";

type Recipe = LockRecipe<{ release(): Promise<unknown> }>;

/** What one create of a ticket may have, and two of them may not. */
const HALF = Buffer.alloc(600_000);
const WHOLE = Buffer.alloc(1_200_000);

const recipes: { name: string; recipe: (session: Session) => Recipe }[] = [
  { name: "a mutex", recipe: (session) => new Mutex(session, "/l", { data: WHOLE }) },
  {
    name: "a mutex for kazoo too",
    recipe: (session) => new Mutex(session, "/l", { data: HALF, compat: "all" }),
  },
  { name: "a unique lock", recipe: (session) => new UniqueLock(session, "/l/u", { data: WHOLE }) },
  {
    name: "several locks",
    recipe: (session) => new MultiLock(session, ["/l/a", "/l/b"], { data: HALF }),
  },
  {
    name: "several permits",
    recipe: (session) => new Semaphore(session, "/l", { limit: 2, count: 2, data: HALF }),
  },
];

test.each(recipes)("$name is refused, and says why", async ({ recipe }) => {
  const chroot = await freshChroot();
  const session = openFor(chroot);
  const lock = recipe(session);
  expect(await rejection(lock.acquire())).toMatchObject({
    reason: "connection-loss",
    hint: expect.stringMatching(
      /^the request has 120\d{4} bytes; servers refuse more than jute.maxbuffer/,
    ),
  });
  await lock.settled();
  // The session goes on, and nothing of it is in anybody's way.
  const other = await new Mutex(session, "/l").acquire({ waitMs: 0 });
  expect(other.isHeld()).toBe(true);
});

test("a write lock that cannot become a read lock stays one", async () => {
  const session = openFor(await freshChroot());
  const lock = new ReadWriteLock(session, "/l", { data: Buffer.alloc(1_048_350) });
  const held = await lock.write.acquire();
  expect(await rejection(lock.downgrade(held))).toMatchObject({
    hint: expect.stringContaining("jute.maxbuffer"),
  });
  expect(held.isHeld()).toBe(true);
});
