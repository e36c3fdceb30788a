import { createRequire } from "node:module";
import zookeeper from "node-zookeeper-client";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../support/certificates.ts";
import {
  errorServer,
  fake,
  growth,
  halfFrameServer,
  lastConnection,
  NEVER_MS,
  Op,
  oneMuteOfTwo,
  open,
  pingsOf,
  SHORT_SESSION_MS,
  silentServer,
  strangeEventServer,
  syncServer,
  UNKNOWN_CODES,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { freshChroot } from "../support/shared-server.ts";
import { startTlsServer } from "../support/tls-server.ts";
import {
  connectedPlain,
  connectPlain,
  DISCONNECTED,
  outcomeOf,
  plainProcess,
  SYNC_CONNECTED,
} from "./plain.ts";

// node-zookeeper-client 1.1.3 as it is. The same experiments with our session:
// test/session/defects-known.integration.test.ts.

const jute = createRequire(import.meta.url)("node-zookeeper-client/lib/jute");

describe("3.1 no read timeout", () => {
  test("a silent server keeps a request waiting and the client connected, ping after ping", async () => {
    const server = await silentServer();
    const client = await connectedPlain(server.address, { sessionTimeout: SHORT_SESSION_MS });
    const created = outcomeOf<string>((callback) => client.create("/a", callback));
    await sleep(2 * SHORT_SESSION_MS);
    expect(client.getState()).toBe(SYNC_CONNECTED);
    expect(created.calls).toEqual([]);
    expect(pingsOf(server)).toBeGreaterThan(3);
  });
});

describe("3.1 handshake never times out", () => {
  test("a server that never answers the handshake is waited for, though another one would answer", async () => {
    const { connectString, servers } = await oneMuteOfTwo();
    const client = connectPlain(connectString, { sessionTimeout: SHORT_SESSION_MS });
    await sleep(2 * SHORT_SESSION_MS);
    expect(servers.flatMap(({ connections }) => connections)).toHaveLength(1);
    expect(client.getState()).toBe(DISCONNECTED);
  });
});

describe("3.1 never self-expires", () => {
  test("a session that reaches no server is never declared lost", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address, { sessionTimeout: SHORT_SESSION_MS });
    const states: string[] = [];
    client.on("state", ({ name }) => states.push(name));
    await server.close();
    await sleep(2 * SHORT_SESSION_MS);
    expect(states).toEqual(["DISCONNECTED"]);
  });
});

describe("3.1 pendingBuffer survives", () => {
  test("half a frame swallows the next connection's handshake, and the client hangs", async () => {
    const server = await halfFrameServer();
    const client = await connectedPlain(server.address, { sessionTimeout: SHORT_SESSION_MS });
    await outcomeOf((callback) => client.exists("/a", callback)).settled();
    await eventually(() => server.connections.length === 2);
    await sleep(2 * SHORT_SESSION_MS);
    expect(client.getState()).toBe(DISCONNECTED);
    expect(server.connections).toHaveLength(2);
    expect(lastConnection(server).isOpen).toBe(true);
  });
});

describe("3.1 unknown error codes throw", () => {
  test("each of them is an uncaught exception, and no callback is called", async () => {
    const server = await errorServer();
    const plain = plainProcess(server.address);
    plain.run("connect");
    await plain.says("state SYNC_CONNECTED");
    for (const code of UNKNOWN_CODES) {
      plain.run(`exists /${code}`);
      await plain.says(`uncaught Error: Unknown code: ${code}`);
    }
    expect(plain.lines.filter((line) => line.startsWith("callback"))).toEqual([]);
  });
});

describe("3.1 version 0 = any in Transaction", () => {
  test("a delete of version 0 removes a node of version 1", async () => {
    const connectString = await freshChroot();
    const session = open(connectString);
    await session.create("/a", null);
    await session.setData("/a", Buffer.from("1"));
    const client = await connectedPlain(connectString);
    const removed = outcomeOf((callback) => client.transaction().remove("/a", 0).commit(callback));
    expect((await removed.settled()).error).toBeFalsy();
    expect(await session.exists("/a")).toBeUndefined();
  });
});

describe("3.1 unknown opcode reply", () => {
  test("an answer to an operation it does not know costs the connection, and nobody is told", async () => {
    const server = await syncServer();
    const client = await connectedPlain(server.address);
    const header = new jute.protocol.RequestHeader();
    header.type = Op.sync;
    const synced = outcomeOf((callback) =>
      client.connectionManager.queue(new jute.Request(header, null), callback),
    );
    await eventually(() => server.connections.length === 2 && client.getState() === SYNC_CONNECTED);
    await outcomeOf((callback) => client.exists("/a", callback)).settled();
    expect(synced.calls).toEqual([]);
  });
});

describe("3.1 unknown event types throw", () => {
  test("an event of an unknown type is an uncaught exception", async () => {
    const server = await strangeEventServer();
    const plain = plainProcess(server.address);
    plain.run("connect");
    await plain.says("state SYNC_CONNECTED");
    plain.run("exists /a");
    await plain.says("uncaught Error: Unknown event type: 5");
  });
});

describe("3.1 O(n^2)", () => {
  test("a read in a pipeline of 64,000 costs much more than one in a pipeline of 8,000", async () => {
    const server = await fake();
    const client = await connectedPlain(server.address, { sessionTimeout: 60_000 });
    const read = (resolve: (value: unknown) => void) => client.exists("/a", resolve);
    const pipeline = (reads: number) =>
      Promise.all(Array.from({ length: reads }, () => new Promise(read)));
    expect(await growth(64_000, pipeline)).toBeGreaterThan(1.5);
  }, 60_000);
});

describe("3.1 IPv6", () => {
  test.each([
    ["[::1]:2181", "["],
    ["::1", ""],
  ])("%s is taken for a host called %j", (connectString, host) => {
    const client = zookeeper.createClient(connectString);
    expect(client.connectionManager.servers).toMatchObject([{ host }]);
  });
});

describe("3.1 no TLS, no read-only", () => {
  test("a TLS port is never connected to", async () => {
    const certificates = makeCertificates();
    onTestFinished(() => certificates.remove());
    const tls = await startTlsServer({
      certificate: certificates.server,
      clientCa: certificates.ca,
    });
    onTestFinished(() => tls.stop());
    const client = connectPlain(tls.secureAddress, { sessionTimeout: SHORT_SESSION_MS });
    await sleep(SHORT_SESSION_MS + NEVER_MS);
    expect(client.getState()).toBe(DISCONNECTED);
  });

  test("the handshake has no place to say that a read-only server will do", async () => {
    const lengths: number[] = [];
    const server = await fake({
      handshake: (request) => {
        lengths.push(request.length);
        return null;
      },
    });
    connectPlain(server.address);
    await eventually(() => lengths.length > 0);
    expect(lengths).toEqual([44]);
  });
});
