import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { QueueFollower } from "../../../../src/recipes/locks/inspect/follow-queue.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openFor } from "../../../support/open-session.ts";
import { freshChroot } from "../../../support/shared-server.ts";
import { record, ticket, uuid } from "../../../support/tickets.ts";

let server: string;
let other: Session;

beforeEach(async () => {
  server = await freshChroot();
  other = openFor(server);
  await other.create("/lock", null);
});

/**
 * What is told of the one lock, one by one: pids and reasons of the holders, and the number of
 * those who wait.
 */
function follow(path = "/lock") {
  const session = openFor(server);
  const { signal } = new AbortController();
  const told = new QueueFollower([path]).follow(session, signal);
  onTestFinished(() => void told.return(undefined));
  const next = async () => {
    const result = await told.next();
    const [report] = result.done ? [] : result.value.changed;
    return [
      ...(report?.holders.map(({ pid, revoke }) => [pid, revoke?.reason]) ?? []),
      report?.waiters.length,
    ];
  };
  return { next, told, session };
}

const asked = (reason: string, pid = 4711) => record({ pid, revoke: { reason } });

describe("watching a queue", () => {
  test("reports every contender that comes or leaves, and every change of a holder's ticket", async () => {
    const { next } = follow();
    expect(await next()).toEqual([0]);
    const first = await ticket(other, `/lock/_c_${uuid("a")}-lock-`, record());
    expect(await next()).toEqual([[4711, undefined], 0]);
    await other.setData(first, asked("one"));
    expect(await next()).toEqual([[4711, "one"], 0]);
    await other.setData(first, asked("two"));
    expect(await next()).toEqual([[4711, "two"], 0]);
    const second = await ticket(other, `/lock/_c_${uuid("b")}-lock-`, record({ pid: 7 }));
    expect(await next()).toEqual([[4711, "two"], 1]);
    // Nobody watches what waiters write; once they hold, it is looked at.
    await other.setData(second, asked("three", 7));
    await other.delete(first);
    expect(await next()).toEqual([[7, "three"], 0]);
    await other.setData(second, asked("four", 7));
    expect(await next()).toEqual([[7, "four"], 0]);
    await other.delete(second);
    await other.delete("/lock");
    expect(await next()).toEqual([0]);
  });

  test("waits for a path that is not there yet, and for semaphores", async () => {
    const { next } = follow("/pool");
    expect(await next()).toEqual([0]);
    await other.multi([
      { op: "create", path: "/pool", data: Buffer.from('{"v":1,"limit":1}') },
      { op: "create", path: "/pool/locks" },
      { op: "create", path: "/pool/leases" },
      {
        op: "create",
        path: "/pool/leases/_c_a-lease-",
        data: record(),
        mode: "ephemeralSequential",
      },
    ]);
    expect(await next()).toEqual([[4711, undefined], 0]);
    await ticket(openFor(server), "/pool/locks/_c_b-lock-", record());
    expect(await next()).toEqual([[4711, undefined], 1]);
    await ticket(other, "/pool/leases/_c_c-lease-", record());
    expect(await next()).toEqual([[4711, undefined], 2]);
  });

  test("leaves no watch behind", async () => {
    const node = await ticket(other, `/lock/_c_${uuid("a")}-lock-`, record());
    const { next, told, session } = follow();
    await next();
    const removed: string[] = [];
    const removeWatch = session.removeWatch.bind(session);
    session.removeWatch = async (path, listener, options) => {
      const kinds = await removeWatch(path, listener, options);
      if (kinds.length > 0) removed.push(`${path} ${kinds.join(" ")}`);
      return kinds;
    };
    await told.return(undefined);
    await session.sync("/");
    await expect.poll(() => removed.sort()).toEqual(["/lock children data", `${node} data`].sort());
  });
});
