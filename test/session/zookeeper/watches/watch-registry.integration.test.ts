import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { Session, WatchEvent, WatchListener } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import { eventually } from "../../../support/eventually.ts";
import { type FakeReply, startFakeServer } from "../../../support/fake-server.ts";
import { type FaultProxy, startFaultProxy } from "../../../support/fault-proxy.ts";
import { fourLetterWord } from "../../../support/four-letter-word.ts";
import { freshChroot, sharedServer } from "../../../support/shared-server.ts";

const OP = { exists: 3, getData: 4, setWatches: 101, setWatches2: 105 } as const;
const PIECE_BYTES = 128 * 1024;

let proxy: FaultProxy;
let chroot: string;
/** The one whose watches are tested; its line can fail. */
let session: Session;
/** Changes things behind its back. */
let writer: Session;

beforeEach(async () => {
  const where = parseConnectString(await freshChroot());
  chroot = where.chroot;
  proxy = await startFaultProxy(Number(sharedServer().split(":")[1]));
  session = openSession({ ...where, servers: [{ host: "127.0.0.1", port: proxy.port }] });
  writer = openSession(where);
  await Promise.all([session.connected(), writer.create("/node", Buffer.from("old"))]);
});

afterEach(async () => {
  await Promise.all([session.close(), writer.close()]);
  await proxy.close();
});

/** A listener with a memory: `data-changed /node`. */
function listener(): WatchListener & { readonly heard: string[]; readonly events: WatchEvent[] } {
  const events: WatchEvent[] = [];
  const heard: string[] = [];
  const listen = (event: WatchEvent) => {
    events.push(event);
    heard.push(`${event.type} ${event.path}`);
  };
  return Object.assign(listen, { heard, events });
}

const set = (path: string) => writer.setData(path, Buffer.from("new"));
const create = (path: string) => writer.create(path, null);
const remove = (path: string) => writer.delete(path);

/** Events come before the answers to later requests: after this, what was caused has been heard. */
async function settle(): Promise<void> {
  await session.sync("/");
  await session.exists("/");
  await new Promise(setImmediate);
}

/** Loses the connection, lets `change` happen meanwhile, and comes back. */
async function away(change: () => Promise<unknown>): Promise<void> {
  await proxy.refuse();
  await eventually(() => expect(session.state).toBe("suspended"));
  await change();
  await proxy.listen();
  await session.connected();
  await settle();
}

/** Which paths of this test the server has data watches on; it does not list child watches. */
async function watchedPaths(): Promise<string[]> {
  const lines = (await fourLetterWord(sharedServer(), "wchp")).split("\n");
  return lines
    .filter((line) => line.startsWith(`${chroot}/`))
    .map((line) => line.slice(chroot.length));
}

describe("a one-shot watch", () => {
  test("of getData tells of the next change of the data, once", async () => {
    const watch = listener();
    await session.getData("/node", { watch });
    await set("/node");
    await set("/node");
    await settle();
    expect(watch.heard).toEqual(["data-changed /node"]);
  });

  test("of exists tells when a znode that was not there is made", async () => {
    const watch = listener();
    expect(await session.exists("/later", { watch })).toBeUndefined();
    await create("/later");
    await remove("/later");
    await settle();
    expect(watch.heard).toEqual(["created /later"]);
  });

  test("of exists tells when a znode goes", async () => {
    const watch = listener();
    expect(await session.exists("/node", { watch })).toBeDefined();
    await remove("/node");
    await settle();
    expect(watch.heard).toEqual(["deleted /node"]);
  });

  test.each(["getChildren", "getChildren2"] as const)(
    "of %s tells of a child, once, and not of data",
    async (read) => {
      const watch = listener();
      await session[read]("/node", { watch });
      await set("/node");
      await create("/node/a");
      await create("/node/b");
      await settle();
      expect(watch.heard).toEqual(["children-changed /node"]);
    },
  );

  test("of getChildren tells when the znode itself goes", async () => {
    const watch = listener();
    await session.getChildren("/node", { watch });
    await remove("/node");
    await settle();
    expect(watch.heard).toEqual(["deleted /node"]);
  });

  test("tells a listener once of a deletion that it waits for in two ways", async () => {
    const watch = listener();
    await session.getData("/node", { watch });
    await session.getChildren("/node", { watch });
    await remove("/node");
    await settle();
    expect(watch.heard).toEqual(["deleted /node"]);
  });

  test("is not left behind by a read that found nothing", async () => {
    const watch = listener();
    await expect(session.getData("/later", { watch })).rejects.toMatchObject({ reason: "no-node" });
    await create("/later");
    await settle();
    expect(watch.heard).toEqual([]);
  });
});

