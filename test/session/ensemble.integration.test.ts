import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConnectionError } from "../../src/errors.ts";
import { parseConnectString } from "../../src/session/connect-string.ts";
import type { Session, WatchEvent } from "../../src/session/session.ts";
import { openSession } from "../../src/session/zookeeper/client.ts";
import { type Ensemble, startEnsemble } from "../support/ensemble.ts";
import { deferred, eventually, sleep } from "../support/eventually.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { collectGarbage } from "../support/garbage.ts";
import { openFor, rejection } from "../support/open-session.ts";
import { freshChroot } from "../support/shared-server.ts";
import type { ZooKeeperServer } from "../support/zookeeper-server.ts";

const TIMEOUT_MS = 30_000;
const WITHIN = { timeoutMs: 40_000 };
/**
 * Between the calls of one worker: enough load for every fault to hit some of them, and few enough
 * to look at all.
 */
const PACE_MS = 5;
const WRITERS = ["a", "b", "c"];
const MB = 1024 * 1024;

let ensemble: Ensemble;
/**
 * One before each server, in the same order: the session under test sees the network as they make
 * it.
 */
let proxies: FaultProxy[];
let chroot: string;

beforeAll(async () => {
  ensemble = await startEnsemble();
  proxies = await Promise.all(ensemble.servers.map((server) => startFaultProxy(server.port)));
  const made = await freshChroot(ensemble.servers[0]?.address);
  chroot = made.slice(made.indexOf("/"));
});

afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await ensemble.stop();
});

function open(servers: readonly { readonly address: string }[], path: string): Session {
  const connectString = servers.map(({ address }) => address).join(",") + path;
  return openSession({ ...parseConnectString(connectString), timeoutMs: TIMEOUT_MS });
}

/** What a writer was told of its numbered writes. */
interface Told {
  readonly done: number[];
  readonly unknown: number[];
}

/**
 * Reads, writes and watches without a pause, on one session; a second session makes the changes
 * that are watched.
 */
class Load {
  readonly session: Session;
  readonly other: Session;
  readonly verifier: Session;
  readonly states: string[] = [];
  readonly mishaps: unknown[] = [];
  readonly creates = new Map<string, Told>();
  readonly sets = new Map<string, Told>();
  readonly recursive: WatchEvent[] = [];
  /** Children of /tree by name, with the zxid that made them. */
  readonly grown = new Map<string, bigint>();
  readonly seen = { oneShot: -1, persistent: -1 };
  pending = 0;
  secretsRead = 0;
  changes = 0;
  #isOver = false;
  readonly #over = deferred();
  readonly #workers: Promise<void>[] = [];

  constructor(path: string) {
    this.session = open(proxies, path);
    this.other = open(ensemble.servers, path);
    this.verifier = open(ensemble.servers, path);
    this.session.onState(({ state }) => this.states.push(state));
  }

  async start(): Promise<void> {
    const { session, other } = this;
    for (const path of ["/", "/w", "/tree", "/once", "/always", "/quiet", "/still"])
      await other.create(path, null);
    await session.addAuth("digest", Buffer.from("user:password"));
    await session.create("/secret", Buffer.from("secret"), {
      acl: [{ perms: 31, scheme: "auth", id: "" }],
    });
    await session.addWatch("/tree", "recursive", (event) => this.recursive.push(event));
    await session.addWatch("/always", "persistent", () => void this.#look());
    for (const writer of WRITERS) {
      await session.create(`/${writer}`, null);
      this.creates.set(writer, { done: [], unknown: [] });
      this.sets.set(writer, { done: [], unknown: [] });
      this.#work((number) => this.#write(writer, number));
    }
    this.#work(() => this.#readSecret());
    this.#work(() => this.#watchOnce());
    this.#work((number) => this.#change(number));
  }

  /** Every worker has done something since: the load is back after a fault. */
  async flows(): Promise<void> {
    const progress = () =>
      [...this.sets.values()].map(({ done }) => done.length).concat(this.secretsRead, this.changes);
    const before = progress();
    await eventually(() => progress().every((count, index) => count > (before[index] ?? 0) + 3), {
      ...WITHIN,
      message: "the load stands still",
    });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    this.#over.resolve();
    await eventually(() => expect(this.pending).toBe(0), {
      ...WITHIN,
      message: "calls that never settle",
    });
    await Promise.all(this.#workers);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#over.resolve();
    await Promise.all([this.session.close(), this.other.close(), this.verifier.close()]);
  }

  #work(step: (number: number) => Promise<void>): void {
    const run = async () => {
      for (let number = 0; !this.#isOver; number++) {
        await step(number);
        await sleep(PACE_MS);
      }
    };
    this.#workers.push(run());
  }

  /**
   * Settles with the value, or with undefined when the connection was lost. Nothing else may happen
   * to a call.
   */
  async #call<T>(call: Promise<T>): Promise<T | undefined> {
    this.pending++;
    try {
      return await call;
    } catch (error) {
      if (!(error instanceof ConnectionError) || error.reason !== "connection-loss")
        this.mishaps.push(error);
      return undefined;
    } finally {
      this.pending--;
    }
  }

