import { describe, expect, test } from "vitest";
import { tlsFromProperties } from "../../src/config/client-properties.ts";
import { parseProperties } from "../../src/config/java-properties.ts";

const read = (text: string) =>
  tlsFromProperties(parseProperties(text).map(([name, value]) => ({ name, value, where: "f" })));
const SECURE = "zookeeper.client.secure=true\n";
const ON = { isOn: true, source: "zookeeper.client.secure in f" };

test.each([
  { name: "nothing", text: "", wish: undefined },
  {
    name: "nothing of TLS",
    text: "zookeeper.sasl.client=true\nzookeeper.ssl.quorum.keyStore.location=/q",
    wish: undefined,
  },
  { name: "TLS alone", text: SECURE, wish: ON },
  { name: "TLS in capitals", text: "zookeeper.client.secure=TRUE", wish: ON },
  { name: "TLS with blanks behind it", text: "zookeeper.client.secure = True  \r\n", wish: ON },
  {
    name: "TLS with a name in capitals",
    text: "Zookeeper.Client.Secure=true",
    wish: { isOn: true, source: "Zookeeper.Client.Secure in f" },
  },
  {
    name: "a setting with a name in capitals",
    text: "ZooKeeper.SSL.TrustStore.Location=/ca.pem",
    wish: { isOn: true, source: "ZooKeeper.SSL.TrustStore.Location in f" },
  },
  { name: "TLS over two lines", text: "zookeeper.client.secure=\\\n    true", wish: ON },
  { name: "TLS with a blank for a separator", text: "zookeeper.client.secure true", wish: ON },
  {
    name: "stores, without a word on TLS",
    text: "zookeeper.ssl.trustStore.location=/ca.pem",
    wish: { isOn: true, source: "zookeeper.ssl.trustStore.location in f" },
  },
  {
    name: "Kafka's switch",
    text: "zookeeper.ssl.client.enable=true\nzookeeper.ssl.truststore.location=/ca.pem",
    wish: { isOn: true, source: "zookeeper.ssl.client.enable in f" },
  },
  {
    name: "TLS off by its name alone",
    text: "zookeeper.ssl.client.enable=False\nzookeeper.ssl.quorum.trustStore.location=/ca.pem",
    wish: { isOn: false, source: "zookeeper.ssl.client.enable in f" },
  },
])("on or off: $name", ({ text, wish }) => {
  expect(read(text).wish).toEqual(wish);
});

describe("stores", () => {
  const STORE = { type: undefined, password: undefined, passwordFile: undefined };

  test.each([
    { spelling: "keyStore", source: "zookeeper.ssl.keyStore.location" },
    { spelling: "keystore", source: "zookeeper.ssl.keystore.location" },
  ])("are found as zkCli and as Kafka write them: $spelling", ({ spelling, source }) => {
    const name = `zookeeper.ssl.${spelling}`;
    const text = `${name}.location : /own \n${name}.password=a b\n${name}.type=jks\n${name}.passwordPath=/p`;
    expect(read(text).keyStore).toEqual({
      path: "/own",
      source,
      type: "jks",
      password: { text: "a b", source: `${name}.password in f` },
      passwordFile: { path: "/p", source: `${name}.passwordPath` },
    });
  });

  test("the last of two values counts, as in Java, and an empty one is none", () => {
    const text =
      "zookeeper.ssl.trustStore.location=/a\nzookeeper.ssl.trustStore.location=/b\nzookeeper.ssl.trustStore.password=\n";
    expect(read(text).trustStore).toEqual({
      ...STORE,
      path: "/b",
      source: "zookeeper.ssl.trustStore.location",
    });
    expect(read("zookeeper.ssl.keyStore.location=").keyStore).toBeUndefined();
  });
});

describe("the connection", () => {
  test.each([
    { text: "zookeeper.ssl.hostnameVerification=false", connection: { anyServerName: true } },
    { text: "zookeeper.ssl.hostnameVerification=true", connection: {} },
    {
      text: "zookeeper.ssl.endpoint.identification.algorithm=",
      connection: { anyServerName: true },
    },
    { text: "zookeeper.ssl.endpoint.identification.algorithm=HTTPS", connection: {} },
    {
      text: "zookeeper.ssl.endpoint.identification.algorithm=\nzookeeper.ssl.hostnameVerification=true",
      connection: {},
    },
    {
      text: "zookeeper.ssl.enabledProtocols=TLSv1.2,TLSv1.3",
      connection: { minVersion: "TLSv1.2", maxVersion: "TLSv1.3" },
    },
    {
      text: "zookeeper.ssl.enabled.protocols = TLSv1.3",
      connection: { minVersion: "TLSv1.3", maxVersion: "TLSv1.3" },
    },
    {
      text: "zookeeper.ssl.protocol=TLSv1.2",
      connection: { minVersion: "TLSv1.2", maxVersion: "TLSv1.2" },
    },
    { text: "zookeeper.ssl.protocol=TLS", connection: {} },
    {
      text: "zookeeper.ssl.protocol=TLSv1.2\nzookeeper.ssl.enabledProtocols=TLSv1.3,TLSv1.2,TLSv1.1",
      connection: { minVersion: "TLSv1.1", maxVersion: "TLSv1.3" },
    },
    {
      text: "zookeeper.ssl.ciphersuites=TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
      connection: { ciphers: "TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES256-SHA384" },
    },
    {
      text: "zookeeper.ssl.cipher.suites=TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
      connection: { ciphers: "ECDHE-ECDSA-CHACHA20-POLY1305" },
    },
  ])("$text", ({ text, connection }) => {
    expect(read(text)).toMatchObject({ connection, notHonoured: [] });
    expect(read(text).connection).toEqual(connection);
  });
});

