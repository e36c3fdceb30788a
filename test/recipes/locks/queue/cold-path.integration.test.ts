import { expect, onTestFinished, test } from "vitest";
import type { LockRecipe } from "../../../../src/recipes/locks/lock-recipe.ts";
import { MultiLock } from "../../../../src/recipes/locks/multi-lock.ts";
import { Mutex } from "../../../../src/recipes/locks/mutex.ts";
import { Semaphore } from "../../../../src/recipes/locks/semaphore.ts";
import type { Session } from "../../../../src/session/session.ts";
import { Opcode } from "../../../../src/wire/protocol.ts";
import { eventually } from "../../../support/eventually.ts";
import { type FakeServer, startFakeServer } from "../../../support/fake-server.ts";
import { openFor, rejection } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";

type Recipe = (session: Session) => LockRecipe<{ release(): Promise<unknown> }>;

const { create, createContainer, multi, getChildren2, getData } = Opcode;

/** Says what it is, and then nothing more: what arrives was sent without waiting for any answer. */
async function silentServer(version: string) {
  const server = await startFakeServer({ onRequest: () => {} });
  server.options.srvr = `Zookeeper version: ${version}-1, built on 2022\n`;
  onTestFinished(() => server.close());
  return server;
}

/** Lets the session end without waiting for the answers that the server has withheld. */
function answerFromNowOn(server: FakeServer): void {
  Object.assign(server.options, { handshake: "normal", onRequest: () => false });
  for (const connection of server.connections) connection.close();
}

test.each<{ name: string; recipe: Recipe; version: string; flight: readonly number[] }>([
  {
    name: "a lock",
    recipe: (session) => new Mutex(session, "/a/b/c"),
    version: "3.8.0",
    flight: [createContainer, createContainer, createContainer, create, getChildren2],
  },
  {
    name: "a lock that kazoo respects",
    recipe: (session) => new Mutex(session, "/a/b", { compat: "all" }),
    version: "3.8.0",
    flight: [create, create, multi, getChildren2],
  },
  {
    name: "a lock on a server without containers",
    recipe: (session) => new Mutex(session, "/a/b"),
    version: "3.4.14",
    flight: [create, create, create, getChildren2],
  },
  {
    name: "several locks",
    recipe: (session) => new MultiLock(session, ["/a/b", "/a/c"]),
    version: "3.8.0",
    flight: [createContainer, createContainer, createContainer, multi, getChildren2, getChildren2],
  },
  {
    name: "a permit",
    recipe: (session) => new Semaphore(session, "/s", { limit: 2 }),
    version: "3.8.0",
    flight: [
      createContainer,
      createContainer,
      createContainer,
      create,
      getChildren2,
      getChildren2,
      getData,
    ],
  },
  {
    name: "a lock whose path must exist",
    recipe: (session) => new Mutex(session, "/a/b", { mustExist: true }),
    version: "3.8.0",
    flight: [create, getChildren2],
  },
])(
  "$name leaves in one flight with the path that it needs",
  async ({ recipe, version, flight }) => {
    const server = await silentServer(version);
    const leave = new AbortController();
    const acquiring = recipe(openFor(server.address)).acquire({ signal: leave.signal });
    await eventually(() => {
      const [connection] = server.connections.filter(({ handshake }) => handshake);
      expect(connection?.opcodes).toEqual(flight);
    });
    leave.abort(new Error("enough"));
    expect(await rejection(acquiring)).toMatchObject({ message: "enough" });
    answerFromNowOn(server);
  },
);

test("the server is asked for its version during the handshake", async () => {
  const server = await silentServer("3.8.0");
  server.options.handshake = () => null;
  const acquiring = new Mutex(openFor(server.address), "/a").acquire();
  acquiring.catch(() => {});
  await eventually(() => {
    expect(server.connections).toHaveLength(2);
    expect(server.connections[0]?.handshake).toBeDefined();
  });
  answerFromNowOn(server);
});

test("a path that is deleted between two acquires is created again", async () => {
  const chroot = await freshChroot();
  const session = openFor(chroot);
  const mutex = new Mutex(session, "/a/b");
  await (await mutex.acquire()).release();
  await session.multi(["/a/b", "/a"].map((path) => ({ op: "delete", path })));
  const lock = await mutex.acquire();
  expect(lock.isHeld()).toBe(true);
  await lock.release();
});

test("a session that may not create the path gets no-auth, with the level that refused it", async () => {
  const session = openFor(await freshChroot());
  await session.create("/closed", null, { acl: [{ perms: 1, scheme: "world", id: "anyone" }] });
  const mutex = new Mutex(session, "/closed/a/b");
  expect(await rejection(mutex.acquire())).toMatchObject({ reason: "no-auth", path: "/closed/a" });
});

test("a session that may not create the upper levels gets the lock where they exist", async () => {
  const session = openFor(await freshChroot());
  await session.create("/closed", null);
  await session.create("/closed/open", null);
  await session.setAcl("/closed", [{ perms: 1, scheme: "world", id: "anyone" }]);
  const lock = await new Mutex(session, "/closed/open").acquire();
  await lock.release();
});
