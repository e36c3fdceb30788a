import zookeeper from "node-zookeeper-client";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeCertificates } from "../support/certificates.ts";
import {
  dropAfterHandshake,
  fake,
  halfFrameServer,
  lastConnection,
  NEVER_MS,
  oneMuteOfTwo,
  SHORT_SESSION_MS,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { startTlsServer } from "../support/tls-server.ts";
import { connectedPlain, connectPlain, DISCONNECTED, outcomeOf } from "./plain.ts";

// How node-zookeeper-client 1.1.3 fails. The same experiments with our session:
// test/session/defects-connecting.integration.test.ts.

describe("a server that never answers the handshake", () => {
  test("a server that never answers the handshake is waited for, though another one would answer", async () => {
    const { connectString, servers } = await oneMuteOfTwo();
    const client = connectPlain(connectString, { sessionTimeout: SHORT_SESSION_MS });
    await sleep(2 * SHORT_SESSION_MS);
    expect(servers.flatMap(({ connections }) => connections)).toHaveLength(1);
    expect(client.getState()).toBe(DISCONNECTED);
  });
});

describe("a connection that ends in the middle of a frame", () => {
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

describe("IPv6 addresses", () => {
  test.each([
    ["[::1]:2181", "["],
    ["::1", ""],
  ])("%s is taken for a host called %j", (connectString, host) => {
    const client = zookeeper.createClient(connectString);
    expect(client.connectionManager.servers).toMatchObject([{ host }]);
  });
});

describe("TLS and read-only servers", () => {
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

describe("a server that drops every connection after the handshake", () => {
  test("a server that drops every connection after the handshake is hammered", async () => {
    const server = await dropAfterHandshake();
    connectPlain(server.address, { spinDelay: 1_000 });
    await sleep(1_000);
    expect(server.connections.length).toBeGreaterThan(50);
  });
});

describe("events of an old socket", () => {
  test("after a second connect() one socket's answer is taken for the other's, and the session is dropped", async () => {
    const server = await fake();
    // Twice the same address: with one the second connect() throws even earlier, for want of a next
    // address.
    const client = connectPlain(`${server.address},${server.address}`);
    const states: string[] = [];
    client.on("state", ({ name }) => states.push(name));
    client.connect();
    await eventually(() => server.connections.length > 2);
    expect(states.slice(0, 2)).toEqual(["SYNC_CONNECTED", "DISCONNECTED"]);
    expect(server.connections[0]?.isOpen).toBe(true);
  });
});
