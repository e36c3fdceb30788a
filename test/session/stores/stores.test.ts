import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  decryptPemKey,
  needsPassword,
  readIdentity,
  readKeyStore,
  readTrustStore,
} from "../../../src/session/stores/stores.ts";

const PASSWORD = "changeit";
const file = (name: string) =>
  readFileSync(join(import.meta.dirname, "../../fixtures/stores", name));
const client = new X509Certificate(file("client.pem"));
const ca = new X509Certificate(file("ca.pem"));
const key = createPrivateKey(file("client.key"));
const bundle = (name: string) => Buffer.concat([file(name), file("client.pem"), file("ca.pem")]);

const keyStores: {
  name: string;
  contents: Buffer;
  password?: string;
  keyPassword?: string;
  chain?: number;
}[] = [
  { name: "PKCS12 of openssl", contents: file("openssl.p12"), password: PASSWORD },
  { name: "PKCS12 of openssl before 3.0", contents: file("legacy.p12"), password: PASSWORD },
  {
    name: "PKCS12 with two keys of DES and 128 bits of RC2",
    contents: file("legacy-128.p12"),
    password: PASSWORD,
  },
  { name: "PKCS12 of keytool", contents: file("keytool.p12"), password: PASSWORD },
  { name: "PKCS12 of an older keytool", contents: file("keytool-legacy.p12"), password: PASSWORD },
  { name: "PKCS12 without encryption", contents: file("plain.p12"), chain: 1 },
  {
    name: "PKCS12 with an empty password",
    contents: file("empty-password.p12"),
    password: "",
    chain: 1,
  },
  { name: "JKS of keytool", contents: file("keytool.jks"), password: PASSWORD },
  {
    name: "JKS whose key has a password of its own",
    contents: file("own-key-password.jks"),
    password: PASSWORD,
    keyPassword: "keypass",
  },
  { name: "PEM", contents: bundle("client.key") },
  { name: "PEM, encrypted", contents: bundle("client.encrypted.key"), password: PASSWORD },
  {
    name: "PEM, encrypted by its header",
    contents: bundle("client.traditional.key"),
    password: PASSWORD,
  },
  {
    name: "PEM with the authority in front",
    contents: Buffer.concat([file("ca.pem"), file("client.pem"), file("client.key")]),
  },
];

/** The certificates of a PEM text. */
function certificates(pem: Buffer): X509Certificate[] {
  return String(pem)
    .split(/(?=-----BEGIN)/)
    .map((one) => new X509Certificate(one));
}

describe("the certificate and key of a key store", () => {
  test.each(keyStores)("are read from $name", ({ contents, password, keyPassword, chain = 2 }) => {
    const own = readKeyStore(contents, { password, keyPassword });
    expect(createPrivateKey(own.key).equals(key)).toBe(true);
    const names = certificates(own.cert).map(({ subject }) => subject);
    expect(names).toEqual([client.subject, ca.subject].slice(0, chain));
  });

  test.each(keyStores.filter(({ password }) => password !== undefined && password !== ""))(
    "are not read from $name with a wrong password",
    ({ contents }) => {
      expect(() => readKeyStore(contents, { password: "Changeit", file: "f" })).toThrow(
        expect.objectContaining({ name: "UsageError", reason: expect.stringMatching(/^wrong-/) }),
      );
    },
  );

  test.each(keyStores.filter(({ password }) => password !== undefined && password !== ""))(
    "of $name need a password",
    ({ contents }) => {
      expect(needsPassword(contents, { isKeyStore: true })).toBe(true);
      expect(() => readKeyStore(contents)).toThrow(expect.objectContaining({ name: "UsageError" }));
    },
  );

  test("are those of the first key, and the others are named", () => {
    const { alias, others } = readIdentity(file("two-keys.jks"), { password: PASSWORD });
    expect([alias, ...others].sort()).toEqual(["client", "other"]);
  });
});

describe("the certificates of a trust store", () => {
  test.each([
    { name: "PKCS12 of keytool", contents: file("trust.p12"), password: PASSWORD },
    { name: "PKCS12 of openssl", contents: file("openssl-trust.p12"), password: PASSWORD },
    { name: "JKS", contents: file("trust.jks"), password: PASSWORD },
    { name: "JKS, not verified", contents: file("trust.jks") },
    { name: "PEM", contents: file("ca.pem") },
  ])("are read from $name", ({ contents, password }) => {
    const trust = readTrustStore(contents, { password });
    expect(certificates(trust.ca).map(({ fingerprint256 }) => fingerprint256)).toEqual([
      ca.fingerprint256,
    ]);
  });

  test.each(["trust.p12", "trust.jks"])("of %s need the right password", (name) => {
    expect(() => readTrustStore(file(name), { password: "wrong", file: name })).toThrow(
      `the password of the trust store ${name} is wrong, or the file is damaged`,
    );
  });

  test("need a password only where the store is encrypted", () => {
    expect(needsPassword(file("trust.p12"), { isKeyStore: false })).toBe(true);
    expect(needsPassword(file("trust.jks"), { isKeyStore: false })).toBe(false);
    expect(needsPassword(file("ca.pem"), { isKeyStore: false })).toBe(false);
    expect(needsPassword(file("plain.p12"), { isKeyStore: true })).toBe(false);
  });
});

