import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually, sleep } from "./eventually.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

/** One end of a connection: what it got, and whether it is over. */
class End {
  text = "";
  isOver = false;
  error: NodeJS.ErrnoException | undefined;
  readonly socket: Socket;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk) => {
      this.text += chunk.toString("latin1");
    });
    socket.on("error", (error) => {
      this.error = error;
    });
    socket.on("close", () => {
      this.isOver = true;
    });
  }
}

let target: Server;
let proxy: FaultProxy;
let served: End[];

beforeEach(async () => {
  served = [];
  target = createServer((socket) => served.push(new End(socket)));
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  proxy = await startFaultProxy((target.address() as AddressInfo).port);
});

afterEach(async () => {
  await proxy.close();
  target.close();
});

/** Connects through the proxy, and waits for the far end unless none will come. */
async function open({ reachesServer = true } = {}): Promise<{ client: End; server: End }> {
  const client = new End(connect(proxy.port, "127.0.0.1"));
  await once(client.socket, "connect");
  if (!reachesServer) return { client, server: client };
  return { client, server: await eventually(() => served.at(proxy.accepted - 1) ?? false) };
}

/** Long enough for bytes to cross this machine many times over. */
const QUIET_MS = 60;

test("passes bytes and closes both ways, and shows the bytes", async () => {
  const seen: string[] = [];
  proxy.onBytes = (direction, chunk) => seen.push(`${direction} ${chunk}`);
  const { client, server } = await open();
  client.socket.write("ask");
  await eventually(() => server.text === "ask");
  server.socket.write("answer");
  await eventually(() => client.text === "answer");
  expect(seen).toEqual(["to-server ask", "to-client answer"]);
  expect(proxy.connections).toBe(1);
  client.socket.end();
  await eventually(() => server.isOver && proxy.connections === 0);
});

test("drop resets connections and accepts new ones", async () => {
  const { client, server } = await open();
  proxy.drop();
  await eventually(() => client.isOver && server.isOver);
  expect(client.error?.code).toBe("ECONNRESET");
  const second = await open();
  second.client.socket.write("again");
  await eventually(() => second.server.text === "again");
  expect(proxy.accepted).toBe(2);
});

test("refuse turns clients away until listen", async () => {
  const { client } = await open();
  await proxy.refuse();
  await eventually(() => client.isOver);
  const refused = new End(connect(proxy.port, "127.0.0.1"));
  await eventually(() => refused.error?.code === "ECONNREFUSED");
  await proxy.listen();
  await open();
});

test("delay keeps chunks back, in order, also when it gets shorter", async () => {
  const { client, server } = await open();
  proxy.delay(150);
  const startedAt = performance.now();
  client.socket.write("1");
  await sleep(QUIET_MS);
  proxy.delay(0);
  client.socket.write("2");
  await eventually(() => server.text === "12", { intervalMs: 1 });
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(149);
});

test("stall holds one direction until resume", async () => {
  const { client, server } = await open();
  proxy.stall("to-server");
  client.socket.write("held");
  server.socket.write("free");
  await eventually(() => client.text === "free");
  await sleep(QUIET_MS);
  expect(server.text).toBe("");
  proxy.resume();
  await eventually(() => server.text === "held");
});

test("stall holds a close back together with the bytes before it", async () => {
  const { client, server } = await open();
  proxy.stall();
  client.socket.end("last words");
  await sleep(QUIET_MS);
  expect(server).toMatchObject({ text: "", isOver: false });
  proxy.resume();
  await eventually(() => server.isOver);
  expect(server.text).toBe("last words");
});

describe("blackhole", () => {
  test("swallows bytes and closes for good, and heal resets what was swallowed", async () => {
    const { client, server } = await open();
    proxy.blackhole();
    client.socket.write("lost");
    server.socket.write("lost");
    await sleep(QUIET_MS);
    expect([client.text, server.text]).toEqual(["", ""]);
    client.socket.destroy();
    await sleep(QUIET_MS);
    expect(server.isOver).toBe(false);
    proxy.heal();
    await eventually(() => server.isOver);
    expect(server.text).toBe("");
  });

  test("accepts new connections that lead nowhere; after heal they lead to the server", async () => {
    proxy.blackhole();
    const { client } = await open({ reachesServer: false });
    client.socket.write("lost");
    await sleep(QUIET_MS);
    expect([served.length, client.isOver]).toEqual([0, false]);
    proxy.heal();
    await eventually(() => client.isOver);
    const healed = new End(connect(proxy.port, "127.0.0.1"));
    healed.socket.write("found");
    await eventually(() => served[0]?.text === "found");
  });
});

test("cutMidFrame lets half of one frame through, then closes", async () => {
  const { client, server } = await open();
  proxy.cutMidFrame("to-client");
  // Two frames of equal length: half of the chunk would be a whole frame.
  server.socket.write(Buffer.from("\0\0\0\x04abcd\0\0\0\x04efgh"));
  await eventually(() => client.isOver && server.isOver);
  expect(client.text).toBe("\0\0\0\x04");
  const second = await open();
  second.server.socket.write("whole");
  await eventually(() => second.client.text === "whole");
});

test("resets a client whose server is not there", async () => {
  await new Promise((resolve) => target.close(resolve));
  const client = new End(connect(proxy.port, "127.0.0.1"));
  await eventually(() => client.error?.code === "ECONNRESET");
});

test("severed clients are reset and refused while the server hears nothing, until it is healed", async () => {
  const { client, server } = await open();
  await proxy.sever();
  await eventually(() => client.isOver);
  expect(client.error?.code).toBe("ECONNRESET");
  await expect(open({ reachesServer: false })).rejects.toThrow("ECONNREFUSED");
  await sleep(QUIET_MS);
  expect(server.isOver).toBe(false);

  proxy.heal();
  await proxy.listen();
  await eventually(() => server.isOver);
  const again = await open();
  again.client.socket.write("hello");
  await eventually(() => again.server.text === "hello");
});