describe("a persistent watch", () => {
  test("tells of every change to the znode and of its children's coming and going", async () => {
    const watch = listener();
    await session.addWatch("/node", "persistent", watch);
    await set("/node");
    await set("/node");
    await create("/node/a");
    await set("/node/a");
    await remove("/node/a");
    await remove("/node");
    await create("/node");
    await settle();
    expect(watch.heard).toEqual([
      "data-changed /node",
      "data-changed /node",
      "children-changed /node",
      "children-changed /node",
      "deleted /node",
      "created /node",
    ]);
  });

  test("with its whole subtree tells which znode was made, changed or deleted", async () => {
    const watch = listener();
    const child = listener();
    await session.addWatch("/node", "recursive", watch);
    await set("/node");
    await create("/node/a");
    // Its event is for those who asked for it: a recursive watch names the child instead.
    await session.getChildren("/node/a", { watch: child });
    await create("/node/a/b");
    await set("/node/a/b");
    await remove("/node/a/b");
    await create("/other");
    await settle();
    expect(watch.heard).toEqual([
      "data-changed /node",
      "created /node/a",
      "created /node/a/b",
      "data-changed /node/a/b",
      "deleted /node/a/b",
    ]);
    expect(child.heard).toEqual(["children-changed /node/a"]);
  });
});

describe.each(["persistent", "recursive"] as const)("a %s watch", (mode) => {
  test("goes on when a one-shot watch on the same znode is set and used up", async () => {
    const [lasting, once] = [listener(), listener()];
    await session.addWatch("/node", mode, lasting);
    await session.getData("/node", { watch: once });
    await settle();
    await set("/node");
    await set("/node");
    await create("/node/a");
    await settle();
    const child = mode === "persistent" ? "children-changed /node" : "created /node/a";
    expect(lasting.heard).toEqual(["data-changed /node", "data-changed /node", child]);
    expect(once.heard).toEqual(["data-changed /node"]);
  });
});

