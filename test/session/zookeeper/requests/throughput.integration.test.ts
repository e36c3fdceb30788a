import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FrameReader } from "../../../../src/wire/frames.ts";
import { JuteReader, JuteWriter, MalformedFrameError } from "../../../../src/wire/jute.ts";
import { Opcode } from "../../../../src/wire/protocol.ts";
import { eventually } from "../../../support/eventually.ts";
import { type FakeReply, startFakeServer } from "../../../support/fake-server.ts";
import { openFresh } from "../../../support/fresh-session.ts";
import { collectGarbage } from "../../../support/garbage.ts";
import { openFor } from "../../../support/open-session.ts";
import { sharedServer } from "../../../support/shared-server.ts";
import { startServer } from "../../../support/zookeeper-server.ts";

const MB = 1024 * 1024;

/** Counts what leaves this process for a server (`host:port`), until the test ends. */
function countWrites(address: string): { writes: number; refused: number } {
  const port = Number(address.split(":")[1]);
  const counted = { writes: 0, refused: 0 };
  const write = Socket.prototype.write;
  Socket.prototype.write = function (this: Socket, ...args: unknown[]) {
    const accepted = Reflect.apply(write, this, args);
    if (this.remotePort === port) {
      counted.writes++;
      if (!accepted) counted.refused++;
    }
    return accepted;
  };
  onTestFinished(() => {
    Socket.prototype.write = write;
  });
  return counted;
}

describe("a session under load", () => {
  test("finishes 100,000 pipelined reads without a loss, in bounded memory", async () => {
    const session = await openFresh({ timeoutMs: 20_000 });
    await session.create("/n", Buffer.alloc(100, "x"));
    const { id } = session;
    const states: string[] = [];
    session.onState(({ state }) => states.push(state));
    collectGarbage();
    const before = process.memoryUsage.rss();
    let [answered, peak] = [0, 0];
    const read = async () => {
      const { data } = await session.getData("/n");
      if (data?.length !== 100) throw new Error(`read ${data?.length} bytes`);
      if (answered++ % 5_000 === 0) peak = Math.max(peak, process.memoryUsage.rss());
    };
    const reads: Promise<void>[] = [];
    // In ten turns: a process that does not look up for seconds loses its session by right.
    while (reads.length < 100_000) {
      for (let i = 0; i < 10_000; i++) reads.push(read());
      await nextTurn();
    }
    expect(answered).toBeLessThan(90_000);
    await Promise.all(reads);
    expect([answered, states, session.id]).toEqual([100_000, [], id]);
    expect((peak - before) / MB).toBeLessThan(300);
  });

  test("outlives a queue that a slow server needs longer than the session timeout to serve", async () => {
    const waiting: FakeReply[] = [];
    const server = await startFakeServer({
      onRequest: ({ opcode }, reply) =>
        opcode === Opcode.closeSession ? false : waiting.push(reply),
    });
    onTestFinished(() => server.close());
    const session = openFor(server.address, { timeoutMs: 2_000 });
    const startedAt = performance.now();
    let answered = 0;
    // Two answers a millisecond: 6,000 take 3 s.
    const timer = setInterval(() => {
      const due = Math.floor((performance.now() - startedAt) * 2) - answered;
      for (const reply of waiting.splice(0, due)) {
        answered++;
        reply.ok(Buffer.from("000000022f6e", "hex"));
      }
    }, 5);
    onTestFinished(() => clearInterval(timer));
    await Promise.all(Array.from({ length: 6_000 }, () => session.sync("/n")));
    expect(answered).toBeGreaterThanOrEqual(6_000);
    expect([session.state, server.connections.length]).toEqual(["connected", 1]);
  });

  test("sends the requests of one turn in one write", async () => {
    const session = await openFresh();
    await session.connected();
    const counted = countWrites(sharedServer());
    await Promise.all(Array.from({ length: 500 }, () => session.exists("/n")));
    expect(counted.writes).toBe(1);
    await Promise.all([
      session.create("/n", null),
      session.getData("/n"),
      session.setData("/n", null),
    ]);
    expect(counted.writes).toBe(2);
  });

  test("holds back what a server does not read, and finishes it when the server does", async () => {
    const server = await startServer();
    onTestFinished(() => server.stop());
    const session = openFor(server.address, { timeoutMs: 40_000 });
    await session.create("/n", null);
    const { id } = session;
    collectGarbage();
    const before = process.memoryUsage().arrayBuffers;
    const counted = countWrites(server.address);
    server.pause();
    // Two buffers for all: whatever memory the requests take beyond them is what the session has
    // made of them.
    const [long, short] = [Buffer.alloc(64 * 1024), Buffer.alloc(100)];
    let settled = 0;
    const writes = Array.from({ length: 50_000 }, async (_, index) => {
      await session.setData("/n", index < 1_000 ? long : short);
      settled++;
    });
    await eventually(() => counted.refused > 0, { message: "the socket takes everything" });
    expect(settled).toBe(0);
    expect((process.memoryUsage().arrayBuffers - before) / MB).toBeLessThan(16);
    server.resume();
    await Promise.all(writes);
    expect(settled).toBe(50_000);
    expect(await session.exists("/n")).toMatchObject({ version: 50_000 });
    expect([session.state, session.id]).toEqual(["connected", id]);
  });
});

