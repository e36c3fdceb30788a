/**
 * Bytes that nobody meant: the server stays, and whoever behaves does not notice. Repeatable by its
 * seed, ZKSH_FUZZ_SEED.
 */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { JuteWriter } from "../../src/wire/jute.ts";
import { Opcode } from "../../src/wire/protocol.ts";
import { writeAcl, writeCreate, writeMultiHeader } from "../../src/wire/records.ts";
import { connectFrame, frameOf, OPEN, RawClient } from "../contract/raw-client.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { Random } from "../support/random.ts";
import { type Serving, startServing } from "./serving.ts";

const SEED = Number(process.env.ZKSH_FUZZ_SEED ?? 20_261_116);
/** More of everything, for an evening. */
const TIMES = Number(process.env.ZKSH_FUZZ_TIMES ?? 1);
const CONNECTIONS = 500;
const HANDSHAKE = connectFrame({ timeoutMs: 4_000 });

let server: Serving;
let healthy: HealthyClient;
beforeAll(async () => {
  server = await startServing();
});
beforeEach(async () => {
  healthy = await HealthyClient.start(server.address);
  return () => healthy.stop();
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

/** Reads, writes and watches all the time. Fails when anything is lost, wrong, or late. */
class HealthyClient {
  readonly #client: RawClient;
  readonly #path: string;
  #isOver = false;
  #rounds = 0;
  #slowestMs = 0;
  #life: Promise<void> = Promise.resolve();

  private constructor(client: RawClient) {
    this.#client = client;
    this.#path = `/healthy-${client.sessionId}`;
  }

  static async start(address: string): Promise<HealthyClient> {
    const healthy = new HealthyClient(await RawClient.open(address));
    await healthy.#client.create(healthy.#path, { flags: 1 });
    healthy.#life = healthy.#live();
    healthy.#life.catch(() => {});
    return healthy;
  }

  async stop(): Promise<void> {
    const enough = this.#rounds + 3;
    const served = eventually(() => this.#rounds >= enough, {
      message: "the healthy client is not served",
    });
    await Promise.race([this.#life, served]);
    this.#isOver = true;
    await this.#life;
    this.#client.end();
    expect(this.#slowestMs).toBeLessThan(5_000);
  }

  async #live(): Promise<void> {
    while (!this.#isOver) {
      const startedAt = performance.now();
      const value = String(++this.#rounds);
      await this.#client.getData(this.#path, true);
      expect(await this.#client.setData(this.#path, value)).toMatchObject({
        err: 0,
        stat: { version: this.#rounds },
      });
      expect(this.#client.events.splice(0)).toEqual([`dataChanged ${this.#path}`]);
      expect(await this.#client.getData(this.#path)).toMatchObject({ err: 0, data: value });
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - startedAt);
      await sleep(2);
    }
  }
}

function dial(): Promise<Socket> {
  const [host = "", port] = server.address.split(":");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host, () => resolve(socket));
    socket.once("error", reject);
    socket.on("error", () => {});
    // Whatever the server says: nobody listens, but the buffers must not fill.
    socket.resume();
  });
}

/** Writes, gives the server the time to read it, and leaves. */
async function throwAt(chunks: readonly Buffer[], pauseMs = 0): Promise<void> {
  const socket = await dial();
  for (const chunk of chunks) {
    if (socket.destroyed) return;
    socket.write(chunk);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  await new Promise<void>((resolve) => {
    socket.once("close", () => resolve());
    socket.end();
    setTimeout(() => socket.destroy(), 500).unref();
  });
}

/** Some at a time: the machine has only so many ports. */
async function each(count: number, throwOne: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const thrower = async () => {
    while (next < count) await throwOne(next++);
  };
  await Promise.all(Array.from({ length: 25 }, thrower));
}

function randomBytes(random: Random, length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random.index(256)));
}

let xid = 0;
const BODIES: ((writer: JuteWriter, random: Random) => void)[] = [
  ...[0, 1, 2, 3].map((flags) =>
    request(Opcode.create, (writer) => writeCreate(writer, "/f-", null, OPEN, flags)),
  ),
  request(Opcode.createTtl, (writer) =>
    writeCreate(writer, "/f-ttl", Buffer.from("x"), OPEN, 5, 50),
  ),
  request(Opcode.delete, (writer) => writer.string("/f-") ?? writer.int(-1)),
  request(
    Opcode.setData,
    (writer) => writer.string("/") ?? writer.buffer(Buffer.from("x")) ?? writer.int(-1),
  ),
  ...[Opcode.exists, Opcode.getData, Opcode.getChildren, Opcode.getChildren2].map((opcode) =>
    request(opcode, (writer) => writer.string("/") ?? writer.boolean(true)),
  ),
  request(Opcode.setAcl, (writer) => {
    writer.string("/f-");
    writer.vector(OPEN, (entry) => writeAcl(writer, entry));
    writer.int(-1);
  }),
  request(Opcode.multi, (writer) => {
    for (let step = 0; step < 3; step++) {
      writeMultiHeader(writer, Opcode.check, false);
      writer.string("/");
      writer.int(-1);
    }
    writeMultiHeader(writer, -1, true);
  }),
  request(Opcode.setWatches2, (writer) => {
    writer.long(0n);
    for (let list = 0; list < 5; list++) writer.vector(["/", "/f-"], (path) => writer.string(path));
  }),
  request(Opcode.addWatch, (writer) => writer.string("/") ?? writer.int(1)),
  request(Opcode.removeWatches, (writer) => writer.string("/") ?? writer.int(3)),
  request(
    Opcode.auth,
    (writer) => writer.int(0) ?? writer.string("digest") ?? writer.buffer(Buffer.from("a:b")),
  ),
  request(Opcode.reconfig, (writer) => {
    for (let text = 0; text < 3; text++) writer.string("");
    writer.long(-1n);
  }),
];

function request(opcode: number, body: (writer: JuteWriter) => void) {
  return (writer: JuteWriter) => {
    writer.int(++xid);
    writer.int(opcode);
    body(writer);
  };
}

/** Valid requests, in a row. */
function conversation(random: Random): Buffer[] {
  const length = 1 + random.index(8);
  return Array.from({ length }, () => {
    const body = BODIES[random.index(BODIES.length)] as (typeof BODIES)[number];
    return frameOf((writer) => body(writer, random));
  });
}

/** One or more things that go wrong: bits, bytes, lengths, ends. */
function mutate(bytes: Buffer, random: Random): Buffer {
  const mutated = Buffer.from(bytes);
  for (let count = 1 + random.index(4); count > 0; count--) {
    const at = random.index(mutated.length);
    const ways = { bit: 4, byte: 3, number: 2 };
    const way = random.weighted(ways);
    if (way === "bit") mutated[at] = (mutated[at] ?? 0) ^ (1 << random.index(8));
    else if (way === "byte") mutated[at] = random.index(256);
    else if (at + 4 <= mutated.length) {
      const numbers = [-1, 0, 1, 0x7fff_ffff, -0x8000_0000, 0xffff, 1_048_576];
      mutated.writeInt32BE(numbers[random.index(numbers.length)] ?? 0, at);
    }
  }
  return random.chance(0.2) ? mutated.subarray(0, random.index(mutated.length)) : mutated;
}

describe("the server stays, and a healthy client is served, with", () => {
  test("random bytes", async () => {
    await each(CONNECTIONS * TIMES, (index) => {
      const random = new Random(SEED + index);
      const bytes = randomBytes(random, 1 + random.index(300));
      return throwAt(random.chance(0.5) ? [HANDSHAKE, bytes] : [bytes]);
    });
  });

  test("random frames of the right length", async () => {
    await each(CONNECTIONS * TIMES, (index) => {
      const random = new Random(SEED + index);
      const frames = Array.from({ length: 5 }, () => {
        const body = randomBytes(random, random.index(100));
        // Most of them with a good header, else nothing gets to what reads the body.
        if (body.length >= 8 && random.chance(0.8)) {
          const opcodes = Object.values(Opcode);
          body.writeInt32BE(random.index(1_000), 0);
          body.writeInt32BE(opcodes[random.index(opcodes.length)] ?? 0, 4);
        }
        const head = Buffer.alloc(4);
        head.writeInt32BE(body.length);
        return Buffer.concat([head, body]);
      });
      return throwAt([HANDSHAKE, ...frames]);
    });
  });

  test("mutated requests", async () => {
    await each(CONNECTIONS * 2 * TIMES, (index) => {
      const random = new Random(SEED + index);
      const frames = conversation(random).map((frame) =>
        random.chance(0.6) ? mutate(frame, random) : frame,
      );
      const opening = random.chance(0.2) ? mutate(HANDSHAKE, random) : HANDSHAKE;
      return throwAt([opening, ...frames]);
    });
  });

  test("half frames, whose other half never comes", async () => {
    await each(CONNECTIONS, async (index) => {
      const random = new Random(SEED + index);
      const bytes = Buffer.concat([HANDSHAKE, ...conversation(random)]);
      await throwAt([bytes.subarray(0, 1 + random.index(bytes.length))]);
    });
  });

  test("bytes that come one by one: slow, but good", async () => {
    await each(25, async (index) => {
      const random = new Random(SEED + index);
      const bytes = Buffer.concat([
        HANDSHAKE,
        frameOf(request(Opcode.sync, (writer) => writer.string("/"))),
      ]);
      const cuts = Array.from(bytes, (byte) => Buffer.from([byte]));
      const socket = await dial();
      const received: Buffer[] = [];
      socket.on("data", (chunk) => received.push(chunk));
      for (const byte of cuts) {
        socket.write(byte);
        if (random.chance(0.2)) await sleep(1);
      }
      // Both answers: 41 bytes of the handshake's, 25 of the other.
      await expect.poll(() => Buffer.concat(received).length).toBe(41 + 25);
      socket.destroy();
    });
  });

  test(`${CONNECTIONS} connections that stay open and say nothing, or half of something`, async () => {
    const random = new Random(SEED);
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, dial));
    for (const socket of sockets) {
      const bytes = Buffer.concat([HANDSHAKE, ...conversation(random)]);
      if (random.chance(0.7)) socket.write(bytes.subarray(0, random.index(bytes.length)));
    }
    const latecomer = await RawClient.open(server.address);
    expect(await latecomer.exists("/")).toMatchObject({ err: 0 });
    latecomer.end();
    for (const socket of sockets) socket.destroy();
  });

  test("clients that ask for a lot and read nothing", async () => {
    const big = await RawClient.open(server.address);
    await big.create("/big", { data: Buffer.alloc(500_000) });
    const sockets = await Promise.all(Array.from({ length: 5 }, dial));
    const ask = frameOf(
      request(Opcode.getData, (writer) => writer.string("/big") ?? writer.boolean(false)),
    );
    for (const socket of sockets) {
      socket.pause();
      socket.write(Buffer.concat([HANDSHAKE, ...Array(500).fill(ask)]));
    }
    for (let round = 0; round < 20; round++)
      expect((await big.getData("/big")).stat?.dataLength).toBe(500_000);
    const { rssMb } = await server.memory();
    for (const socket of sockets) socket.destroy();
    await big.delete("/big");
    big.end();
    expect(rssMb).toBeLessThan(600);
  });
});
