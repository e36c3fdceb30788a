import { expect, test } from "vitest";
import { tlsFromProperties } from "../../src/config/client-properties.ts";

const read = async (_option: string, path: string) => Buffer.from(path);
const SECURE = "zookeeper.client.secure=true\n";
const ON = { isOn: true, source: "zookeeper.client.secure", tls: {} };
const ca = Buffer.from("/ca.pem");

test.each([
  { name: "nothing", text: "", said: undefined },
  {
    name: "nothing of TLS",
    text: "zookeeper.sasl.client=true\nzookeeper.ssl.quorum.keyStore.location=/q",
    said: undefined,
  },
  { name: "TLS alone", text: SECURE, said: ON },
  { name: "TLS in capitals", text: "zookeeper.client.secure=TRUE", said: ON },
  { name: "TLS with blanks behind it", text: "zookeeper.client.secure = True  \r\n", said: ON },
  {
    name: "TLS with a name in capitals",
    text: "Zookeeper.Client.Secure=true",
    said: { ...ON, source: "Zookeeper.Client.Secure" },
  },
  {
    name: "a setting with a name in capitals",
    text: "ZooKeeper.SSL.TrustStore.Location=/ca.pem",
    said: { isOn: true, source: "ZooKeeper.SSL.TrustStore.Location", tls: { ca } },
  },
  { name: "TLS over two lines", text: "zookeeper.client.secure=\\\n    true", said: ON },
  { name: "TLS with a blank for a separator", text: "zookeeper.client.secure true", said: ON },
  {
    name: "comments, blanks and colons",
    text: `# x\n! y\n  ${SECURE}zookeeper.ssl.trustStore.location : /ca.pem \r\n`,
    said: { ...ON, tls: { ca } },
  },
  {
    name: "a key store, whose type is named",
    text: `${SECURE}zookeeper.ssl.keyStore.location=/own\nzookeeper.ssl.keyStore.type=pem`,
    said: { ...ON, tls: { cert: Buffer.from("/own"), key: Buffer.from("/own") } },
  },
  {
    name: "stores, without a word on TLS",
    text: "zookeeper.ssl.trustStore.location=/ca.pem",
    said: { isOn: true, source: "zookeeper.ssl.trustStore.location", tls: { ca } },
  },
  {
    name: "Kafka's names",
    text: "zookeeper.ssl.client.enable=true\nzookeeper.ssl.truststore.location=/ca.pem",
    said: { isOn: true, source: "zookeeper.ssl.client.enable", tls: { ca } },
  },
  {
    name: "TLS off by its name alone",
    text: "zookeeper.ssl.client.enable=False\nzookeeper.ssl.quorum.trustStore.location=/ca.pem",
    said: { isOn: false, source: "zookeeper.ssl.client.enable" },
  },
])("$name", async ({ text, said }) => {
  expect(await tlsFromProperties(text, read)).toEqual(said);
});

test.each(["/ca.jks", "/ca.pem\nzookeeper.ssl.trustStore.type=JKS"])(
  "refuses the store %j",
  async (location) => {
    const text = `${SECURE}zookeeper.ssl.trustStore.location=${location}`;
    await expect(tlsFromProperties(text, read)).rejects.toThrow(
      /^the trustStore \/ca\.(jks|pem) is not a PEM file$/,
    );
  },
);

test.each([
  { text: "zookeeper.client.secure=yes", message: "bad value 'yes' of zookeeper.client.secure" },
  { text: "zookeeper.client.secure=", message: "bad value '' of zookeeper.client.secure" },
  {
    text: `${SECURE}zookeeper.ssl.client.enable=false`,
    message: "zookeeper.client.secure asks for TLS, and zookeeper.ssl.client.enable turns it off",
  },
  {
    text: `${SECURE}zookeeper.client.secure=false`,
    message: "zookeeper.client.secure asks for TLS, and zookeeper.client.secure turns it off",
  },
  {
    text: "zookeeper.client.secure=False\nzookeeper.ssl.trustStore.location=/ca.pem",
    message:
      "zookeeper.ssl.trustStore.location asks for TLS, and zookeeper.client.secure turns it off",
  },
])("refuses $text", async ({ text, message }) => {
  await expect(tlsFromProperties(text, read)).rejects.toThrow(
    expect.objectContaining({ message, name: "UsageError" }),
  );
});
