import { beforeEach, describe, expect, test } from "vitest";
import {
  inspectLock,
  type LockReport,
  type QueueMember,
} from "../../../../src/recipes/locks/inspect/inspect-lock.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openFor } from "../../../support/open-session.ts";
import { Fleet } from "../../../support/peers.ts";
import { freshChroot } from "../../../support/shared-server.ts";
import { kazoo, record, ticket, uuid } from "../../../support/tickets.ts";

let server: string;
let session: Session;

beforeEach(async () => {
  server = await freshChroot();
  session = openFor(server);
  await session.create("/lock", null);
});

const inspect = (path = "/lock"): Promise<LockReport> => inspectLock(session, path, {});

/** The names without their numbers, holders and waiters apart. */
async function queue(path?: string): Promise<{ holders: string[]; waiters: string[] }> {
  const { holders, waiters } = await inspect(path);
  const short = ({ node }: QueueMember) =>
    node.slice(node.lastIndexOf("/") + 1).replace(/\d{10}$/, "");
  return { holders: holders.map(short), waiters: waiters.map(short) };
}

async function tickets(...prefixes: readonly string[]): Promise<void> {
  for (const prefix of prefixes) await ticket(session, `/lock/${prefix}`);
}

const A = `_c_${uuid("a")}-`;
const B = `_c_${uuid("b")}-`;
const C = `_c_${uuid("c")}-`;
const GO = `_c_${"d".repeat(32)}-`;
const KAZOO = "e".repeat(32);
const KAZOO2 = "f".repeat(32);

describe("who holds and who waits", () => {
  test.each([
    {
      shape: "Curator's mutex",
      given: [`${A}lock-`, `${B}lock-`],
      holds: 1,
      layouts: ["curator-lock"],
    },
    { shape: "go's", given: [`${GO}lock-`, `${B}lock-`], holds: 1, layouts: ["curator-lock"] },
    {
      shape: "Curator's read/write lock",
      given: [`${A}__READ__`, `${B}__READ__`, `${C}__WRIT__`, `${A.replace("a", "9")}__READ__`],
      holds: 2,
      layouts: ["curator-read-write"],
    },
    {
      shape: "a writer alone",
      given: [`${A}__WRIT__`, `${B}__WRIT__`],
      holds: 1,
      layouts: ["curator-read-write"],
    },
    { shape: "a latch", given: [`${A}latch-`, `${B}latch-`], holds: 1, layouts: ["curator-latch"] },
    {
      shape: "kazoo's lock",
      given: [`${KAZOO}__lock__`, `${KAZOO2}__lock__`],
      holds: 1,
      layouts: ["kazoo-lock"],
    },
    {
      shape: "kazoo's readers and a writer",
      given: [`${KAZOO}__rlock__`, `${KAZOO2}__rlock__`, `${"1".repeat(32)}__lock__`],
      holds: 2,
      layouts: ["kazoo-read-write"],
    },
    {
      shape: "WriteLock",
      given: ["x-72057594037927936-", "x-72057594037927937-"],
      holds: 1,
      layouts: ["writelock"],
    },
    {
      shape: "the textbook's",
      given: ["lock-0x1f-", "lock-0x2f-"],
      holds: 1,
      layouts: ["textbook-lock"],
    },
    {
      shape: "the textbook's read/write lock",
      given: ["read-", "read-", "write-"],
      holds: 2,
      layouts: ["textbook-read-write"],
    },
    // Neither waits for the other, so both are in.
    {
      shape: "Curator beside kazoo",
      given: [`${A}lock-`, `${KAZOO}__lock__`],
      holds: 2,
      layouts: ["curator-lock", "kazoo-lock"],
    },
    // WriteLock waits for Curator.
    {
      shape: "WriteLock behind Curator",
      given: [`${A}lock-`, "x-1-"],
      holds: 1,
      layouts: ["curator-lock", "writelock"],
    },
    {
      shape: "Curator behind WriteLock",
      given: ["x-1-", `${A}lock-`],
      holds: 2,
      layouts: ["writelock", "curator-lock"],
    },
    {
      shape: "go behind kazoo",
      given: [`${KAZOO}__lock__`, `${GO}lock-`],
      holds: 1,
      layouts: ["kazoo-lock", "curator-lock"],
    },
  ])("$shape", async ({ given, holds, layouts }) => {
    await tickets(...given);
    await session.create("/lock/config", null);
    expect(await queue()).toEqual({ holders: given.slice(0, holds), waiters: given.slice(holds) });
    expect((await inspect()).layouts).toEqual(layouts);
  });

  test("ours wait for every family", async () => {
    await ticket(session, `/lock/${KAZOO}__lock__`);
    await ticket(session, `/lock/${A}lock-`, record());
    expect(await queue()).toEqual({ holders: [`${KAZOO}__lock__`], waiters: [`${A}lock-`] });
  });

  test.each([
    {
      shape: "a lock, a reader, a writer",
      given: [`${A}lock-`, `${B}__READ__`, `${C}__WRIT__`],
      holds: 1,
    },
    {
      shape: "two readers, a lock",
      given: [`${A}__READ__`, `${B}__READ__`, `${C}lock-`],
      holds: 2,
    },
  ])("ours: $shape", async ({ given, holds }) => {
    for (const name of given) await ticket(session, `/lock/${name}`, record());
    expect(await queue()).toEqual({ holders: given.slice(0, holds), waiters: given.slice(holds) });
    expect((await inspect()).incompatibleTickets).toEqual([]);
  });

  test("Curator's locks and read/write locks do not see each other, and ours", async () => {
    await ticket(session, `/lock/${A}lock-`, record());
    await tickets(`${B}__WRIT__`, `${C}lock-`);
    expect(await queue()).toEqual({
      holders: [`${A}lock-`, `${B}__WRIT__`],
      waiters: [`${C}lock-`],
    });
    expect((await inspect()).incompatibleTickets).toEqual([
      "Curator locks",
      "Curator read/write locks",
    ]);
  });

  test("two tickets of one uuid are one", async () => {
    const first = await ticket(session, `/lock/${A}lock-`, record());
    const second = await ticket(session, `/lock/${A}__lock__`, record());
    await tickets(`${KAZOO}__lock__`, `${B}lock-`);
    const { holders, waiters, incompatibleTickets } = await inspect();
    expect(holders.map(({ node, nodes }) => [node, nodes])).toEqual([[first, [first, second]]]);
    expect(waiters.map(({ client }) => client)).toEqual(["kazoo", "Curator"]);
    expect(incompatibleTickets).toEqual(["Curator locks", "kazoo locks"]);
  });

  test("Curator's writer may read what it writes", async () => {
    await tickets(`${A}__WRIT__`, `${B}__READ__`);
    expect((await queue()).holders).toHaveLength(2);
    const other = openFor(server);
    await ticket(other, `/lock/${C}__READ__`);
    expect(await queue()).toEqual({
      holders: [`${A}__WRIT__`, `${B}__READ__`],
      waiters: [`${C}__READ__`],
    });
  });

  test("each claim has its mode", async () => {
    await tickets(
      `${KAZOO}__rlock__`,
      `${KAZOO2}__lock__`,
      `${A}__READ__`,
      `${B}__WRIT__`,
      `${C}latch-`,
    );
    const { holders, waiters } = await inspect();
    const modes = Object.fromEntries(
      [...holders, ...waiters].map(({ node, mode }) => [node.replace(/\d{10}$/, ""), mode]),
    );
    expect(modes).toEqual({
      [`/lock/${KAZOO}__rlock__`]: "read",
      [`/lock/${KAZOO2}__lock__`]: "write",
      [`/lock/${A}__READ__`]: "read",
      [`/lock/${B}__WRIT__`]: "write",
      [`/lock/${C}latch-`]: "leader",
    });
  });
});

