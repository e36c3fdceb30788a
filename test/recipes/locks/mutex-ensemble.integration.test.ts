import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LockEvent } from "../../../src/recipes/locks/events.ts";
import { Mutex } from "../../../src/recipes/locks/mutex.ts";
import type { Session } from "../../../src/session/session.ts";
import { type Ensemble, startEnsemble } from "../../support/ensemble.ts";
import { eventually } from "../../support/eventually.ts";
import { openFor } from "../../support/open-session.ts";
import type { ZooKeeperServer } from "../../support/zookeeper-server.ts";

let ensemble: Ensemble;
beforeAll(async () => {
  ensemble = await startEnsemble(3);
});
afterAll(() => ensemble.stop());

function serverOf(session: Session): ZooKeeperServer {
  const server = ensemble.servers.find(({ address }) => address === session.server);
  if (!server) throw new Error(`not attached: ${session.server}`);
  return server;
}

/** A session on one server, which knows the others too. */
async function openOn(server: ZooKeeperServer): Promise<Session> {
  const session = openFor(ensemble.connectString, { timeoutMs: 20_000 });
  await session.connected();
  if (session.server === server.address) return session;
  await session.close();
  return openOn(server);
}

/** Fencing tokens rely on it; servers answer with the last zxid that they know of. */
test("on an ensemble, the zxid in the answer to a write is that of the write, also while others write", async () => {
  const sessions = await Promise.all(ensemble.servers.map(openOn));
  await Promise.all(
    sessions.map(async (session, index) => {
      const parent = `/zxids-${index}`;
      await session.create(parent, null);
      for (let turn = 0; turn < 100; turn++) {
        const created = await session.multi([{ op: "create", path: `${parent}/n` }]);
        expect((await session.exists(`${parent}/n`))?.czxid).toBe(created.zxid);
        const deleted = await session.multi([{ op: "delete", path: `${parent}/n` }]);
        expect((await session.exists(parent))?.pzxid).toBe(deleted.zxid);
      }
    }),
  );
});

describe("on an ensemble, when the server that we are attached to is killed", () => {
  test("a held lock stays held, with its token", async () => {
    const [follower] = await ensemble.followers();
    if (!follower) throw new Error("no follower");
    const session = await openOn(follower);
    const lock = await new Mutex(session, "/held").acquire();
    const { fencingToken } = lock;
    await follower.kill();
    await eventually(() => expect(session.server).not.toBe(follower.address));
    await session.connected();
    await session.sync("/held");
    expect(lock.isHeld()).toBe(true);
    expect((await session.getData(lock.nodePath)).stat.czxid).toBe(fencingToken);
    await follower.restart();
    await ensemble.waitForQuorum();
    expect(lock.signal.aborted).toBe(false);
    expect(await lock.release()).toBe("delete");
  });

  test.each(["a follower", "the leader"])("a waiter keeps its place (%s)", async (which) => {
    const path = `/waiting-${which.slice(-6)}`;
    const [follower] = await ensemble.followers();
    const leader = await ensemble.leader();
    const victim = which === "the leader" ? leader : follower;
    const survivor = ensemble.servers.find((server) => server !== victim && server !== leader);
    if (!victim || !survivor) throw new Error("no such server");
    const [holder, session] = [await openOn(survivor), await openOn(victim)];
    const held = await new Mutex(holder, path).acquire();
    const events: LockEvent[] = [];
    const acquiring = new Mutex(session, path, {
      onEvent: (event) => events.push(event),
    }).acquire();
    await eventually(() => expect(events.at(-1)?.event).toBe("waiting"));
    // Through another server, which may lag behind.
    await holder.sync(path);
    const queue = await holder.getChildren(path);
    await victim.kill();
    await ensemble.leader();
    await eventually(() => expect(held.release()).resolves.toBe("delete"), { timeoutMs: 20_000 });
    const lock = await acquiring;
    expect(serverOf(session)).not.toBe(victim);
    expect(queue).toContain(lock.nodePath.slice(path.length + 1));
    expect(lock.fencingToken).toBeGreaterThan(held.fencingToken);
    await victim.restart();
    await ensemble.waitForQuorum();
    await lock.release();
    await holder.sync(path);
    expect(await holder.getChildren(path)).toEqual([]);
  });
});
