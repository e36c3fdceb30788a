import { getServers, setServers } from "node:dns";
import { readFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { parseConnectString } from "../../../../src/session/connect-string.ts";
import type { TlsOptions } from "../../../../src/session/options.ts";
import type { Session } from "../../../../src/session/session.ts";
import { openSession } from "../../../../src/session/zookeeper/client.ts";
import {
  type Certificates,
  type KeyPair,
  makeCertificates,
} from "../../../support/certificates.ts";
import { type DnsServer, startDnsServer } from "../../../support/dns-server.ts";
import { eventually } from "../../../support/eventually.ts";
import { startFaultProxy } from "../../../support/fault-proxy.ts";
import { startTlsServer, type TlsServer } from "../../../support/tls-server.ts";

let certificates: Certificates;
let ca: Buffer;
let client: { cert: Buffer; key: Buffer };
/** Wants a certificate from its clients. */
let demanding: TlsServer;
let expired: TlsServer;
let mismatched: TlsServer;
const started: TlsServer[] = [];
const sessions: Session[] = [];

beforeAll(async () => {
  certificates = makeCertificates();
  ca = readFileSync(certificates.ca);
  client = pems(certificates.client);
  const start = async (certificate: KeyPair, clientAuth: "none" | "need") => {
    const server = await startTlsServer({ certificate, clientCa: certificates.ca, clientAuth });
    started.push(server);
    return server;
  };
  [demanding, expired, mismatched] = await Promise.all([
    start(certificates.server, "need"),
    start(certificates.expired, "none"),
    start(certificates.mismatched, "none"),
  ]);
});

afterEach(async () => {
  await Promise.all(sessions.splice(0).map((session) => session.close()));
});

afterAll(async () => {
  await Promise.all(started.map((server) => server.stop()));
  certificates.remove();
});

function pems({ cert, key }: KeyPair): { cert: Buffer; key: Buffer } {
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

function open(address: string, tls?: TlsOptions, connectTimeoutMs = 10_000): Session {
  const session = openSession({
    ...parseConnectString(address),
    connectTimeoutMs,
    ...(tls && { tls }),
  });
  sessions.push(session);
  return session;
}

async function expectServed(session: Session): Promise<void> {
  expect(await session.exists("/zookeeper")).toBeDefined();
  // Asks the server's release on a connection of its own, which must be TLS too.
  expect(await session.create2("/served", null, { mode: "ephemeral" })).toMatchObject({
    path: "/served",
  });
  await session.close();
}

/** The error names the address and the problem, long before the connect timeout. */
async function expectRefused(address: string, tls: TlsOptions, says: string): Promise<void> {
  const startedAt = performance.now();
  await expect(open(address, tls).connected()).rejects.toMatchObject({
    message: `cannot connect to ZooKeeper: ${address} (${says})`,
    reason: "unreachable",
    name: "ConnectionError",
  });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
}

describe("the server's certificate", () => {
  test("is accepted from the right authority, by address and by name", async () => {
    await expectServed(open(demanding.secureAddress, { ca, ...client }));
    await expectServed(open(`localhost:${demanding.securePort}`, { ca, ...client }));
  });

  test("is refused from an authority that is not trusted", async () => {
    const says = "the server's certificate is not signed by a trusted CA";
    await expectRefused(
      demanding.secureAddress,
      { ca: readFileSync(certificates.otherCa), ...client },
      says,
    );
    await expectRefused(demanding.secureAddress, client, says);
    await expect(open(demanding.secureAddress, client).getData("/x")).rejects.toMatchObject({
      reason: "unreachable",
      path: "/x",
      tlsProblem: "untrusted-certificate",
    });
  });

  test("is refused when its time is over", async () => {
    await expectRefused(expired.secureAddress, { ca }, "the server's certificate has expired");
  });

  test("is refused when it is for another name, by address and by name", async () => {
    const says = "the server's certificate is for another name: DNS:elsewhere.invalid";
    await expectRefused(mismatched.secureAddress, { ca }, says);
    await expectRefused(`localhost:${mismatched.securePort}`, { ca }, says);
    await expectRefused(
      demanding.secureAddress,
      { ca, ...client, servername: "elsewhere.invalid" },
      "the server's certificate is for another name: DNS:localhost, IP Address:127.0.0.1",
    );
  });

  test("is accepted under the name it was said to have", async () => {
    await expectServed(open(mismatched.secureAddress, { ca, servername: "elsewhere.invalid" }));
  });

  test("is not looked at when told so", async () => {
    await expectServed(open(mismatched.secureAddress, { insecure: true }));
    await expectServed(open(expired.secureAddress, { insecure: true }));
  });
});

describe("the client's certificate", () => {
  test("is asked for by a sentence when it is missing", async () => {
    const session = open(demanding.secureAddress, { ca });
    await expect(session.connected()).rejects.toThrow(
      /\(the server refused the TLS handshake \([a-z ]+\); it may require a client certificate\)$/,
    );
  });

  test("is refused by a sentence when its time is over", async () => {
    const session = open(demanding.secureAddress, { ca, ...pems(certificates.expired) });
    await expect(session.connected()).rejects.toThrow(
      /\(the server refused the TLS handshake \([a-z ]+\); it may require a client certificate\)$/,
    );
  });

  test("is refused before it is sent when it cannot be used", async () => {
    const { key } = pems(certificates.server);
    const address = demanding.secureAddress;
    await expectRefused(
      address,
      { ca, cert: client.cert, key },
      "the client key does not belong to the client certificate",
    );
    const notPem = "the client certificate or its key is not in PEM form";
    await expectRefused(address, { ca, cert: Buffer.from("not a certificate"), key }, notPem);
  });
});

describe("the wrong port", () => {
  test("is suspected when plain text meets TLS", async () => {
    await expect(open(mismatched.secureAddress, undefined, 2_000).connected()).rejects.toThrow(
      "the server closed the connection; it may have no quorum, or expect TLS",
    );
  });

  test("is suspected when TLS meets plain text", async () => {
    await expect(open(mismatched.server.address, { ca }, 2_000).connected()).rejects.toThrow(
      "the server dropped the connection during the TLS handshake; is this its secure port?",
    );
  });
});

describe("servers of SRV records", () => {
  const NAME = "_zookeeper._tcp.example.test";
  const systemServers = getServers();
  let dns: DnsServer;

  beforeAll(async () => {
    dns = await startDnsServer();
    setServers([dns.address]);
  });
  afterAll(async () => {
    setServers(systemServers);
    await dns.stop();
  });

  test("must have a certificate for the host that the record names", async () => {
    dns.records.set(NAME, [{ target: "localhost", port: demanding.securePort }]);
    await expectServed(open(`dns-srv://${NAME}`, { ca, ...client }));
    dns.records.set(NAME, [{ target: "localhost", port: mismatched.securePort }]);
    const refused = open(`dns-srv://${NAME}`, { ca, ...client });
    await expect(refused.connected()).rejects.toThrow(
      `localhost:${mismatched.securePort} (the server's certificate is for another name: DNS:elsewhere.invalid)`,
    );
  });
});

test("a session survives the loss of its TLS connection, and its ephemerals with it", async () => {
  const proxy = await startFaultProxy(demanding.securePort);
  try {
    const session = open(proxy.address, { ca, ...client });
    await session.create("/survivor", null, { mode: "ephemeral" });
    const { id } = session;
    let fired: () => void = () => {};
    const changed = new Promise<void>((resolve) => {
      fired = resolve;
    });
    await session.getData("/survivor", { watch: () => fired() });
    proxy.drop();
    await eventually(() => proxy.accepted >= 2 && session.state === "connected");
    expect(session.id).toBe(id);
    expect((await session.exists("/survivor"))?.ephemeralOwner).toBe(id);
    await session.setData("/survivor", Buffer.from("x"));
    await changed;
    await session.close();
  } finally {
    await proxy.close();
  }
});