describe("what zksh does not do is named", () => {
  test.each([
    ["zookeeper.ssl.crl=true", "zookeeper.ssl.crl (certificates are not checked for revocation)"],
    [
      "zookeeper.ssl.ocsp.enable=true",
      "zookeeper.ssl.ocsp.enable (certificates are not checked for revocation)",
    ],
    ["zookeeper.fips-mode=true", "zookeeper.fips-mode (run Node.js itself in FIPS mode)"],
    [
      "zookeeper.ssl.context.supplier.class=org.X",
      "zookeeper.ssl.context.supplier.class (that is Java code)",
    ],
    ["zookeeper.sasl.clientconfig=C", "zookeeper.sasl.clientconfig (log in with --sasl or --jaas)"],
    ["jute.maxbuffer=4194304", "jute.maxbuffer (use --max-reply and --max-request)"],
    [
      "zookeeper.ssl.quorum.keyStore.location=/q",
      "zookeeper.ssl.quorum.keyStore.location (that is for servers)",
    ],
    [
      "zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNIO",
      "zookeeper.clientCnxnSocket",
    ],
    ["zookeeper.ssl.keyStore.alias=x", "zookeeper.ssl.keyStore.alias"],
    ["bootstrap.servers=k:9092", "bootstrap.servers"],
    [
      "zookeeper.ssl.endpoint.identification.algorithm=LDAPS",
      "zookeeper.ssl.endpoint.identification.algorithm",
    ],
    ["zookeeper.ssl.enabledProtocols=TLSv1.2,SSLv3", "SSLv3"],
    [
      "zookeeper.ssl.ciphersuites=TLS_AES_128_GCM_SHA256,TLS_KRB5_WITH_DES_CBC_SHA",
      "TLS_KRB5_WITH_DES_CBC_SHA",
    ],
  ])("%s", (text, what) => {
    expect(read(text).notHonoured).toEqual([{ where: "f", what }]);
  });

  test.each([
    "zookeeper.ssl.crl=false",
    "zookeeper.ssl.ocsp.enable = False",
    "zookeeper.fips-mode=false",
    "zookeeper.sasl.client=false",
    "zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty",
    "zookeeper.ssl.ciphersuites=TLS_AES_128_GCM_SHA256,TLS_EMPTY_RENEGOTIATION_INFO_SCSV",
  ])("but not what zksh does like that anyway: %s", (text) => {
    expect(read(text).notHonoured).toEqual([]);
  });
});

test.each([
  {
    text: "zookeeper.client.secure=yes",
    message: "bad value 'yes' of zookeeper.client.secure in f",
  },
  { text: "zookeeper.client.secure=", message: "bad value '' of zookeeper.client.secure in f" },
  {
    text: "zookeeper.ssl.hostnameVerification=no",
    message: "bad value 'no' of zookeeper.ssl.hostnameVerification in f",
  },
  {
    text: `${SECURE}zookeeper.ssl.client.enable=false`,
    message:
      "zookeeper.client.secure in f asks for TLS, and zookeeper.ssl.client.enable in f turns it off",
  },
  {
    text: `${SECURE}zookeeper.client.secure=false`,
    message:
      "zookeeper.client.secure in f asks for TLS, and zookeeper.client.secure in f turns it off",
  },
  {
    text: "zookeeper.client.secure=False\nzookeeper.ssl.trustStore.location=/ca.pem",
    message:
      "zookeeper.ssl.trustStore.location in f asks for TLS, and zookeeper.client.secure in f turns it off",
  },
  {
    text: "zookeeper.ssl.enabledProtocols=SSLv3",
    message: "zookeeper.ssl.enabledProtocols in f has no version of TLS: 'SSLv3'",
  },
  {
    text: "zookeeper.ssl.enabledProtocols=TLSv1.1,TLSv1.3",
    message: "zookeeper.ssl.enabledProtocols in f leaves out TLSv1.2 between two others",
  },
  {
    text: "zookeeper.ssl.ciphersuites=NONE",
    message: "zookeeper.ssl.ciphersuites in f has no cipher suite that this Node.js knows",
  },
])("refuses $text", ({ text, message }) => {
  expect(() => read(text)).toThrow(expect.objectContaining({ message, name: "UsageError" }));
});