  async #write(writer: string, number: number): Promise<void> {
    const data = Buffer.from(String(number));
    const [created, set] = await Promise.all([
      this.#call(this.session.create(`/w/${writer}-${number}`, data)),
      this.#call(this.session.setData(`/${writer}`, data)),
    ]);
    this.creates.get(writer)?.[created === undefined ? "unknown" : "done"].push(number);
    this.sets.get(writer)?.[set === undefined ? "unknown" : "done"].push(number);
  }

  async #readSecret(): Promise<void> {
    const read = await this.#call(this.session.getData("/secret"));
    if (read?.data?.toString() === "secret") this.secretsRead++;
  }

  async #watchOnce(): Promise<void> {
    const changed = deferred();
    const read = await this.#call(
      this.session.getData("/once", { watch: () => changed.resolve() }),
    );
    if (read === undefined) return;
    this.seen.oneShot = read.stat.version;
    await Promise.race([changed.promise, this.#over.promise]);
  }

  async #look(): Promise<void> {
    const read = await this.#call(this.session.getData("/always"));
    if (read !== undefined)
      this.seen.persistent = Math.max(this.seen.persistent, read.stat.version);
  }

  async #change(number: number): Promise<void> {
    await Promise.all(
      ["/once", "/always"].map((path) => this.#call(this.other.setData(path, null))),
    );
    const made = await this.#call(this.other.create2(`/tree/${number}`, null));
    if (made === undefined) return;
    this.grown.set(made.path, made.stat.czxid);
    this.changes++;
  }
}

/** Runs a load through `fault`, and then looks at everything that was promised. */
async function survive(name: string, fault: (load: Load) => Promise<void>): Promise<Load> {
  const load = new Load(`${chroot}/${name}`);
  try {
    await load.start();
    await load.flows();
    const { id } = load.session;
    await fault(load);
    await load.flows();
    await expectWatchesToCatchUp(load);
    await load.stop();
    expect(load.mishaps).toEqual([]);
    expect([load.session.id, load.session.state, load.states.includes("lost")]).toEqual([
      id,
      "connected",
      false,
    ]);
    expect(load.states).toContain("suspended");
    await expectWritesAsTold(load);
    expect((await load.session.getData("/secret")).data?.toString()).toBe("secret");
    expect(await rejection(load.other.getData("/secret"))).toMatchObject({ reason: "no-auth" });
  } finally {
    await load.close();
  }
  return load;
}

/** While the load goes on: whoever watches sees versions as new as the newest of a moment ago. */
async function expectWatchesToCatchUp(load: Load): Promise<void> {
  await load.verifier.sync("/");
  const [once, always] = [
    await load.verifier.getData("/once"),
    await load.verifier.getData("/always"),
  ];
  const grown = [...load.grown];
  await eventually(() => {
    expect(load.seen.oneShot).toBeGreaterThanOrEqual(once.stat.version);
    expect(load.seen.persistent).toBeGreaterThanOrEqual(always.stat.version);
    const reported = new Set(load.recursive.map(({ type, path }) => `${type} ${path}`));
    const gaps = load.recursive.filter(({ type }) => type === "rearmed");
    // What a recursive watch does not report itself lies in a gap that it does report.
    const missed = grown.filter(
      ([path, czxid]) =>
        !reported.has(`created ${path}`) && !gaps.some(({ zxid = czxid }) => zxid < czxid),
    );
    expect(missed).toEqual([]);
  }, WITHIN);
}