describe("what cannot be used is refused", () => {
  const options = { password: PASSWORD, file: "f" };
  test.each([
    {
      name: "trust.p12",
      says: "the key store f has no private key, only certificates",
      reason: "no-key",
      hint: "keytool -list -keystore f shows what is in it",
    },
    {
      name: "own-key-password.jks",
      says: "the password of the key store f does not open the key 'client' in it",
      reason: "wrong-key-password",
    },
    {
      name: "trust.jceks",
      says: "the key store f is of type JCEKS: it cannot be read",
      reason: "unsupported-store",
      hint: "convert it: keytool -importkeystore -srckeystore f -srcstoretype JCEKS -destkeystore store.p12 -deststoretype PKCS12",
    },
  ])("$name as a key store", ({ name, says, reason, hint }) => {
    expect(() => readKeyStore(file(name), options)).toThrow(
      expect.objectContaining({ message: says, reason, ...(hint && { hint }) }),
    );
  });

  test("a key store as a trust store", () => {
    expect(() => readTrustStore(file("keytool.jks"), options)).toThrow(
      expect.objectContaining({
        message: "the trust store f has no trusted certificate, but a key",
        reason: "no-certificate",
      }),
    );
  });

  test("a key with the certificate of another one", () => {
    const contents = Buffer.concat([file("client.key"), file("ca.pem")]);
    expect(() => readKeyStore(contents, { file: "f" })).toThrow(
      "the key store f has no certificate for its key",
    );
  });

  test.each([
    { type: "PEM", name: "trust.jks", says: "is said to be PEM, but its contents are JKS" },
    { type: "jks", name: "ca.pem", says: "is said to be JKS, but its contents are PEM" },
    { type: "BCFKS", name: "trust.p12", says: "is of type BCFKS: it cannot be read" },
  ])("$name as $type", ({ type, name, says }) => {
    expect(() => readTrustStore(file(name), { ...options, type })).toThrow(
      `the trust store f ${says}`,
    );
  });

  test.each(["JKS", "PKCS12", "pkcs12"])("but not a type of Java for the other: %s", (type) => {
    for (const name of ["trust.jks", "trust.p12"])
      expect(readTrustStore(file(name), { password: PASSWORD, type }).ca.length).toBeGreaterThan(9);
  });

  test.each(["client.encrypted.key", "client.traditional.key"])("%s, decrypted wrongly", (name) => {
    expect(() => decryptPemKey(file(name), "wrong", "f")).toThrow(
      "the password of the key f is wrong",
    );
    expect(createPrivateKey(decryptPemKey(file(name), PASSWORD, "f")).equals(key)).toBe(true);
  });
});

describe("a damaged store", () => {
  const stores = ["openssl.p12", "legacy.p12", "keytool.p12", "plain.p12", "keytool.jks"];

  test.each(stores)("%s cut off anywhere is a UsageError", (name) => {
    const whole = file(name);
    for (let length = 0; length < whole.length; length += 7) {
      // The key's bytes are behind everything that is read first.
      const read = () => readKeyStore(whole.subarray(0, length), { password: PASSWORD });
      expect(read).toThrow(expect.objectContaining({ name: "UsageError" }));
    }
  });

  test.each(["plain.p12", "keytool.jks"])(
    "%s with any byte changed is a UsageError or read",
    (name) => {
      const whole = file(name);
      for (let index = 0; index < whole.length; index++) {
        for (const bits of [0x01, 0x80, 0xff]) {
          const changed = Buffer.from(whole);
          changed[index] = (changed[index] ?? 0) ^ bits;
          try {
            // Without the store's password nothing is verified: every byte reaches the readers.
            readIdentity(changed, { password: undefined, keyPassword: PASSWORD });
          } catch (error) {
            expect(error).toMatchObject({ name: "UsageError" });
          }
        }
      }
    },
  );

  test("that asks for more iterations than Java takes is refused at once", () => {
    const changed = Buffer.from(file("openssl-trust.p12"));
    // The number of iterations: an integer of two bytes, 2048, at its last place in the file.
    const at = changed.lastIndexOf(Buffer.from([0x02, 0x02, 0x08, 0x00]));
    expect(at).toBeGreaterThan(0);
    changed.writeUInt16BE(0x0000, at + 2);
    expect(() => readTrustStore(changed, { password: PASSWORD, file: "f" })).toThrow(
      "the trust store f uses 0 iterations for the password: it cannot be read",
    );
  });

  test.each([
    { name: "nothing", contents: Buffer.alloc(0) },
    { name: "zeros", contents: Buffer.alloc(1000) },
    { name: "a text", contents: Buffer.from("hello") },
    { name: "the certificate in DER form", contents: client.raw },
  ])("$name is no store", ({ contents }) => {
    expect(() => readTrustStore(contents, { file: "f" })).toThrow(
      "the trust store f is neither PEM nor PKCS12 nor JKS: it cannot be read",
    );
  });
});
