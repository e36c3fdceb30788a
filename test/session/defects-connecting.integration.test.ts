import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { Link } from "../../src/session/zookeeper/connecting/link.ts";
import { makeCertificates } from "../support/certificates.ts";
import {
  dropAfterHandshake,
  fake,
  halfFrameServer,
  lastConnection,
  oneMuteOfTwo,
  open,
  SHORT_SESSION_MS,
} from "../support/defect-experiments.ts";
import { eventually, sleep } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startTlsServer } from "../support/tls-server.ts";

// Our session in the situations in which node-zookeeper-client 1.1.3 fails. The same experiments with
// that package: test/defects/connecting.test.ts.

describe("a server that never answers the handshake", () => {
  test("a server that never answers the handshake is left for the next one", async () => {
    const { connectString, servers } = await oneMuteOfTwo();
    const session = open(connectString, { connectTimeoutMs: SHORT_SESSION_MS });
    await session.connected();
    expect(servers.map(({ connections }) => connections.length)).toEqual([1, 1]);
  });
});

describe("a connection that ends in the middle of a frame", () => {
  test("half a frame is forgotten with the connection that brought it", async () => {
    const server = await halfFrameServer();
    const session = open(server.address);
    expect(await session.exists("/a")).toBeUndefined();
    expect(server.connections).toHaveLength(2);
    expect(session.state).toBe("connected");
  });
});

describe("IPv6 addresses", () => {
  test.each(["[::1]:PORT", "[::1]:PORT/chroot"])(
    "%s is the IPv6 host and its port",
    async (form) => {
      const port = await freePort();
      const session = open(form.replace("PORT", String(port)), { refusedTimeoutMs: 0 });
      // Nobody listens there. "No such host" would mean that the address had been taken for a name.
      const reason = `cannot connect to ZooKeeper: [::1]:${port} (`;
      await expect(session.connected()).rejects.toThrow(reason);
      await expect(session.connected()).rejects.toThrow(
        /\((connection refused|address not available|network unreachable)/,
      );
    },
  );
});

describe("TLS and read-only servers", () => {
  test("a session opens over TLS", async () => {
    const certificates = makeCertificates();
    onTestFinished(() => certificates.remove());
    const tls = await startTlsServer({
      certificate: certificates.server,
      clientCa: certificates.ca,
    });
    onTestFinished(() => tls.stop());
    const session = open(tls.secureAddress, { tls: { ca: readFileSync(certificates.ca) } });
    expect(await session.getChildren("/")).toEqual(["zookeeper"]);
  });

  test.each([true, false])(
    "the handshake says whether a read-only server will do: %s",
    async (readOnly) => {
      const server = await fake();
      await open(server.address, { readOnly }).connected();
      expect(lastConnection(server).handshake?.readOnly).toBe(readOnly);
    },
  );
});

describe("a server that drops every connection after the handshake", () => {
  test("a server that drops every connection after the handshake is tried less and less often", async () => {
    const server = await dropAfterHandshake();
    const session = open(server.address);
    await session.connected();
    await sleep(1_000);
    expect(server.connections.length).toBeGreaterThan(2);
    expect(server.connections.length).toBeLessThan(15);
  });
});

describe("events of an old socket", () => {
  test("an event of a socket reaches its own connection, and none once the socket is given up", async () => {
    const server = await fake();
    const told: string[] = [];
    const handshake = (name: string) => ({
      firstFlight: () => {
        told.push(`${name} open`);
        return Buffer.alloc(0);
      },
    });
    const untold = { accepted() {}, failed() {} };
    const events = (name: string) => ({
      data: (chunk: Buffer) => told.push(`${name} ${chunk}`),
      drain: () => {},
      closed: () => told.push(`${name} closed`),
    });
    const endpoint = {
      address: server.address,
      host: "127.0.0.1",
      ip: "127.0.0.1",
      port: server.port,
    };
    const [old, next] = [
      new Link(endpoint, undefined, handshake("old").firstFlight, untold),
      new Link(endpoint, undefined, handshake("next").firstFlight, untold),
    ];
    old.listen(events("old"));
    next.listen(events("next"));
    onTestFinished(() => next.destroy());
    await eventually(() => told.length === 2 && server.connections.length === 2);
    told.length = 0;
    for (const connection of server.connections) connection.raw(Buffer.from("late"));
    // The bytes are under way: what would be read of them, and the end of the socket, come after
    // this.
    old.destroy();
    await eventually(() => expect(told).toEqual(["next late"]));
    next.listen(events("heir"));
    for (const connection of server.connections) connection.close();
    await eventually(() => expect(told).toEqual(["next late", "heir closed"]));
  });

  test("a session has no second connect() to call", async () => {
    const server = await fake();
    expect(open(server.address)).not.toHaveProperty("connect");
  });
});