async function expectWritesAsTold({ verifier, creates, sets }: Load): Promise<void> {
  await verifier.sync("/");
  const names = new Set(await verifier.getChildren("/w"));
  for (const [writer, { done, unknown }] of creates) {
    expect(done.filter((number) => !names.delete(`${writer}-${number}`))).toEqual([]);
    for (const number of unknown) names.delete(`${writer}-${number}`);
  }
  expect([...names]).toEqual([]);
  for (const [writer, { done, unknown }] of sets) {
    const { data, stat } = await verifier.getData(`/${writer}`);
    // Each write happened once, and those of unknown fate at most once.
    expect(stat.version).toBeGreaterThanOrEqual(done.length);
    expect(stat.version).toBeLessThanOrEqual(done.length + unknown.length);
    expect(Number(data)).toBeGreaterThanOrEqual(done.at(-1) ?? 0);
  }
}

async function expectUnansweredWrites({ verifier, sets }: Load): Promise<void> {
  for (const [writer, { done }] of sets) {
    const { stat } = await verifier.getData(`/${writer}`);
    expect(stat.version).toBeGreaterThan(done.length);
  }
}

function attachedServer({ session }: Load): ZooKeeperServer {
  const server = ensemble.servers[proxies.findIndex(({ address }) => address === session.server)];
  if (server === undefined) throw new Error(`not attached: ${session.server}`);
  return server;
}

test("an ensemble tells its members, and does not change them unless it was configured to", async () => {
  const session = openFor(ensemble.connectString);
  const { data } = await session.getConfig();
  for (const { port } of ensemble.servers)
    expect(data?.toString()).toContain(`;127.0.0.1:${port}\n`);
  expect(await rejection(session.reconfig({ leaving: "3" }))).toMatchObject({
    reason: "reconfig-disabled",
  });
});

describe("a session on an ensemble under load", () => {
  let heapBefore = 0;

  test("survives the death of the leader", async () => {
    await survive("leader", async () => {
      const leader = await ensemble.leader();
      await leader.kill();
      await ensemble.leader();
      await leader.restart();
      await ensemble.waitForQuorum();
    });
    collectGarbage();
    heapBefore = process.memoryUsage().heapUsed;
  });

  test("survives the death of its server, and hears of what happened while it was away", async () => {
    const heard: string[] = [];
    const watch = ({ type, path }: WatchEvent) => heard.push(`${type} ${path}`);
    const load = await survive("attached", async (running) => {
      const { session, other } = running;
      await session.exists("/quiet/made", { watch });
      await session.getData("/quiet", { watch });
      await session.getChildren("/quiet", { watch });
      await session.addWatch("/still", "persistent", watch);
      const server = attachedServer(running);
      // The answers stop first: every writer has a write that was carried out, and will not hear of
      // it.
      for (const proxy of proxies) proxy.stall("to-client");
      await eventually(() => expectUnansweredWrites(running), WITHIN);
      await Promise.all(proxies.map((proxy) => proxy.refuse()));
      await server.kill();
      await eventually(() => session.state === "suspended", WITHIN);
      // Its own server may be the one that died.
      await eventually(() => other.setData("/quiet", null), WITHIN);
      await eventually(() => other.setData("/still", null), WITHIN);
      await eventually(
        async () => (await other.exists("/quiet/made")) ?? other.create("/quiet/made", null),
        WITHIN,
      );
      const { changes } = running;
      await eventually(() => running.changes >= changes + 5, WITHIN);
      expect(heard).toEqual([]);
      for (const proxy of proxies) proxy.resume();
      await Promise.all(proxies.map((proxy) => proxy.listen()));
      await eventually(() => session.state === "connected", WITHIN);
      expect(attachedServer(running)).not.toBe(server);
      await server.restart();
      await ensemble.waitForQuorum();
    });
    expect(heard.sort()).toEqual([
      "children-changed /quiet",
      "created /quiet/made",
      "data-changed /quiet",
      "data-changed /still",
      "lost /still",
    ]);
    for (const { unknown } of load.sets.values()) expect(unknown).not.toEqual([]);
    expect(load.recursive.map(({ type }) => type)).toContain("rearmed");
  });

  test("survives a rolling restart, and memory stays flat", async () => {
    const load = await survive("rolling", async (running) => {
      for (const server of ensemble.servers) {
        await server.restart();
        await ensemble.waitForQuorum();
        await running.flows();
      }
    });
    expect(load.states.filter((state) => state === "connected").length).toBeGreaterThanOrEqual(2);
    collectGarbage();
    expect((process.memoryUsage().heapUsed - heapBefore) / MB).toBeLessThan(10);
  });
});
