/**
 * The same random requests for both servers: every reply, zxid and event has to be the same.
 * Repeatable by ZKSH_DIFF_SEED; longer with ZKSH_DIFF_STEPS.
 */
import { expect, test } from "vitest";
import { startEmbeddedServer } from "../../src/embedded/server.ts";
import { AddWatchMode, Opcode, WatcherType } from "../../src/wire/protocol.ts";
import type { AclRecord, StatRecord } from "../../src/wire/records.ts";
import { Random } from "../support/random.ts";
import { startServer } from "../support/zookeeper-server.ts";
import { OPEN, RawClient, type Reply, type Step } from "./raw-client.ts";

const SEED = Number(process.env.ZKSH_DIFF_SEED ?? 20_261_116);
const STEPS = Number(process.env.ZKSH_DIFF_STEPS ?? 1_500);
const CLIENTS = 3;
/** Nothing is to end, or be swept away, by the clock. */
const LONG_MS = 600_000;

/** One server with its clients. */
class Side {
  readonly address: string;
  readonly clients: RawClient[] = [];
  /** Every session that has been, in the order in which they came. */
  readonly #sessions: bigint[] = [];

  constructor(address: string) {
    this.address = address;
  }

  async open(index: number): Promise<void> {
    const client = await RawClient.open(this.address, "", { timeoutMs: 60_000 });
    this.clients[index] = client;
    this.#sessions.push(client.sessionId);
  }

  async reattach(index: number): Promise<void> {
    const old = this.clients[index] as RawClient;
    old.connection.drop();
    this.clients[index] = await old.reattach(this.address, { timeoutMs: 60_000 });
  }

  /** Without what must differ: times, and the ids of sessions. */
  plain(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.plain(item));
    if (typeof value !== "object" || value === null || Buffer.isBuffer(value)) return value;
    if ("czxid" in value) return this.#plainStat(value as StatRecord);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.plain(item)]));
  }

  /** All that the clients have heard. */
  async heard(): Promise<string[][]> {
    const heard: string[][] = [];
    for (const client of this.clients) heard.push(await client.heard());
    return heard;
  }

  #plainStat({ ctime, mtime, ephemeralOwner, ...rest }: StatRecord): unknown {
    return {
      ...rest,
      isFromTheBeginning: ctime === 0,
      isUnchanged: mtime === 0,
      owner: this.#sessions.indexOf(ephemeralOwner),
    };
  }
}

type Action = (side: Side, client: RawClient, index: number) => Promise<unknown>;

const NAMES = ["a", "b", "c", "ab"];
const ODD_PATHS = [
  "/",
  "",
  "x",
  "//",
  "/a/",
  "/a//b",
  "/a/./b",
  "/a\0",
  "/zookeeper",
  "/zookeeper/quota",
  "/zookeeper/config",
];
const ACLS: readonly (readonly AclRecord[])[] = [
  [{ perms: 1, scheme: "world", id: "anyone" }],
  [{ perms: 30, scheme: "world", id: "anyone" }],
  [{ perms: 31, scheme: "auth", id: "" }],
  [{ perms: 31, scheme: "digest", id: "ann:x" }],
  [{ perms: 31, scheme: "ip", id: "127.0.0.1" }],
  [{ perms: 31, scheme: "ip", id: "10.0.0.0/8" }],
  [],
  [{ perms: 31, scheme: "nosuch", id: "x" }],
];
const LIMITS = ["count=3,bytes=10", "count=2,bytes=5=;byteHardLimit=12;countHardLimit=4"];

/**
 * Makes up requests. Everything is drawn before anything is sent, so that both sides get the same.
 */
class Imagination {
  readonly #random: Random;
  /** For the report of a difference. */
  readonly #drawn: unknown[] = [];
  /** Zxids that were the last one at some time. */
  readonly zxids: bigint[] = [0n];

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  next(): { what: string; action: Action; client: number } {
    this.#drawn.length = 0;
    const name = this.#random.weighted(WEIGHTS);
    const action = this.#action(name);
    return {
      what: `${name} ${JSON.stringify(this.#drawn)}`,
      action,
      client: this.#random.index(CLIENTS),
    };
  }

