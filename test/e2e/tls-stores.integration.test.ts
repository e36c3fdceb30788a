/**
 * Real ZooKeeper that wants a certificate from its clients, and stores made by keytool and openssl:
 * by options, and by the command lines and files of other people's documentation.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Certificates, type KeyPair, makeCertificates } from "../support/certificates.ts";
import { startTerminals, type Terminals } from "../support/terminal.ts";
import { startTlsServer, type TlsServer } from "../support/tls-server.ts";
import { removeDirectory, temporaryDirectory } from "../support/tracked-process.ts";
import { runZksh, type ZkshOptions } from "../support/zksh-process.ts";

const PASSWORD = "store-secret";
const CLIENT = "x509:CN=client";
let certificates: Certificates;
let directory: string;
let server: TlsServer;
let mismatched: TlsServer;
let terminals: Terminals;

beforeAll(async () => {
  certificates = makeCertificates();
  directory = temporaryDirectory("tls-stores");
  const options = { clientCa: certificates.ca, clientAuth: "need" } as const;
  const config = {
    "authProvider.x509": "org.apache.zookeeper.server.auth.X509AuthenticationProvider",
  };
  [server, mismatched, terminals] = await Promise.all([
    startTlsServer({ ...options, certificate: certificates.server, config }),
    startTlsServer({ ...options, certificate: certificates.mismatched, clientAuth: "none" }),
    startTerminals(),
  ]);
  makeStores();
}, 120_000);

afterAll(async () => {
  await Promise.all([server?.stop(), mismatched?.stop(), terminals?.stop()]);
  certificates?.remove();
  if (directory) removeDirectory(directory);
});

const file = (name: string) => join(directory, name);

function secretFile(name: string, text: string): string {
  writeFileSync(file(name), text);
  chmodSync(file(name), 0o600);
  return file(name);
}

function makeStores(): void {
  secretFile("password", `${PASSWORD}\n`);
  secretFile("wrong-password", "guessed\n");
  opensslStore("client.p12", certificates.client);
  opensslStore("legacy.p12", certificates.client, ["-legacy"]);
  opensslStore("expired.p12", certificates.expired);
  copyStore("client.p12", "client.jks", "JKS");
  copyStore("client.p12", "client.keytool.p12", "PKCS12");
  copyStore("client.p12", "own-key.jks", "JKS");
  keytool(
    "-keypasswd -alias client -new key-secret -keystore",
    "own-key.jks",
    "-keypass",
    PASSWORD,
  );
  for (const [name, type, ca] of [
    ["trust.jks", "JKS", certificates.ca],
    ["trust.p12", "PKCS12", certificates.ca],
    ["trust.jceks", "JCEKS", certificates.ca],
    ["other.jks", "JKS", certificates.otherCa],
  ] as const)
    keytool("-importcert -noprompt -alias ca -keystore", name, "-storetype", type, "-file", ca);
  const { key, cert } = certificates.client;
  const encrypted = ["pkcs8", "-topk8", "-in", key, "-passout", `pass:${PASSWORD}`];
  execFileSync("openssl", [...encrypted, "-out", file("encrypted.key")], { stdio: "pipe" });
  const both = [readFileSync(file("encrypted.key")), readFileSync(cert)];
  writeFileSync(file("encrypted.pem"), Buffer.concat(both));
  writeFileSync(file("client.pem"), readFileSync(certificates.client.bundle));
  for (const name of ["client.pem", "encrypted.pem", "encrypted.key", "client.jks", "own-key.jks"])
    chmodSync(file(name), 0o600);
  for (const name of ["client.p12", "legacy.p12", "expired.p12", "client.keytool.p12"])
    chmodSync(file(name), 0o600);
}

function opensslStore(name: string, { key, cert }: KeyPair, more: readonly string[] = []): void {
  const from = ["pkcs12", "-export", "-inkey", key, "-in", cert, "-name", "client", ...more];
  execFileSync("openssl", [...from, "-passout", `pass:${PASSWORD}`, "-out", file(name)], {
    stdio: "pipe",
  });
}

function copyStore(from: string, to: string, type: string): void {
  const source = ["-srckeystore", file(from), "-srcstoretype", "PKCS12", "-srcstorepass", PASSWORD];
  const target = ["-destkeystore", file(to), "-deststoretype", type, "-deststorepass", PASSWORD];
  execFileSync("keytool", ["-importkeystore", ...source, ...target], { stdio: "pipe" });
}

function keytool(action: string, store: string, ...more: readonly string[]): void {
  const args = [...action.split(" "), file(store), "-storepass", PASSWORD, ...more];
  execFileSync("keytool", args, { stdio: "pipe" });
}

async function run(words: readonly string[], options: ZkshOptions = {}) {
  const { code, stdout, stderr } = await runZksh(words, { cwd: directory, ...options });
  return { code, stdout: stdout.toString(), stderr };
}

const secure = () => ["-s", server.secureAddress];
const trust = () => ["--tls-truststore", file("trust.jks")];
const own = (store: string, password = "password") => [
  ...["--tls-keystore", file(store)],
  ...["--tls-keystore-password-file", file(password)],
];

describe("a client with a certificate", () => {
  test.each([
    { name: "PKCS12 of openssl", store: "client.p12" },
    { name: "PKCS12 of openssl before 3.0", store: "legacy.p12" },
    { name: "PKCS12 of keytool", store: "client.keytool.p12" },
    { name: "JKS of keytool", store: "client.jks" },
    { name: "an encrypted PEM file", store: "encrypted.pem" },
  ])("is let in with $name, and knows who it is", async ({ store }) => {
    const { code, stdout, stderr } = await run([...secure(), ...trust(), ...own(store), "whoami"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("CN=client");
  });

  test("is let in with PEM, and a trust store of keytool in PKCS12", async () => {
    const passwords = ["--tls-truststore-password-file", file("password")];
    const words = ["--tls-truststore", file("trust.p12"), ...passwords];
    const ran = await run([...secure(), ...words, "--tls-keystore", file("client.pem"), "ls", "/"]);
    expect(ran).toEqual({ code: 0, stdout: "zookeeper\n", stderr: "" });
  });

  test("is let in with an encrypted key beside its certificate", async () => {
    const words = [
      ...["--tls-ca", certificates.ca, "--tls-cert", certificates.client.cert],
      ...["--tls-key", file("encrypted.key"), "--tls-key-password-file", file("password")],
    ];
    const ran = await run([...secure(), ...words, "ls", "/"]);
    expect(ran).toEqual({ code: 0, stdout: "zookeeper\n", stderr: "" });
  });

  test("is let in with a key that has a password of its own", async () => {
    const key = ["--tls-key-password-file", secretFile("key-password", "key-secret")];
    const ran = await run([...secure(), ...trust(), ...own("own-key.jks"), ...key, "ls", "/"]);
    expect(ran).toEqual({ code: 0, stdout: "zookeeper\n", stderr: "" });
  });

  test("may do what an ACL for x509 allows, and others may not", async () => {
    const ann = [...secure(), ...trust(), ...own("client.jks")];
    const lines = ["-c", `create /x509 secret ${CLIENT}:cdrwa,world:anyone:a; get /x509`];
    const created = await run([...ann, ...lines]);
    const others = await run(["-s", server.server.address, "get", "/x509"]);
    const deleted = await run([...ann, "delete", "/x509"]);
    expect(created).toMatchObject({ code: 0, stdout: "/x509\nsecret" });
    expect(others.code).toBe(4);
    expect(deleted.code).toBe(0);
    expect(others.stderr).toContain("names x509:CN=client: connect with its certificate");
  });

  test("is asked for the store's password on a terminal, which does not show it", async () => {
    const words = [...secure(), ...trust(), "--tls-keystore", file("client.p12")];
    const terminal = await terminals.open({ args: [...words, "ls", "/"] });
    await terminal.shows(/Password of the key store .*client\.p12/s);
    await terminal.enter(PASSWORD);
    await terminal.shows(/zookeeper\//);
    expect(await terminal.screen()).not.toContain(PASSWORD);
  });

  test("ends with 9 where a password is needed and cannot be asked for", async () => {
    const words = [...secure(), ...trust(), "--tls-keystore", file("client.p12"), "ls", "/"];
    const { code, stderr } = await run(words);
    expect(code).toBe(9);
    expect(stderr).toContain(
      `no terminal to ask for the password of the key store ${file("client.p12")}; use --tls-keystore-password-file FILE`,
    );
  });

  test("hands file names, and no password, to the command of a lock", async () => {
    const words = [...secure(), ...trust(), ...own("client.jks")];
    const command = ["sh", "-c", 'node "$ZKSH" ls /; env'];
    const { code, stdout, stderr } = await run([...words, "lock", "/l", "--", ...command], {
      env: { ZKSH: join(import.meta.dirname, "../../bin/zksh.js") },
    });
    // The path of a lock stays.
    expect((await run([...words, "delete", "/l"])).code).toBe(0);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("zookeeper\n");
    expect(stdout).toContain(`ZKSH_TLS_KEYSTORE_PASSWORD_FILE=${file("password")}\n`);
    expect(stdout).not.toContain(PASSWORD);
  });
});

describe("what cannot work is refused with the file and the reason", () => {
  const refusals: {
    name: string;
    words: () => readonly string[];
    code: number;
    says: () => readonly string[];
  }[] = [
    {
      name: "a wrong password of the key store",
      words: () => [...trust(), ...own("client.p12", "wrong-password")],
      code: 2,
      says: () => [
        `the password of the key store ${file("client.p12")} is wrong, or the file is damaged`,
        `its password is in ${file("wrong-password")} (--tls-keystore-password-file)`,
      ],
    },
    {
      name: "a wrong password of the trust store",
      words: () => [...trust(), "--tls-truststore-password-file", file("wrong-password")],
      code: 2,
      says: () => [`the password of the trust store ${file("trust.jks")} is wrong`],
    },
    {
      name: "a key with another password than its store",
      words: () => [...trust(), ...own("own-key.jks")],
      code: 2,
      says: () => [
        `the password of the key store ${file("own-key.jks")} does not open the key 'client' in it`,
        "a key with a password of its own needs --tls-key-password-file FILE",
      ],
    },
    {
      name: "a wrong password of the key",
      words: () => [
        ...trust(),
        ...own("own-key.jks"),
        "--tls-key-password-file",
        file("wrong-password"),
      ],
      code: 2,
      says: () => [
        `the password of the key 'client' in the key store ${file("own-key.jks")} is wrong`,
        "(--tls-key-password-file)",
      ],
    },
    {
      name: "a wrong password of a PEM key",
      words: () => [
        ...["--tls-cert", certificates.client.cert, "--tls-key", file("encrypted.key")],
        ...["--tls-key-password-file", file("wrong-password")],
      ],
      code: 2,
      says: () => [`the password of the key ${file("encrypted.key")} is wrong`],
    },
    {
      name: "a key store without a key",
      words: () => [...trust(), ...own("trust.p12")],
      code: 2,
      says: () => [`the key store ${file("trust.p12")} has no private key, only certificates`],
    },
    {
      name: "a store of another type",
      words: () => ["--tls-truststore", file("trust.jceks")],
      code: 2,
      says: () => [
        `the trust store ${file("trust.jceks")} is of type JCEKS`,
        `keytool -importkeystore -srckeystore ${file("trust.jceks")} -srcstoretype JCEKS -destkeystore store.p12 -deststoretype PKCS12`,
      ],
    },
    {
      name: "a store that is not there",
      words: () => ["--tls-truststore", file("nowhere.jks")],
      code: 2,
      says: () => [`cannot read ${file("nowhere.jks")} (--tls-truststore): no such file`],
    },
    {
      name: "a server of another CA",
      words: () => ["--tls-truststore", file("other.jks"), ...own("client.p12")],
      code: 6,
      says: () => [
        "the server's certificate is not signed by a trusted CA",
        `the CA of the server is not in ${file("other.jks")}`,
      ],
    },
    {
      name: "a client certificate that has expired",
      words: () => [...trust(), ...own("expired.p12")],
      code: 6,
      says: () => [
        `the client certificate in ${file("expired.p12")} (CN=expired) expired on 2020-01-02`,
        "the server refused the TLS handshake",
        `the server may not trust the CA of the certificate in ${file("expired.p12")}`,
      ],
    },
    {
      name: "no client certificate",
      words: () => trust(),
      code: 6,
      says: () => [
        "the server refused the TLS handshake",
        "present a certificate with --tls-keystore",
      ],
    },
  ];

  test.each(refusals)("$name", async ({ words, code, says }) => {
    const ran = await run([...secure(), ...words(), "ls", "/"]);
    expect({ code: ran.code, stdout: ran.stdout }).toEqual({ code, stdout: "" });
    for (const sentence of says()) expect(ran.stderr).toContain(sentence);
    expect(ran.stderr).not.toContain(PASSWORD);
  });

  test("and a lock whose store cannot be used ends with 125", async () => {
    const words = [...secure(), ...trust(), ...own("client.p12", "wrong-password")];
    expect((await run([...words, "lock", "/l", "--", "true"])).code).toBe(125);
  });

  test("a server with another name, unless the file turns the check off", async () => {
    const text = `zookeeper.ssl.trustStore.location=${file("trust.jks")}\n`;
    const checked = secretFile("checked.properties", text);
    const words = ["-s", mismatched.secureAddress, "-client-configuration"];
    const refused = await run([...words, checked, "ls", "/"]);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain("for another name: DNS:elsewhere.invalid");
    const off = `${text}zookeeper.ssl.hostnameVerification=false\n`;
    const taken = await run([...words, secretFile("any-name.properties", off), "ls", "/"]);
    expect(taken).toMatchObject({ code: 0, stdout: "zookeeper\n" });
    expect(taken.stderr).toContain("the name in the server's certificate is not checked");
  });
});

describe("protocols and cipher suites of the properties", () => {
  const properties = (name: string, text: string) =>
    secretFile(
      name,
      `zookeeper.ssl.trustStore.location=trust.jks\nzookeeper.ssl.keyStore.location=client.p12\nzookeeper.ssl.keyStore.passwordPath=password\n${text}\n`,
    );

  test("are used, and those that the server lacks end the handshake", async () => {
    const words = [...secure(), "-client-configuration"];
    const good =
      "zookeeper.ssl.enabledProtocols=TLSv1.2\nzookeeper.ssl.ciphersuites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256";
    const ran = await run([...words, properties("good.properties", good), "ls", "/"]);
    expect(ran).toEqual({ code: 0, stdout: "zookeeper\n", stderr: "" });
    const rsa =
      "zookeeper.ssl.enabledProtocols=TLSv1.2\nzookeeper.ssl.ciphersuites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
    const refused = await run([...words, properties("rsa.properties", rsa), "ls", "/"]);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain("handshake");
  });

  test("that zksh does not honour are named", async () => {
    const text = "zookeeper.ssl.crl=true\nzookeeper.ssl.keyStore.alias=\\u001b[31mx";
    const words = ["-client-configuration", properties("crl.properties", text), "ls", "/"];
    const { code, stderr } = await run([...secure(), ...words]);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `warning: ${file("crl.properties")}: zksh does not honour zookeeper.ssl.crl (certificates are not checked for revocation), zookeeper.ssl.keyStore.alias\n`,
    );
  });
});

describe("the lines of other people's documentation, with only the name changed", () => {
  const input = "create /documented x\nget /documented\ndelete /documented\nquit\n";

  test("Cloudera: zookeeper-client with CLIENT_JVMFLAGS", async () => {
    const flags = [
      "-Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty",
      `-Dzookeeper.ssl.keyStore.location=${file("client.jks")}`,
      `-Dzookeeper.ssl.keyStore.password=${PASSWORD}`,
      `-Dzookeeper.ssl.trustStore.location=${file("trust.jks")}`,
      `-Dzookeeper.ssl.trustStore.password=${PASSWORD}`,
      "-Dzookeeper.client.secure=true",
    ];
    const env = { CLIENT_JVMFLAGS: flags.join(" ") };
    const ran = await run(["-server", server.secureAddress], { env, input });
    expect(ran).toEqual({ code: 0, stdout: "/documented\nx", stderr: "" });
  });

  test("Confluent: zookeeper-shell HOST:PORT -zk-tls-config-file FILE", async () => {
    const text = [
      "zookeeper.ssl.client.enable=true",
      "zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty",
      "zookeeper.ssl.protocol=TLSv1.2",
      `zookeeper.ssl.truststore.location=${file("trust.p12")}`,
      `zookeeper.ssl.truststore.password=${PASSWORD}`,
      "zookeeper.ssl.truststore.type=PKCS12",
      `zookeeper.ssl.keystore.location=${file("client.keytool.p12")}`,
      `zookeeper.ssl.keystore.password=${PASSWORD}`,
      "zookeeper.ssl.keystore.type=PKCS12",
    ];
    const config = secretFile("zookeeper-client.properties", `${text.join("\n")}\n`);
    const words = [server.secureAddress, "-zk-tls-config-file", config];
    const ran = await run(words, { input });
    expect(ran).toEqual({ code: 0, stdout: "/documented\nx", stderr: "" });
    const once = await run([...words, "ls", "/"]);
    expect(once).toEqual({ code: 0, stdout: "zookeeper\n", stderr: "" });
  });

  test("AWS MSK: a file with relative names, and KAFKA_OPTS", async () => {
    const text = [
      "zookeeper.ssl.client.enable=true",
      "zookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty",
      "zookeeper.ssl.keystore.location=client.jks",
      `zookeeper.ssl.keystore.password=${PASSWORD}`,
      "zookeeper.ssl.truststore.location=trust.jks",
      `zookeeper.ssl.truststore.password=${PASSWORD}`,
    ];
    secretFile("msk.properties", text.join("\n"));
    const words = [server.secureAddress, "--zk-tls-config-file", "msk.properties"];
    expect(await run(words, { input })).toEqual({ code: 0, stdout: "/documented\nx", stderr: "" });
    const KAFKA_OPTS =
      " -Dzookeeper.clientCnxnSocket=org.apache.zookeeper.ClientCnxnSocketNetty -Dzookeeper.client.secure=true" +
      ` -Dzookeeper.ssl.trustStore.location=${file("trust.jks")} -Dzookeeper.ssl.trustStore.password=${PASSWORD}` +
      ` -Dzookeeper.ssl.keyStore.location=${file("client.jks")} -Dzookeeper.ssl.keyStore.password=${PASSWORD}`;
    const ran = await run([server.secureAddress, "ls", "/"], { env: { KAFKA_OPTS } });
    expect(ran).toEqual({ code: 0, stdout: "zookeeper\n", stderr: "" });
  });
});
