import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually, sleep } from "./eventually.ts";
import { type FakeServer, startFakeServer } from "./fake-server.ts";

let server: FakeServer;
let received: string;

beforeEach(async () => {
  server = await startFakeServer();
});

afterEach(async () => {
  await server.close();
});

// Written out by hand from the protocol, so that the fake is not checked by its own arithmetic.
const CONNECT =
  "0000002d 00000000 0000000000000000 00001770 0000000000000000 00000010 00000000000000000000000000000000 00";
const ACCEPTED =
  "00000025 00000000 00001770 0100018f3a7c0000 00000010 fefffe70c583ffff0100018f3a7c0000 00";
const GET_DATA = "0000000f 00000001 00000004 00000002 2f61 00";
const CLOSE = "00000008 00000002 fffffff5";
const PING = "00000008 fffffffe 0000000b";

async function open(...messages: string[]): Promise<Socket> {
  const socket = connect(server.port, "127.0.0.1");
  received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString("hex");
  });
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(hex(...messages));
  return socket;
}

function hex(...messages: string[]): Buffer {
  return Buffer.from(messages.join("").replaceAll(" ", ""), "hex");
}

async function expectReceived(...messages: string[]): Promise<void> {
  const expected = hex(...messages).toString("hex");
  await eventually(() => expect(received).toBe(expected), { timeoutMs: 2_000 });
}

test("accepts a session, answers pings and the goodbye, and keeps a record", async () => {
  const socket = await open(CONNECT, PING, CLOSE);
  await once(socket, "close");
  await expectReceived(
    ACCEPTED,
    "00000010 fffffffe 0000000100000000 00000000",
    "00000010 00000002 0000000100000001 00000000",
  );
  const [connection] = server.connections;
  expect(connection?.handshake).toMatchObject({ sessionId: 0n, timeoutMs: 6000, readOnly: false });
  expect(connection?.requests.map((request) => request.opcode)).toEqual([11, -11]);
  expect(connection?.opcodes).toEqual([-11]);
});

test("says what the script says", async () => {
  server.options.onRequest = (request, reply) => {
    expect(request.body.toString("hex")).toBe("000000022f6100");
    reply.event(3, 3, "/a");
    reply.error(-101);
    reply.ok(Buffer.from("data"));
    reply.raw(Buffer.from("raw"));
    reply.close();
  };
  const socket = await open(CONNECT, GET_DATA);
  await once(socket, "close");
  await expectReceived(
    ACCEPTED,
    "0000001e ffffffff ffffffffffffffff 00000000 00000003 00000003 00000002 2f61",
    "00000010 00000001 0000000100000000 ffffff9b",
    "00000014 00000001 0000000100000000 00000000 64617461",
    "726177",
  );
});

test("calls unimplemented what the script leaves to it", async () => {
  server.options.onRequest = () => false;
  await open(CONNECT, GET_DATA);
  await expectReceived(ACCEPTED, "00000010 00000001 0000000100000000 fffffffa");
});

test("leaves pings alone when told to", async () => {
  server.options.answerPings = false;
  await open(CONNECT, PING);
  await eventually(() => server.connections[0]?.requests.length === 1);
  await expectReceived(ACCEPTED);
});

test("grants the timeout it was given, and answers without a flag when none was sent", async () => {
  server.options.timeoutMs = 1000;
  await open(CONNECT.replace("0000002d", "0000002c").slice(0, -3));
  await expectReceived(
    ACCEPTED.replace("00000025", "00000024").replace("00001770", "000003e8").slice(0, -3),
  );
});

test("lets an old session in under its own id", async () => {
  await open(
    CONNECT.replace("0000000000000000 00000010", "0100000000000007 00000010").replace(
      /0{32}/,
      "ab".repeat(16),
    ),
  );
  await expectReceived(
    `00000025 00000000 00001770 0100000000000007 00000010 ${"ab".repeat(16)} 00`,
  );
});

test("refuses an expired session and closes", async () => {
  server.options.handshake = "expired";
  const socket = await open(CONNECT);
  await once(socket, "close");
  await expectReceived(
    `00000025 00000000 00000000 0000000000000000 00000010 ${"00".repeat(16)} 00`,
  );
});

test("closes, keeps silent, or shakes hands as it likes", async () => {
  server.options.handshake = "close";
  await once(await open(CONNECT), "close");
  await expectReceived();

  server.options.handshake = "silent";
  const silent = await open(CONNECT);
  await eventually(() => server.connections[1]?.handshake);
  await sleep(30);
  expect([received, silent.destroyed]).toEqual(["", false]);

  server.options.handshake = (request) => request.subarray(0, 4);
  await open(CONNECT);
  await expectReceived("00000004 00000000");
});

test("answers srvr when it has something to say", async () => {
  server.options.srvr = "Zookeeper version: 3.4.14\n";
  await once(await open("73727672"), "close");
  await expectReceived(Buffer.from("Zookeeper version: 3.4.14\n").toString("hex"));
});