describe("semaphores", () => {
  async function leases(...names: readonly string[]): Promise<void> {
    await session.create("/lock/locks", null);
    await session.create("/lock/leases", null);
    for (const name of names) await ticket(session, `/lock/leases/${name}lease-`);
  }

  test("the limit is in the data of the path", async () => {
    await session.setData("/lock", Buffer.from('{"v":1,"limit":2}'));
    await leases(A, B, C);
    const other = openFor(server);
    await ticket(other, `/lock/locks/${GO}lock-`);
    // Its lease is waiting already: one waiter, not two.
    await ticket(session, `/lock/locks/${C}lock-`);
    const report = await inspect();
    expect(report).toMatchObject({
      limit: 2,
      layouts: ["curator-semaphore"],
      incompatibleTickets: [],
    });
    expect(await queue()).toEqual({
      holders: [`${A}lease-`, `${B}lease-`],
      waiters: [`${C}lease-`, `${GO}lock-`],
    });
    expect(report.holders[0]?.mode).toBe("semaphore");
  });

  test("a holder of a permit keeps it when the limit is lowered", async () => {
    await session.setData("/lock", Buffer.from('{"v":1,"limit":1}'));
    await leases(A);
    const acquired = new Date().toISOString();
    await ticket(session, `/lock/leases/${B}lease-`, record({ acquired }));
    await ticket(session, `/lock/leases/${C}lease-`, record());
    expect(await queue()).toEqual({
      holders: [`${A}lease-`, `${B}lease-`],
      waiters: [`${C}lease-`],
    });
  });

  test("several permits of one client are one holder, or one waiter", async () => {
    await session.setData("/lock", Buffer.from('{"v":1,"limit":3}'));
    await leases(A, A, B, B);
    const { holders, waiters } = await inspect();
    expect(holders).toMatchObject([
      { permits: 2, nodes: [{}, {}].map(() => expect.stringContaining(A)) },
    ]);
    expect(waiters).toMatchObject([
      { permits: 2, nodes: [{}, {}].map(() => expect.stringContaining(B)) },
    ]);
  });

  test("without a limit every lease is held", async () => {
    await leases(A, B);
    await ticket(session, `/lock/locks/${C}lock-`);
    expect(await queue()).toEqual({
      holders: [`${A}lease-`, `${B}lease-`],
      waiters: [`${C}lock-`],
    });
    expect((await inspect()).limit).toBeUndefined();
  });

  test("a child called locks alone is no sign of a semaphore", async () => {
    await session.create("/lock/locks", null);
    await ticket(session, `/lock/locks/${A}lock-`);
    expect(await queue()).toEqual({ holders: [], waiters: [] });
    expect((await queue("/lock/locks")).holders).toEqual([`${A}lock-`]);
  });

  test("a semaphore of kazoo has its limit, holders and waiters", async () => {
    await kazoo(
      server,
      `
import threading
client.Semaphore("/sem", "one", max_leases=1).acquire()
threading.Thread(target=lambda: client.Semaphore("/sem", "two", max_leases=1).acquire(), daemon=True).start()
while not client.exists("/sem-__lock__") or not client.get_children("/sem-__lock__"): pass
`,
    );
    const report = await inspect("/sem");
    expect(report).toMatchObject({ limit: 1, layouts: ["kazoo-semaphore"] });
    expect(report.holders).toMatchObject([{ client: "kazoo", note: "one", mode: "semaphore" }]);
    expect(report.waiters).toMatchObject([{ client: "kazoo", mode: "semaphore" }]);
  });
});