describe("the frame reader", () => {
  test.each([1, 7, 64 * 1024, Number.MAX_SAFE_INTEGER])(
    "reads the same from chunks of %d bytes",
    (size) => {
      const texts = [0, 1, 2, 3, 4, 5, 100, 70_000, 7, 65_524, 9].map((length) =>
        randomBytes(length).toString("hex"),
      );
      // A frame without a body is one too.
      const frames = texts.flatMap((text) => [
        jute((writer) => writer.string(text)),
        Buffer.alloc(0),
      ]);
      const read: (string | null)[] = [];
      feed(streamOf(frames), size, (body) =>
        read.push(body.remaining === 0 ? null : body.string()),
      );
      expect(read).toEqual(texts.flatMap((text) => [text, null]));
    },
  );

  test("gives a frame as soon as its last byte is there, and not before", () => {
    const reader = new FrameReader(100);
    const frame = new JuteReader();
    for (const byte of streamOf([Buffer.from("abc")]).subarray(0, -1)) {
      reader.push(Buffer.from([byte]));
      expect(reader.next(frame)).toBe(false);
    }
    reader.push(Buffer.from("c"));
    expect([reader.next(frame), frame.remaining, reader.next(new JuteReader())]).toEqual([
      true,
      3,
      false,
    ]);
  });

  test.each([
    { what: "longer than allowed", length: 101 },
    { what: "of negative length", length: -1 },
  ])("refuses a frame $what, however it arrives", ({ length }) => {
    const head = Buffer.alloc(4);
    head.writeInt32BE(length);
    for (const chunks of [[head], [head.subarray(0, 1), head.subarray(1)]]) {
      const reader = new FrameReader(100);
      for (const chunk of chunks) reader.push(chunk);
      expect(() => reader.next(new JuteReader())).toThrow(MalformedFrameError);
    }
  });

  test.each([
    {
      what: "many short frames in one chunk",
      length: 60,
      count: 10_000,
      chunk: Number.MAX_SAFE_INTEGER,
    },
    { what: "many short frames in many chunks", length: 60, count: 10_000, chunk: 1_000 },
    { what: "one long frame in many chunks", length: 600_000, count: 1, chunk: 256 },
  ])("copies no byte twice: $what", ({ length, count, chunk }) => {
    const stream = streamOf(Array.from({ length: count }, () => Buffer.alloc(length)));
    const allocated = vi.spyOn(Buffer, "allocUnsafe");
    const copied = vi.spyOn(Buffer.prototype, "copy");
    onTestFinished(() => void vi.restoreAllMocks());
    let frames = 0;
    feed(stream, chunk, () => frames++);
    expect(frames).toBe(count);
    // What follows is what makes the time linear: a reader that joins chunks or moves the rest up
    // allocates far more.
    expect(sum(allocated.mock.calls.map(([size]) => size))).toBeLessThanOrEqual(stream.length);
    expect(sum(copied.mock.results.map(({ value }) => Number(value)))).toBeLessThanOrEqual(
      stream.length,
    );
  });
});

function jute(write: (writer: JuteWriter) => void): Buffer {
  const writer = new JuteWriter();
  write(writer);
  return writer.take();
}

function streamOf(frames: readonly Buffer[]): Buffer {
  return jute((writer) => {
    for (const frame of frames) writer.buffer(frame);
  });
}

/**
 * Hands out the frames of a stream that arrives in chunks of `size` bytes, each as soon as it is
 * there.
 */
function feed(stream: Buffer, size: number, each: (body: JuteReader) => void): void {
  const reader = new FrameReader(64 * MB);
  const body = new JuteReader();
  for (let at = 0; at < stream.length; at += size) {
    reader.push(stream.subarray(at, at + size));
    while (reader.next(body)) each(body);
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