describe("after a reconnect", () => {
  /** One listener for every kind of watch; `/later` is not there. */
  async function watchEverything() {
    const kinds = {
      data: listener(),
      exists: listener(),
      missing: listener(),
      child: listener(),
      persistent: listener(),
      persistentMissing: listener(),
      recursive: listener(),
    };
    for (const name of ["data", "exists", "child", "persistent", "recursive"])
      await create(`/node/${name}`);
    await session.getData("/node/data", { watch: kinds.data });
    await session.exists("/node/exists", { watch: kinds.exists });
    await session.exists("/node/missing", { watch: kinds.missing });
    await session.getChildren("/node/child", { watch: kinds.child });
    await session.addWatch("/node/persistent", "persistent", kinds.persistent);
    await session.addWatch("/node/persistent-missing", "persistent", kinds.persistentMissing);
    await session.addWatch("/node/recursive", "recursive", kinds.recursive);
    return kinds;
  }

  const heardBy = (kinds: Record<string, { readonly heard: string[] }>) =>
    Object.fromEntries(Object.entries(kinds).map(([kind, { heard }]) => [kind, heard]));

  test("watches of every kind are set again, and tell of nothing that did not happen", async () => {
    const kinds = await watchEverything();
    await away(async () => {});
    expect(heardBy(kinds)).toEqual({
      data: [],
      exists: [],
      missing: [],
      child: [],
      persistent: [],
      persistentMissing: [],
      recursive: ["rearmed /node/recursive"],
    });
    kinds.recursive.heard.length = 0;

    await set("/node/data");
    await remove("/node/exists");
    await create("/node/missing");
    await create("/node/child/a");
    await set("/node/persistent");
    await create("/node/persistent/a");
    await set("/node/persistent");
    await create("/node/persistent-missing");
    await create("/node/recursive/a");
    await set("/node/recursive/a");
    await settle();
    expect(heardBy(kinds)).toEqual({
      data: ["data-changed /node/data"],
      exists: ["deleted /node/exists"],
      missing: ["created /node/missing"],
      child: ["children-changed /node/child"],
      persistent: [
        "data-changed /node/persistent",
        "children-changed /node/persistent",
        "data-changed /node/persistent",
      ],
      persistentMissing: ["created /node/persistent-missing"],
      recursive: ["created /node/recursive/a", "data-changed /node/recursive/a"],
    });
  });

  test("changes made meanwhile are reported, each once", async () => {
    const kinds = await watchEverything();
    await away(async () => {
      await set("/node/data");
      await set("/node/exists");
      await create("/node/missing");
      await create("/node/child/a");
      await set("/node/persistent");
      await create("/node/persistent/a");
      await create("/node/persistent-missing");
      await create("/node/recursive/a");
    });
    const heard = heardBy(kinds);
    expect(heard.persistent?.sort()).toEqual([
      "children-changed /node/persistent",
      "data-changed /node/persistent",
    ]);
    expect(heard).toMatchObject({
      data: ["data-changed /node/data"],
      exists: ["data-changed /node/exists"],
      missing: ["created /node/missing"],
      child: ["children-changed /node/child"],
      persistentMissing: ["created /node/persistent-missing"],
      recursive: ["rearmed /node/recursive"],
    });

    // The one-shot ones are used up, the persistent ones go on.
    await set("/node/data");
    await create("/node/child/b");
    await set("/node/persistent");
    await set("/node/persistent-missing");
    await set("/node/recursive/a");
    await settle();
    expect(kinds.data.heard).toHaveLength(1);
    expect(kinds.child.heard).toHaveLength(1);
    expect(kinds.persistent.heard.slice(2)).toEqual(["data-changed /node/persistent"]);
    expect(kinds.persistentMissing.heard.slice(1)).toEqual([
      "data-changed /node/persistent-missing",
    ]);
    expect(kinds.recursive.heard.slice(1)).toEqual(["data-changed /node/recursive/a"]);
  });

  test("deletions made meanwhile are reported, each once", async () => {
    const kinds = await watchEverything();
    await away(async () => {
      for (const name of ["data", "exists", "child", "persistent", "recursive"])
        await remove(`/node/${name}`);
    });
    expect(heardBy(kinds)).toEqual({
      data: ["deleted /node/data"],
      exists: ["deleted /node/exists"],
      missing: [],
      child: ["deleted /node/child"],
      persistent: ["deleted /node/persistent"],
      persistentMissing: [],
      recursive: ["rearmed /node/recursive"],
    });
    await create("/node/persistent");
    await settle();
    expect(kinds.persistent.heard.slice(1)).toEqual(["created /node/persistent"]);
  });

  test("a recursive watch is told from which zxid on it may have missed something", async () => {
    const watch = listener();
    await session.addWatch("/node", "recursive", watch);
    const lastSeen = session.lastZxid;
    let changedAt = 0n;
    await away(async () => {
      changedAt = (await writer.create2("/node/a", null)).stat.czxid;
    });
    expect(watch.events).toEqual([{ type: "rearmed", path: "/node", zxid: lastSeen }]);
    expect(changedAt).toBeGreaterThan(lastSeen);
  });

  test("eleven thousand watches are set again in pieces that a server takes, without another drop", async () => {
    const count = 11_000;
    const path = (index: number) => `/${String(index).padStart(100, "x")}`;
    const heard: string[] = [];
    const watches = Array.from({ length: count }, (_, index) => {
      const watch = ({ type }: WatchEvent) => heard.push(`${type} ${index}`);
      return session.exists(path(index), { watch });
    });
    await Promise.all(watches);
    expect(await watchedPaths()).toHaveLength(count);

    const sent: Buffer[] = [];
    proxy.onBytes = (direction, chunk) => {
      if (direction === "to-server") sent.push(chunk);
    };
    proxy.drop();
    await eventually(() => expect(proxy.accepted).toBe(2));
    await session.connected();
    await settle();
    await eventually(async () => expect(await watchedPaths()).toHaveLength(count), {
      intervalMs: 200,
    });

    // The handshake comes first.
    const [, ...requests] = frames(Buffer.concat(sent));
    const pieces = requests.filter((request) => request.readInt32BE(4) === OP.setWatches);
    const total = pieces.reduce((bytes, piece) => bytes + piece.length, 0);
    expect(total).toBeGreaterThan(1 << 20);
    for (const piece of pieces) expect(piece.length).toBeLessThan(PIECE_BYTES + 100);
    expect(pieces.length).toBeLessThan(1.2 * (total / PIECE_BYTES) + 1);

    await create(path(0));
    await create(path(count - 1));
    await settle();
    expect(heard).toEqual(["created 0", `created ${count - 1}`]);
    expect(proxy.accepted).toBe(2);
  });

  test("old servers are not asked for persistent watches that are not set", async () => {
    const sent: Buffer[] = [];
    await session.getData("/node", { watch: listener() });
    proxy.onBytes = (direction, chunk) => {
      if (direction === "to-server") sent.push(chunk);
    };
    await away(async () => {});
    const [, first] = frames(Buffer.concat(sent));
    expect(first?.readInt32BE(4)).toBe(OP.setWatches);
    await session.addWatch("/node", "persistent", listener());
    sent.length = 0;
    await away(async () => {});
    const [, second] = frames(Buffer.concat(sent));
    expect(second?.readInt32BE(4)).toBe(OP.setWatches2);
  });
});