describe("what is told of each", () => {
  test("is read from the record of zksh", async () => {
    const queued = new Date().toISOString();
    const acquired = new Date(Date.now() - 60_000).toISOString();
    const revoke = { by: "bob@web1", at: queued, reason: "hotfix" };
    const node = await ticket(
      session,
      `/lock/${A}lock-`,
      record({ cmd: "deploy.sh", why: "v42", queued, acquired, revoke }),
    );
    const stat = await session.exists(node);
    expect((await inspect()).holders).toEqual([
      {
        node,
        nodes: [node],
        mode: "exclusive",
        isOurs: true,
        client: "zksh/0.1.0",
        session: session.id,
        token: stat?.czxid,
        who: "ann@web3",
        host: "web3.example",
        pid: 4711,
        cmd: "deploy.sh",
        why: "v42",
        queuedAt: stat?.ctime,
        acquiredAt: Date.parse(acquired),
        isAskedToYield: true,
        revoke,
      },
    ]);
  });

  test("is read from a real kazoo lock, and a real Curator mutex behind another", async () => {
    await kazoo(server, 'client.Lock("/kazoo", "job 7").acquire()');
    expect((await inspect("/kazoo")).holders).toMatchObject([
      { client: "kazoo", note: "job 7", mode: "exclusive" },
    ]);
    const fleet = new Fleet(server, { path: "/curator", workMs: [1500, 1500] });
    try {
      await fleet.java({ one: "mutex", two: "mutex" });
      await expect
        .poll(async () => (await inspect("/curator")).waiters.length, { timeout: 20_000 })
        .toBe(1);
      expect((await inspect("/curator")).holders).toMatchObject([
        { client: "Curator", mode: "exclusive" },
      ]);
    } finally {
      await fleet.finish();
    }
  }, 60_000);

  test("what may not be read is shown as far as its stat tells", async () => {
    const acl = [{ perms: 12, scheme: "world", id: "anyone" }];
    const node = await session.create(`/lock/${A}lock-`, record(), {
      mode: "ephemeralSequential",
      acl,
    });
    const [holder] = (await inspect()).holders;
    expect(holder).toMatchObject({ node, client: "Curator or zksh", session: session.id });
    expect(holder?.who).toBeUndefined();
    // What has no data has no record of ours, whoever may read it.
    await session.create("/empty", null);
    await session.create(`/empty/${A}lock-`, null, { mode: "ephemeralSequential", acl });
    await session.create(`/empty/${GO}lock-`, record(), { mode: "ephemeralSequential", acl });
    const empty = await inspect("/empty");
    expect([...empty.holders, ...empty.waiters].map(({ client }) => client)).toEqual([
      "Curator",
      "go-zookeeper",
    ]);
  });

  test("a latch that only has a name may be Curator's or ours", async () => {
    await ticket(session, `/lock/${A}latch-`, "web3");
    expect((await inspect()).holders).toMatchObject([
      { client: "Curator or zksh", note: "web3", mode: "leader" },
    ]);
  });

  test("a path that is itself an ephemeral", async () => {
    await session.create("/plain", Buffer.from("web3:4711"), { mode: "ephemeral" });
    expect(await inspect("/plain")).toMatchObject({
      layouts: ["plain"],
      holders: [
        {
          node: "/plain",
          client: "unknown",
          note: "web3:4711",
          session: session.id,
          mode: "exclusive",
        },
      ],
    });
  });

  test("a missing path has no holders and no waiters", async () => {
    expect(await inspect()).toEqual({
      path: "/lock",
      exists: true,
      layouts: [],
      holders: [],
      waiters: [],
      incompatibleTickets: [],
    });
    expect(await inspect("/no/such")).toMatchObject({ exists: false, holders: [] });
  });
});
