import { describe, expect, test } from "vitest";
import type { Data, Session } from "../../../../src/session/session.ts";
import type { ServerReleases } from "../../../../src/session/zookeeper/connecting/server-releases.ts";
import { ReadBatches } from "../../../../src/session/zookeeper/requests/read-batches.ts";
import { Request } from "../../../../src/session/zookeeper/requests/request.ts";
import { RequestQueue } from "../../../../src/session/zookeeper/requests/request-queue.ts";
import { Opcode } from "../../../../src/wire/protocol.ts";
import { behindProxy } from "../../../support/behind-proxy.ts";
import { eventually } from "../../../support/eventually.ts";
import type { FaultProxy } from "../../../support/fault-proxy.ts";
import { openFresh } from "../../../support/fresh-session.ts";
import { rejection } from "../../../support/open-session.ts";

const KB = 1024;

/** The frames that pass a proxy in one direction, from now on. */
class Frames {
  readonly all: Buffer[] = [];
  #rest: Buffer = Buffer.alloc(0);

  constructor(proxy: FaultProxy, direction: "to-server" | "to-client") {
    proxy.onBytes = (towards, chunk) => {
      if (towards === direction && !chunk.equals(Buffer.from("srvr"))) this.#push(chunk);
    };
  }

  /** The opcodes of requests, without the heartbeats. */
  get opcodes(): number[] {
    return this.all.map((frame) => frame.readInt32BE(4)).filter((opcode) => opcode !== Opcode.sync);
  }

  get longest(): number {
    return Math.max(...this.all.map((frame) => frame.length));
  }

  #push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 4) {
      const end = 4 + this.#rest.readInt32BE(0);
      if (this.#rest.length < end) return;
      this.all.push(this.#rest.subarray(4, end));
      this.#rest = this.#rest.subarray(end);
    }
  }
}

/** Reads until the server has answered a batch. */
async function getAcquainted(session: Session, proxy: FaultProxy): Promise<void> {
  await eventually(async () => {
    const sent = new Frames(proxy, "to-server");
    await readMany(session, Array(16).fill("/"));
    return sent.opcodes.includes(Opcode.multiRead);
  });
}

function readMany(session: Session, paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map(async (path) => String((await session.getData(path)).data)));
}

async function createMany(session: Session, count: number): Promise<string[]> {
  const paths = Array.from({ length: count }, (_, i) => `/n${i}`);
  await Promise.all(paths.map((path) => session.create(path, Buffer.from(path))));
  return paths;
}

/** All that a caller can see of an outcome. */
function seen(outcome: PromiseSettledResult<Data | string[]>): unknown {
  if (outcome.status === "fulfilled") {
    const { value } = outcome;
    return Array.isArray(value) ? value : { ...value, data: value.data?.toString("latin1") };
  }
  const { name, message, ...rest } = outcome.reason as Error;
  return { name, message, ...rest };
}