function frames(bytes: Buffer): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readInt32BE(at);
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}

describe("removeWatch", () => {
  test("takes the watch off the server with its last listener, not before", async () => {
    const [first, second] = [listener(), listener()];
    await session.getData("/node", { watch: first });
    await session.exists("/node", { watch: second });
    expect(await watchedPaths()).toEqual(["/node"]);
    await session.removeWatch("/node", first);
    expect(await watchedPaths()).toEqual(["/node"]);
    await session.removeWatch("/node", second);
    expect(await watchedPaths()).toEqual([]);
    await set("/node");
    await settle();
    expect([...first.heard, ...second.heard]).toEqual([]);
  });

  test.each(["data", "child", "persistent", "recursive"] as const)(
    "of the %s watch leaves the other kinds on the same znode",
    async (kind) => {
      const kinds = {
        data: listener(),
        child: listener(),
        persistent: listener(),
        recursive: listener(),
      };
      await session.addWatch("/node", "persistent", kinds.persistent);
      // A server has one persistent watch a znode: of the two modes the last one wins.
      if (kind === "recursive") await session.addWatch("/node", "recursive", kinds.recursive);
      await session.getData("/node", { watch: kinds.data });
      await session.getChildren("/node", { watch: kinds.child });
      await session.removeWatch("/node", kinds[kind]);
      await settle();
      expect(await watchedPaths()).toEqual(["/node"]);
      await set("/node");
      await create("/node/a");
      await settle();
      const expected = {
        data: ["data-changed /node"],
        child: ["children-changed /node"],
        persistent: ["data-changed /node", "children-changed /node"],
        recursive: [],
        [kind]: [],
      };
      for (const [name, { heard }] of Object.entries(kinds)) {
        expect({ name, heard }).toEqual({ name, heard: expected[name as keyof typeof expected] });
      }
    },
  );

  test("takes off the persistent watch when nothing else is there", async () => {
    const [first, second] = [listener(), listener()];
    await session.addWatch("/node", "persistent", first);
    await session.addWatch("/node", "persistent", second);
    await session.removeWatch("/node", first);
    expect(await watchedPaths()).toEqual(["/node"]);
    await set("/node");
    await settle();
    expect([first.heard, second.heard]).toEqual([[], ["data-changed /node"]]);
    await session.removeWatch("/node", second);
    expect(await watchedPaths()).toEqual([]);
  });

  test("does not take a watch that was set meanwhile", async () => {
    const [old, fresh] = [listener(), listener()];
    await session.getData("/node", { watch: old });
    await Promise.all([
      session.removeWatch("/node", old),
      session.getData("/node", { watch: fresh }),
    ]);
    await settle();
    await set("/node");
    await settle();
    expect([old.heard, fresh.heard]).toEqual([[], ["data-changed /node"]]);
  });

  test("asks the server for nothing when the listener is not one", async () => {
    await session.getData("/node", { watch: listener() });
    await session.removeWatch("/node", listener());
    await session.removeWatch("/elsewhere", listener());
    expect(await watchedPaths()).toEqual(["/node"]);
  });

  test("while suspended means that the watch is not set again", async () => {
    const watch = listener();
    await session.getData("/node", { watch });
    await session.addWatch("/node", "recursive", watch);
    await away(() => session.removeWatch("/node", watch));
    expect(await watchedPaths()).toEqual([]);
    await set("/node");
    await settle();
    expect(watch.heard).toEqual([]);
  });
});

