import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askWord } from "../../../../src/session/zookeeper/connecting/four-letter-word.ts";
import { type Certificates, makeCertificates } from "../../../support/certificates.ts";
import { startTlsServer, type TlsServer } from "../../../support/tls-server.ts";

let certificates: Certificates;
let tls: TlsServer;

beforeAll(async () => {
  certificates = makeCertificates();
  tls = await startTlsServer({
    certificate: certificates.server,
    clientCa: certificates.ca,
    config: { "4lw.commands.whitelist": "srvr,envi" },
  });
});

afterAll(async () => {
  await tls.stop();
  certificates.remove();
});

const plain = () => ({ host: "127.0.0.1", port: tls.server.port });
const secure = () => ({ host: "127.0.0.1", port: tls.securePort });

test("a word is answered on the plain port and on the TLS port", async () => {
  const ca = readFileSync(certificates.ca);
  for (const answer of [
    await askWord(plain(), "srvr"),
    await askWord(secure(), "srvr", { tls: { ca } }),
  ]) {
    expect(answer).toMatchObject({ kind: "answered" });
    expect(answer.kind === "answered" && answer.bytes.toString()).toContain("Mode: standalone");
  }
});

test("a word outside the whitelist is recognised", async () => {
  expect(await askWord(plain(), "cons")).toEqual({ kind: "not-allowed" });
});

test("a word that ZooKeeper does not know ends without an answer", async () => {
  expect(await askWord(plain(), "abcd")).toMatchObject({ kind: "failed", why: "closed" });
});

test("a plain client at a TLS port is told from a server that does not answer", async () => {
  const answer = await askWord(secure(), "srvr", { timeoutMs: 500 });
  expect(answer).toEqual({
    kind: "failed",
    why: "expects-tls",
    says: "the server expects TLS on this port",
  });
});

test("a TLS client at a plain port is recognised", async () => {
  expect(await askWord(plain(), "srvr", { tls: { insecure: true } })).toMatchObject({
    kind: "failed",
    why: "not-tls",
  });
});

test("a certificate of another authority is a failure of TLS", async () => {
  expect(await askWord(secure(), "srvr", { tls: {} })).toMatchObject({
    kind: "failed",
    why: "tls",
  });
});