describe("many reads behind each other", () => {
  test("are answered as each would be alone", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/text", Buffer.from("text"));
    await other.create("/text/child", null);
    await other.create("/empty", Buffer.alloc(0));
    await other.create("/long", Buffer.alloc(50 * KB, "x"));
    await other.create("/secret", null, { acl: [{ perms: 2, scheme: "world", id: "anyone" }] });
    await getAcquainted(session, proxy);
    const paths = [
      "/text",
      "/text/child",
      "/empty",
      "/long",
      "/secret",
      "/none",
      "/",
      "/zookeeper",
      "bad",
    ];
    const looks = paths.flatMap((path): (() => Promise<Data | string[]>)[] => [
      () => session.getData(path),
      () => session.getChildren(path),
    ]);
    const alone: unknown[] = [];
    for (const look of looks) alone.push(...(await Promise.allSettled([look()])).map(seen));
    const sent = new Frames(proxy, "to-server");
    const together = await Promise.allSettled([...looks, ...looks, ...looks].map((look) => look()));
    expect(together.map(seen)).toEqual([...alone, ...alone, ...alone]);
    expect(sent.opcodes).toContain(Opcode.multiRead);
  });

  test("leave as few requests, of which none is lost", async () => {
    const { session, proxy, other } = await behindProxy();
    const [path = ""] = await createMany(other, 1);
    await getAcquainted(session, proxy);
    const sent = new Frames(proxy, "to-server");
    const found = await readMany(session, Array(30_000).fill(path));
    expect(found.filter((data) => data !== path)).toEqual([]);
    expect(found).toHaveLength(30_000);
    expect(sent.opcodes.length).toBeLessThan(2_500);
  });

  test("leave one by one when there are only a few, or when they watch", async () => {
    const { session, proxy } = await behindProxy();
    await getAcquainted(session, proxy);
    const sent = new Frames(proxy, "to-server");
    await readMany(session, Array(15).fill("/"));
    await Promise.all(Array.from({ length: 20 }, () => session.getData("/", { watch: () => {} })));
    expect(sent.opcodes).toEqual(Array(35).fill(Opcode.getData));
    await readMany(session, Array(16).fill("/"));
    expect(sent.opcodes.slice(35)).toEqual([Opcode.multiRead]);
  });

  test("see every write before them and none behind them", async () => {
    const { session, proxy, other } = await behindProxy();
    await other.create("/n", Buffer.from("0"));
    for (const _ of ["not acquainted", "acquainted"]) {
      await session.setData("/n", Buffer.from("0"));
      const sent = new Frames(proxy, "to-server");
      const rounds = Array.from({ length: 60 }, (_, round) => {
        const reads = readMany(session, Array(20).fill("/n"));
        void session.setData("/n", Buffer.from(`${round + 1}`));
        const first = readMany(session, ["/n"]);
        return Promise.all([reads, first]);
      });
      const found = await Promise.all(rounds);
      expect(found).toEqual(
        found.map((_, round) => [Array(20).fill(`${round}`), [`${round + 1}`]]),
      );
      expect(sent.opcodes.filter((opcode) => opcode === Opcode.setData)).toHaveLength(60);
      await getAcquainted(session, proxy);
    }
  });

  test("have a line each in the trace", async () => {
    const lines: string[] = [];
    const { session, proxy, other } = await behindProxy({ trace: (line) => lines.push(line) });
    const paths = await createMany(other, 20);
    await getAcquainted(session, proxy);
    lines.length = 0;
    await Promise.allSettled([...paths, "/none"].map((path) => session.getData(path)));
    const reads = lines.filter((line) => !line.startsWith("sync "));
    expect(reads).toHaveLength(21);
    expect(reads[3]).toMatch(/^getData \/test-\S+\/n3 -> ok in [\d.]+ ms$/);
    expect(reads[20]).toMatch(/^getData \/test-\S+\/none -> NoNode in [\d.]+ ms$/);
  });

  test("are asked for in short pieces where answers are long, and in long ones again where they are short", async () => {
    const { session, proxy, other } = await behindProxy();
    const paths = await createMany(other, 60);
    await getAcquainted(session, proxy);
    await Promise.all(paths.map((path) => other.setData(path, Buffer.alloc(50 * KB, path))));
    // The length of the first answers cannot be known.
    const surprise = new Frames(proxy, "to-client");
    await readMany(session, paths.slice(0, 20));
    expect(surprise.longest).toBeLessThan(21 * 51 * KB);
    const replies = new Frames(proxy, "to-client");
    const found = await readMany(session, paths);
    expect(found.map((data) => data.slice(0, 3))).toEqual(
      paths.map((path) => path.repeat(3).slice(0, 3)),
    );
    expect(replies.longest).toBeLessThan(260 * KB);
    expect(replies.longest).toBeGreaterThan(150 * KB);
    await readMany(session, Array(2_000).fill("/"));
    const sent = new Frames(proxy, "to-server");
    await readMany(session, Array(2_000).fill("/"));
    expect(sent.opcodes.length).toBeLessThan(150);
  });

  test("go alone where an answer is longer than a batch should be", async () => {
    const { session, proxy, other } = await behindProxy();
    const paths = await createMany(other, 20);
    await getAcquainted(session, proxy);
    await Promise.all(paths.map((path) => other.setData(path, Buffer.alloc(300 * KB))));
    await readMany(session, paths);
    const sent = new Frames(proxy, "to-server");
    await readMany(session, paths);
    expect(sent.opcodes).toEqual(Array(20).fill(Opcode.getData));
    for (let i = 0; i < 2; i++) await readMany(session, Array(200).fill("/"));
    expect(sent.opcodes).toContain(Opcode.multiRead);
  });

  test("keep requests short where paths are long", async () => {
    const { session, proxy } = await behindProxy();
    await getAcquainted(session, proxy);
    const sent = new Frames(proxy, "to-server");
    const short = readMany(session, Array(2_000).fill("/"));
    const long = Array.from({ length: 200 }, (_, i) =>
      rejection(session.getData(`/${i}${"€".repeat(5 * KB)}`)),
    );
    await short;
    for (const error of await Promise.all(long)) expect(error).toMatchObject({ reason: "no-node" });
    expect(sent.longest).toBeLessThan(257 * KB);
    expect(sent.longest).toBeGreaterThan(200 * KB);
  });
});

