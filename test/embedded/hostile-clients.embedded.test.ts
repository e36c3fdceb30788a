/** What clients can do wrong, by accident or on purpose, and that nobody else notices. */
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedServer, startEmbeddedServer } from "../../src/embedded/server.ts";
import { JuteWriter } from "../../src/wire/jute.ts";
import { Opcode } from "../../src/wire/protocol.ts";
import { writeConnectRequest, writeMultiHeader } from "../../src/wire/records.ts";
import { RawClient } from "../contract/raw-client.ts";
import { eventually } from "../support/eventually.ts";

let server: EmbeddedServer;
let bystander: RawClient;

beforeAll(async () => {
  server = await startEmbeddedServer();
  bystander = await RawClient.open(server.address, "");
  await bystander.create("/big", { data: Buffer.alloc(1_000_000) });
});

afterAll(async () => {
  bystander.end();
  await server.stop();
});

function dial(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
    socket.on("error", () => {});
  });
}

function closed(socket: Socket): Promise<void> {
  socket.resume();
  return new Promise((resolve) =>
    socket.destroyed ? resolve() : socket.once("close", () => resolve()),
  );
}

function frame(write: (writer: JuteWriter) => void): Buffer {
  const writer = new JuteWriter();
  const start = writer.beginFrame();
  write(writer);
  writer.endFrame(start);
  return writer.take();
}

const HELLO = frame((writer) =>
  writeConnectRequest(writer, {
    lastZxidSeen: 0n,
    timeoutMs: 40_000,
    sessionId: 0n,
    password: Buffer.alloc(16),
    readOnly: false,
  }),
);

async function bystanderIsServed(): Promise<void> {
  expect((await bystander.exists("/")).err).toBe(0);
}

/** Numbers that look random and are the same every time. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("after garbage from one client, another is served:", () => {
  test.each([
    "GET / HTTP/1.1\r\n\r\n",
    "\xff\xff\xff\xff",
    "\0\0\0\0",
    "\0\0\0\x05hello",
    "\x16\x03\x01\x02",
  ])("%j instead of a handshake", async (text) => {
    const socket = await dial();
    socket.end(Buffer.from(text, "latin1"));
    await closed(socket);
    await bystanderIsServed();
  });

  test("a frame that is too short for a header", async () => {
    const socket = await dial();
    socket.write(Buffer.concat([HELLO, Buffer.from([0, 0, 0, 3, 1, 2, 3])]));
    await closed(socket);
  });

  test("random requests, in random pieces", async () => {
    const random = randomFrom(20_261_116);
    const opcodes = [...Object.values(Opcode), 102];
    for (let round = 0; round < 400; round++) {
      const socket = await dial();
      socket.write(HELLO);
      const requests = Array.from({ length: 20 }, (_, xid) =>
        frame((writer) => {
          writer.int(xid);
          writer.int(opcodes[random(opcodes.length)] ?? 0);
          for (let i = random(6); i > 0; i--) writeSomething(writer, random);
        }),
      );
      const bytes = Buffer.concat(requests);
      // Now and then a bit is another one.
      for (let i = random(4); i > 0; i--) bytes[random(bytes.length)] = random(256);
      for (let at = 0; at < bytes.length; ) {
        const end = at + 1 + random(200);
        socket.write(bytes.subarray(at, end));
        at = end;
      }
      socket.end();
      await closed(socket);
    }
    await bystanderIsServed();
  });
});

function writeSomething(writer: JuteWriter, random: (below: number) => number): void {
  const paths = [
    "/",
    "/fuzzed",
    "/zookeeper/quota",
    "/x",
    "",
    "x",
    "/a\0",
    "/a//b",
    "/zookeeper/quota/zookeeper_limits",
  ];
  switch (random(6)) {
    case 0:
      return writer.string(paths[random(paths.length)] ?? null);
    case 1:
      return writer.int(random(2 ** 32) - 2 ** 31);
    case 2:
      return writer.int(random(4) - 1);
    case 3:
      return writer.boolean(random(2) === 1);
    case 4:
      return writer.buffer(Buffer.alloc(random(50)));
    default:
      return writer.long(BigInt(random(2 ** 32)));
  }
}

describe("a client that reads badly", () => {
  test("that does not read its answers is not read from either, and costs little memory", async () => {
    const socket = await dial();
    socket.pause();
    socket.write(HELLO);
    const getBig = frame((writer) => {
      writer.int(1);
      writer.int(Opcode.getData);
      writer.string("/big");
      writer.boolean(false);
    });
    const before = process.memoryUsage().arrayBuffers;
    // Two gigabytes of answers, if they were given.
    socket.write(Buffer.concat(Array.from({ length: 2_000 }, () => getBig)));
    await bystanderIsServed();
    await bystanderIsServed();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50e6);
    expect(await isGone(socket)).toBe(false);
    socket.destroy();
  });

  test("gets all answers to 40 requests of a megabyte each", async () => {
    const client = await RawClient.open(server.address, "");
    const replies = await Promise.all(Array.from({ length: 40 }, () => client.getData("/big")));
    expect(replies.map(({ err }) => err)).toEqual(replies.map(() => 0));
    client.end();
  });

  test("loses its connection when it lets watch events pile up", async () => {
    const socket = await dial();
    const longName = `/${"n".repeat(500_000)}`;
    const watch = frame((writer) => {
      writer.int(1);
      writer.int(Opcode.addWatch);
      writer.string("/");
      writer.int(1);
    });
    socket.write(Buffer.concat([HELLO, watch]));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.pause();
    await bystander.create(longName);
    for (let i = 0; i < 300 && !(await isGone(socket)); i++) await bystander.setData(longName, "x");
    await bystander.delete(longName);
    expect(await isGone(socket)).toBe(true);
    socket.destroy();
  });

  test("loses its connection when the answer to one request has five gigabytes", async () => {
    const socket = await dial();
    const greedy = frame((writer) => {
      writer.int(1);
      writer.int(Opcode.multiRead);
      for (let i = 0; i < 5_000; i++) {
        writeMultiHeader(writer, Opcode.getData, false);
        writer.string("/big");
        writer.boolean(false);
      }
      writeMultiHeader(writer, -1, true);
    });
    socket.write(Buffer.concat([HELLO, greedy]));
    await closed(socket);
    await bystanderIsServed();
  });
});

/** Whether the server has hung up: its end of the connection is no longer among those it knows. */
async function isGone(socket: Socket): Promise<boolean> {
  const { localPort } = socket;
  const cons = await new Promise<string>((resolve) => {
    let text = "";
    const asking = connect(server.port, "127.0.0.1", () => asking.write("cons"));
    asking.on("data", (chunk) => {
      text += chunk;
    });
    asking.on("close", () => resolve(text));
  });
  return !cons.includes(`:${localPort}[`);
}

describe("many clients", () => {
  test("that say nothing keep no other client waiting, and are forgotten when they close", async () => {
    const sockets = await Promise.all(Array.from({ length: 200 }, dial));
    await bystanderIsServed();
    for (const socket of sockets) socket.destroy();
    await eventually(async () => {
      const left = await Promise.all(sockets.slice(0, 1).map(isGone));
      return left.every(Boolean);
    });
  });
});