describe("the end of a session", () => {
  test("reaches every listener once", async () => {
    const [data, missing, child, persistent, recursive] = [
      listener(),
      listener(),
      listener(),
      listener(),
      listener(),
    ];
    await session.getData("/node", { watch: data });
    await session.exists("/later", { watch: missing });
    await session.getChildren("/node", { watch: child });
    await session.getChildren("/", { watch: child });
    await session.addWatch("/node", "persistent", persistent);
    await session.addWatch("/later", "recursive", recursive);
    await session.close();
    const listeners = [data, missing, child, persistent, recursive];
    expect(listeners.map(({ events }) => events.map(({ type }) => type))).toEqual(
      Array(5).fill(["lost"]),
    );
    expect(listeners.map(({ heard }) => heard[0])).toEqual([
      "lost /node",
      "lost /later",
      expect.stringMatching(/^lost \//),
      "lost /node",
      "lost /later",
    ]);
  });

  test("by expiry is told after the state has changed", async () => {
    const server = await startFakeServer({
      onRequest: ({ opcode }, reply) => (opcode === OP.exists ? reply.error(-101) : false),
    });
    onTestFinished(() => server.close());
    const expiring = openSession({ servers: [{ host: "127.0.0.1", port: server.port }] });
    onTestFinished(() => expiring.close());
    const told: string[] = [];
    await expiring.exists("/a", {
      watch: ({ type }) => told.push(`${type} while ${expiring.state}`),
    });
    server.options.handshake = "expired";
    for (const connection of server.connections) connection.close();
    await eventually(() => expect(told).toEqual(["lost while lost"]));
  });
});

describe("events and answers", () => {
  /** A reply or an event as a server puts it on the wire. */
  const packet = (xid: number, body: Buffer) => {
    const bytes = Buffer.alloc(20);
    bytes.writeInt32BE(16 + body.length, 0);
    bytes.writeInt32BE(xid, 4);
    return Buffer.concat([bytes, body]);
  };
  const EMPTY_ZNODE = Buffer.concat([Buffer.from("ffffffff", "hex"), Buffer.alloc(68)]);
  /** NodeDataChanged, connected, /a */
  const EVENT = packet(
    -1,
    Buffer.from("00000003 00000003 00000002 2f61".replaceAll(" ", ""), "hex"),
  );

  async function openWithHeldReplies(): Promise<{
    asking: Session;
    held: { xid: number; reply: FakeReply }[];
  }> {
    const held: { xid: number; reply: FakeReply }[] = [];
    const server = await startFakeServer({
      onRequest: ({ opcode, xid }, reply) =>
        opcode === OP.getData ? held.push({ xid, reply }) : false,
    });
    onTestFinished(() => server.close());
    const asking = openSession({ servers: [{ host: "127.0.0.1", port: server.port }] });
    onTestFinished(() => asking.close());
    await asking.connected();
    return { asking, held };
  }

  test("an event behind an answer in one segment is heard after the code that awaits the answer", async () => {
    const { asking, held } = await openWithHeldReplies();
    const order: string[] = [];
    // As far from the promise as code gets: a few calls deep.
    const read = async () => await asking.getData("/a", { watch: () => order.push("event") });
    const readAndUse = async () => {
      await read();
      await null;
      order.push("answer used");
    };
    const used = readAndUse();
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.reply.raw(Buffer.concat([packet(held[0].xid, EMPTY_ZNODE), EVENT]));
    await used;
    await eventually(() => expect(order).toHaveLength(2));
    expect(order).toEqual(["answer used", "event"]);
  });

  test("an event between two answers in one segment is heard between them", async () => {
    const { asking, held } = await openWithHeldReplies();
    const order: string[] = [];
    const first = asking
      .getData("/a", { watch: () => order.push("event") })
      .then(() => order.push("first answer"));
    const second = asking.getData("/b").then(() => order.push("second answer"));
    await eventually(() => expect(held).toHaveLength(2));
    const [one, two] = held.map(({ xid }) => packet(xid, EMPTY_ZNODE));
    held[0]?.reply.raw(Buffer.concat([one as Buffer, EVENT, two as Buffer]));
    await Promise.all([first, second]);
    expect(order).toEqual(["first answer", "event", "second answer"]);
  });

  test("an event in a segment of its own behind them does not overtake either", async () => {
    const { asking, held } = await openWithHeldReplies();
    const order: string[] = [];
    const first = asking
      .getData("/a", { watch: () => order.push("event") })
      .then(() => order.push("first answer"));
    const second = asking
      .getData("/a", { watch: () => order.push("event") })
      .then(() => order.push("second answer"));
    await eventually(() => expect(held).toHaveLength(2));
    const [one, two] = held.map(({ xid }) => packet(xid, EMPTY_ZNODE));
    held[0]?.reply.raw(Buffer.concat([one as Buffer, EVENT]));
    held[0]?.reply.raw(Buffer.concat([two as Buffer, EVENT]));
    await Promise.all([first, second]);
    await eventually(() => expect(order).toHaveLength(4));
    expect(order).toEqual(["first answer", "event", "second answer", "event"]);
  });
});