describe("a connection that breaks under a batch", () => {
  test.each(["in the middle of the answer", "before the answer"])(
    "%s: each read is answered once",
    async (when) => {
      const { session, proxy, other } = await behindProxy();
      const paths = await createMany(other, 100);
      await getAcquainted(session, proxy);
      if (when === "before the answer") proxy.stall("to-client");
      else proxy.cutMidFrame();
      const answered: string[] = [];
      const reads = paths.map(async (path) =>
        answered.push(String((await session.getData(path)).data)),
      );
      const sent = new Frames(proxy, "to-server");
      await eventually(() => sent.all.length > 0);
      if (when === "before the answer") {
        proxy.drop();
        proxy.heal();
      }
      await Promise.all(reads);
      expect(answered).toEqual(paths);
      expect(sent.opcodes).toContain(Opcode.multiRead);
      // Each goes alone from now on, in case that it was the batch that broke it.
      expect(sent.opcodes.filter((opcode) => opcode === Opcode.getData).length).toBeGreaterThan(15);
    },
  );
});

/** What leaves of a queue with many plain reads, without a socket. */
function startQueue(): {
  queue: RequestQueue;
  framesOf(reads: number, options?: { onlyRepeatable: boolean }): number;
} {
  const batches = new ReadBatches({
    ask: async () => ({ product: "ZooKeeper", version: [3, 8, 0] as const }),
  } as unknown as ServerReleases);
  batches.attach({ address: "a:1", host: "a", ip: "127.0.0.1", port: 1 });
  const queue = new RequestQueue(batches);
  const framesOf = (reads: number, options?: { onlyRepeatable: boolean }) => {
    for (let i = 0; i < reads; i++) {
      queue.push(new Request(Opcode.getData, () => {}, "/", true));
    }
    queue.load(0, options);
    const flight = queue.writer.take();
    let frames = 0;
    for (let at = 0; at < flight.length; at += 4 + flight.readInt32BE(at)) frames++;
    return frames;
  };
  return { queue, framesOf };
}

test("reads leave with a handshake one by one, also after a server with multiRead", async () => {
  const { framesOf } = startQueue();
  // Asks what the server is.
  expect(framesOf(20)).toBe(20);
  await Promise.resolve();
  expect(framesOf(20, { onlyRepeatable: true })).toBe(20);
  // 16, and no more before they are answered.
  expect(framesOf(20)).toBe(1);
});

test.each([
  { tookMs: 0.3, underWay: 4 },
  { tookMs: 20, underWay: 20 },
  { tookMs: 500, underWay: 32 },
])(
  "$underWay batches are under way where a round trip takes $tookMs ms",
  async ({ tookMs, underWay }) => {
    const { queue, framesOf } = startQueue();
    framesOf(16);
    await Promise.resolve();
    expect(framesOf(4_000)).toBe(1);
    for (let i = 0; i < 4_000; i++) queue.window.answered(0, 0);
    queue.batches.returned();
    queue.batches.answered(tookMs);
    expect(framesOf(0)).toBe(underWay);
  },
);

test("a turn that reads answers ends though their readers ask on", async () => {
  const session = await openFresh();
  let [answered, inThisTurn, mostInTurn] = [0, 0, 0];
  const readOn = async () => {
    while (answered < 100_000) {
      await session.getData("/");
      answered++;
      mostInTurn = Math.max(mostInTurn, ++inThisTurn);
    }
  };
  const turn = () => {
    inThisTurn = 0;
    if (answered < 100_000) setImmediate(turn);
  };
  turn();
  await Promise.all(Array.from({ length: 4_000 }, readOn));
  expect(mostInTurn).toBeLessThan(10_000);
});