  #action(name: keyof typeof WEIGHTS): Action {
    const path = this.#path();
    const [version, watch, data] = [this.#version(), this.#random.chance(0.5), this.#data()];
    switch (name) {
      case "create": {
        const { path: created, ...rest } = this.#create();
        return (_, client) => client.create(created, rest);
      }
      case "delete":
        return (_, client) => client.delete(path, version);
      case "setData":
        return (_, client) => client.setData(path, data, version);
      case "exists":
        return (_, client) => client.exists(path, watch);
      case "getData":
        return (_, client) => client.getData(path, watch);
      case "getChildren":
        return (_, client) => client.getChildren(path, watch);
      case "getChildren2":
        return (_, client) => client.getChildren2(path, watch);
      case "getAcl":
        return (_, client) => client.getAcl(path);
      case "setAcl": {
        const acl = this.#acl();
        return (_, client) => client.setAcl(path, acl, version);
      }
      case "multi": {
        const steps = this.#list(5, () => this.#step());
        return (_, client) => client.multi(steps);
      }
      case "multiRead": {
        const steps = this.#list(4, () => ({
          op: this.#one(["getData", "getChildren"] as const),
          path: this.#path(),
        }));
        return (_, client) => client.multi(steps, Opcode.multiRead);
      }
      case "sync":
        return (_, client) => client.sync(path);
      case "addWatch": {
        const mode = this.#one([...Object.values(AddWatchMode), 7]);
        return (_, client) => client.addWatch(path, mode);
      }
      case "removeWatches": {
        const type = this.#one([...Object.values(WatcherType), 0]);
        return (_, client) => client.removeWatches(path, type);
      }
      case "checkWatches": {
        const type = this.#one(Object.values(WatcherType));
        // As long as anybody has a recursive watch, ZooKeeper 3.8 stumbles over a path without a
        // slash.
        const checked = path.startsWith("/") ? path : "/";
        return (_, client) => client.checkWatches(checked, type);
      }
      case "setWatches": {
        const lists = this.#list(1, () => 0).length === 0 ? 3 : 5;
        const paths = Array.from({ length: lists }, () => this.#list(3, () => this.#path()));
        const zxid = this.#one(this.zxids);
        return (_, client) => client.setWatches(zxid, paths);
      }
      case "getEphemerals":
        return (_, client) => client.getEphemerals(path);
      case "getAllChildrenNumber":
        return (_, client) => client.getAllChildrenNumber(path);
      case "auth": {
        const credential = this.#one(["ann:pw", "bob:pw"]);
        return (_, client) => client.auth("digest", credential);
      }
      case "whoAmI":
        return async (_, client) => (await client.whoAmI()).identities.sort();
      case "quota": {
        const about = this.#one(["/a", "/b", "/a/b"]);
        const limits = this.#one(LIMITS);
        return (_, client) => setQuota(client, about, limits);
      }
      case "usage": {
        const about = this.#one(["/a", "/b", "/a/b"]);
        return (_, client) => client.getData(`/zookeeper/quota${about}/zookeeper_stats`);
      }
      case "close":
        return async (side, client, index) => {
          const reply = await client.closeSession();
          await side.open(index);
          return reply;
        };
      case "reattach":
        return (side, _, index) => side.reattach(index);
      case "restore":
        return (_, client) => client.setAcl(path, OPEN);
    }
  }

  #create(): {
    path: string;
    data: string | null;
    flags: number;
    acl: readonly AclRecord[];
    ttlMs?: number;
    opcode?: number;
  } {
    const flags = this.#draw(this.#random.chance(0.02) ? 9 : this.#random.index(7));
    const create = { path: this.#path(), data: this.#data(), flags, acl: this.#acl() };
    const opcode = flags < 4 && this.#random.chance(0.3) ? { opcode: Opcode.create2 } : {};
    return flags === 5 || flags === 6
      ? { ...create, ttlMs: this.#one([-1, 0, LONG_MS]) }
      : { ...create, ...opcode };
  }

  #step(): Step {
    const path = this.#path();
    const op = this.#one(["create", "create", "delete", "setData", "check"] as const);
    if (op === "create") return { op, ...this.#create() };
    return { op, path, version: this.#version() };
  }

  #path(): string {
    if (this.#random.chance(0.04)) return this.#one(ODD_PATHS);
    const depth = 1 + this.#random.index(3);
    const names = Array.from({ length: depth }, () => NAMES[this.#random.index(NAMES.length)]);
    const number = this.#random.chance(0.08) ? `000000000${this.#random.index(10)}` : "";
    return this.#draw(`/${names.join("/")}${number}`);
  }

  #acl(): readonly AclRecord[] {
    return this.#random.chance(0.85) ? OPEN : this.#one(ACLS);
  }

  #version(): number {
    return this.#draw(this.#random.chance(0.7) ? -1 : this.#random.index(4) - 1);
  }

  #data(): string | null {
    return this.#draw(this.#random.chance(0.1) ? null : "x".repeat(this.#random.index(8)));
  }

  #list<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.#random.index(most + 1) }, make);
  }

  #one<T>(items: readonly T[]): T {
    return this.#draw(items[this.#random.index(items.length)] as T);
  }

  #draw<T>(value: T): T {
    this.#drawn.push(typeof value === "bigint" ? `${value}n` : value);
    return value;
  }
}

