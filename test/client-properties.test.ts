import { expect, test } from "vitest";
import { tlsFromProperties } from "../src/client-properties.ts";

const read = async (_option: string, path: string) => Buffer.from(path);
const SECURE = "zookeeper.client.secure=true\n";

test.each([
  { name: "nothing", text: "", tls: undefined },
  { name: "stores without TLS", text: "zookeeper.ssl.trustStore.location=/ca.pem", tls: undefined },
  { name: "TLS alone", text: SECURE, tls: {} },
  {
    name: "comments, blanks and colons",
    text: `# x\n! y\n  ${SECURE}zookeeper.ssl.trustStore.location : /ca.pem \r\n`,
    tls: { ca: Buffer.from("/ca.pem") },
  },
  {
    name: "a key store, whose type is named",
    text: `${SECURE}zookeeper.ssl.keyStore.location=/own\nzookeeper.ssl.keyStore.type=pem`,
    tls: { cert: Buffer.from("/own"), key: Buffer.from("/own") },
  },
])("$name", async ({ text, tls }) => {
  expect(await tlsFromProperties(text, read)).toEqual(tls);
});

test.each(["/ca.jks", "/ca.pem\nzookeeper.ssl.trustStore.type=JKS"])("refuses the store %j", async (location) => {
  const text = `${SECURE}zookeeper.ssl.trustStore.location=${location}`;
  await expect(tlsFromProperties(text, read)).rejects.toThrow(/^the trustStore \/ca\.(jks|pem) is not PEM$/);
});
