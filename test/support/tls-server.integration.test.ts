import { readFileSync } from "node:fs";
import { type ConnectionOptions, connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { startTlsServer, type TlsServer } from "./tls-server.ts";

let certificates: Certificates;
const servers: TlsServer[] = [];

beforeAll(() => {
  certificates = makeCertificates();
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  certificates.remove();
});

async function start(
  name: "server" | "expired" | "mismatched",
  clientAuth: "none" | "need",
): Promise<TlsServer> {
  const server = await startTlsServer({
    certificate: certificates[name],
    clientCa: certificates.ca,
    clientAuth,
  });
  servers.push(server);
  return server;
}

/** Asks `srvr` over TLS; the certificate is checked as the options say. */
function ask(server: TlsServer, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect({ host: "127.0.0.1", port: server.securePort, ...options }, () =>
      socket.write("srvr"),
    );
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}

const pem = (path: string) => readFileSync(path);

describe("a server with a good certificate", () => {
  let server: TlsServer;

  beforeAll(async () => {
    server = await start("server", "none");
  });

  test("answers over TLS, by address and by name", async () => {
    const ca = pem(certificates.ca);
    expect(await ask(server, { ca })).toContain("Mode: standalone");
    expect(await ask(server, { ca, host: "localhost" })).toContain("Mode: standalone");
  });

  test("is not trusted through another authority", async () => {
    await expect(ask(server, { ca: pem(certificates.otherCa) })).rejects.toThrow(
      "unable to verify",
    );
  });
});

test("an expired certificate is seen as such", async () => {
  const server = await start("expired", "none");
  await expect(ask(server, { ca: pem(certificates.ca) })).rejects.toThrow(
    "certificate has expired",
  );
});

test("a certificate for another name is seen as such", async () => {
  const server = await start("mismatched", "none");
  await expect(ask(server, { ca: pem(certificates.ca) })).rejects.toThrow(
    "does not match certificate's altnames",
  );
});

test("a server that needs client certificates refuses clients without one", async () => {
  const server = await start("server", "need");
  const ca = pem(certificates.ca);
  await expect(ask(server, { ca })).rejects.toThrow();
  const { cert, key } = certificates.client;
  expect(await ask(server, { ca, cert: pem(cert), key: pem(key) })).toContain("Mode: standalone");
});