const WEIGHTS = {
  create: 25,
  delete: 10,
  setData: 8,
  exists: 5,
  getData: 5,
  getChildren: 4,
  getChildren2: 4,
  getAcl: 2,
  setAcl: 2,
  multi: 12,
  multiRead: 2,
  sync: 1,
  addWatch: 3,
  removeWatches: 2,
  checkWatches: 2,
  setWatches: 2,
  getEphemerals: 1,
  getAllChildrenNumber: 1,
  auth: 0.3,
  whoAmI: 0.3,
  quota: 0.5,
  usage: 2,
  close: 0.5,
  reattach: 0.5,
  restore: 3,
};

async function setQuota(client: RawClient, about: string, limits: string): Promise<number[]> {
  const errs: number[] = [];
  let parent = "/zookeeper/quota";
  for (const name of about.slice(1).split("/")) {
    parent = `${parent}/${name}`;
    errs.push((await client.create(parent)).err);
  }
  errs.push((await client.create(`${parent}/zookeeper_stats`, { data: "count=0,bytes=0" })).err);
  errs.push((await client.create(`${parent}/zookeeper_limits`, { data: limits })).err);
  errs.push((await client.setData(`${parent}/zookeeper_limits`, limits)).err);
  return errs;
}

/** What came back, without the bytes where they have been read. */
function essence(result: unknown): unknown {
  if (typeof result !== "object" || result === null || !("body" in result)) return result;
  const { body, ...rest } = result as Reply;
  const isRead = ["stat", "results", "children", "paths"].some((key) => key in rest);
  return isRead ? rest : { ...rest, body };
}

test(`${STEPS} random requests (seed ${SEED})`, { timeout: 60_000 + STEPS * 20 }, async () => {
  const interval = `-Dznode.container.checkIntervalMs=${LONG_MS}`;
  const [real, embedded] = await Promise.all([
    startServer({ jvmFlags: ["-Dzookeeper.enforceQuota=true", interval] }),
    startEmbeddedServer({
      tickTimeMs: 500,
      maxSessionTimeoutMs: 60_000,
      enforceQuotas: true,
      containerCheckIntervalMs: LONG_MS,
    }),
  ]);
  try {
    const sides = [new Side(real.address), new Side(embedded.address)] as const;
    for (let index = 0; index < CLIENTS; index++) for (const side of sides) await side.open(index);
    const imagination = new Imagination(SEED);
    for (let step = 0; step < STEPS; step++) {
      const { what, action, client } = imagination.next();
      const [theirs, ours] = await Promise.all(
        sides.map(async (side) => {
          const result = await action(side, side.clients[client] as RawClient, client).catch(
            String,
          );
          const heard = await side.heard();
          // In which order a session's ephemerals go is nobody's promise.
          if (what.startsWith("close ")) for (const events of heard) events.sort();
          return { step, what, client, result: side.plain(essence(result)), heard };
        }),
      );
      expect(ours, what).toEqual(theirs);
      const { zxid } = (await sides[0].clients[0]?.ping()) ?? { zxid: 0n };
      imagination.zxids.push(zxid);
    }
    for (const side of sides) for (const client of side.clients) client.end();
  } finally {
    await Promise.all([real.stop(), embedded.stop()]);
  }
});
