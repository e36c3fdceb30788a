/** Reads Java's own key store format, JKS: version 1 and 2, as sun.security.provider.JavaKeyStore. */
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { Ber, TAG } from "./ber.ts";
import {
  DamagedStoreError,
  type KeyEntry,
  type StoreEntries,
  UnsupportedStoreError,
  WrongPasswordError,
} from "./store-entries.ts";

export const JKS_MAGIC = 0xfeedfeed;
const PRIVATE_KEY = 1;
const TRUSTED_CERTIFICATE = 2;
const DIGEST_BYTES = 20;
/** Hashed with the password and the contents: a constant of the format. */
const SALT_OF_DIGEST = "Mighty Aphrodite";
/** The algorithm that protects keys. */
const KEY_PROTECTOR = "1.3.6.1.4.1.42.2.17.1.1";

/** Without a password nothing is verified, as in Java: keys need one anyway. */
export function readJks(bytes: Buffer, password: string | undefined): StoreEntries {
  const contents = bytes.subarray(0, Math.max(0, bytes.length - DIGEST_BYTES));
  if (password !== undefined) {
    const digest = sha1(utf16(password), Buffer.from(SALT_OF_DIGEST), contents);
    if (!digest.equals(bytes.subarray(contents.length))) throw new WrongPasswordError();
  }
  const reader = new JksReader(contents);
  reader.number(4); // the magic number
  const version = reader.number(4);
  if (version !== 1 && version !== 2)
    throw new UnsupportedStoreError(`version ${version} of the JKS format`);
  const keys: KeyEntry[] = [];
  const trusted: X509Certificate[] = [];
  const count = reader.number(4);
  for (let entry = 0; entry < count; entry++) {
    const kind = reader.number(4);
    const alias = reader.text();
    reader.bytes(8); // when it was made
    if (kind === PRIVATE_KEY) {
      const protectedKey = reader.bytes(reader.number(4));
      const length = reader.number(4);
      const certificates: X509Certificate[] = [];
      for (let index = 0; index < length; index++) certificates.push(reader.certificate(version));
      keys.push({ alias, certificates, open: (secret) => openKey(protectedKey, secret) });
    } else if (kind === TRUSTED_CERTIFICATE) {
      trusted.push(reader.certificate(version));
    } else {
      throw new DamagedStoreError(`an entry of kind ${kind}`);
    }
  }
  return { keys, trusted };
}

/** The numbers and texts of Java's DataInputStream. */
class JksReader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bytes(length: number): Buffer {
    const end = this.#offset + length;
    if (end > this.#bytes.length) throw new DamagedStoreError("the end is missing");
    const part = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return part;
  }

  number(length: 2 | 4): number {
    return this.bytes(length).readUIntBE(0, length);
  }

  text(): string {
    return this.bytes(this.number(2)).toString("utf8");
  }

  certificate(version: number): X509Certificate {
    const type = version === 1 ? "X.509" : this.text();
    if (type !== "X.509") throw new UnsupportedStoreError(`a certificate of type ${type}`);
    return new X509Certificate(this.bytes(this.number(4)));
  }
}

/**
 * The key is combined with a stream of hashes of the password: 20 bytes salt, the key, and its hash
 * with the password.
 */
function openKey(protectedKey: Buffer, password: string): KeyObject {
  const [algorithm, data] = Ber.read(protectedKey).parts();
  if (algorithm?.parts()[0]?.oid !== KEY_PROTECTOR)
    throw new UnsupportedStoreError("the protection of its key");
  const octets = data?.expect(TAG.octets).octets ?? Buffer.alloc(0);
  if (octets.length < 2 * DIGEST_BYTES) throw new DamagedStoreError("a key that is too short");
  const secret = utf16(password);
  const key = Buffer.from(octets.subarray(DIGEST_BYTES, -DIGEST_BYTES));
  let hash = octets.subarray(0, DIGEST_BYTES);
  for (let offset = 0; offset < key.length; offset++) {
    if (offset % DIGEST_BYTES === 0) hash = sha1(secret, hash);
    key[offset] = (key[offset] ?? 0) ^ (hash[offset % DIGEST_BYTES] ?? 0);
  }
  if (!sha1(secret, key).equals(octets.subarray(-DIGEST_BYTES))) throw new WrongPasswordError();
  return createPrivateKey({ key, format: "der", type: "pkcs8" });
}

function sha1(...parts: readonly Buffer[]): Buffer {
  const hash = createHash("sha1");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** As Java's characters: two bytes each, the higher one first. */
function utf16(text: string): Buffer {
  return Buffer.from(text, "utf16le").swap16();
}
