/** Passwords → keys → plain bytes, as PKCS #12 (RFC 7292) and PKCS #5 (RFC 8018) say it. */
import { createDecipheriv, createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { type Ber, TAG } from "./ber.ts";
import { decryptRc2 } from "./rc2.ts";
import { DamagedStoreError, UnsupportedStoreError, WrongPasswordError } from "./store-entries.ts";

/** As Java. A file that asks for more would only keep the program busy. */
const MAX_ITERATIONS = 5_000_000;

const PBES2 = "1.2.840.113549.1.5.13";
const PBKDF2 = "1.2.840.113549.1.5.12";
const PBMAC1 = "1.2.840.113549.1.5.14";

const HASHES: Readonly<Record<string, string>> = {
  "1.3.14.3.2.26": "sha1",
  "2.16.840.1.101.3.4.2.4": "sha224",
  "2.16.840.1.101.3.4.2.1": "sha256",
  "2.16.840.1.101.3.4.2.2": "sha384",
  "2.16.840.1.101.3.4.2.3": "sha512",
};
const HMACS: Readonly<Record<string, string>> = {
  "1.2.840.113549.2.7": "sha1",
  "1.2.840.113549.2.8": "sha224",
  "1.2.840.113549.2.9": "sha256",
  "1.2.840.113549.2.10": "sha384",
  "1.2.840.113549.2.11": "sha512",
};
const CIPHERS: Readonly<Record<string, { readonly name: string; readonly keyBytes: number }>> = {
  "2.16.840.1.101.3.4.1.2": { name: "aes-128-cbc", keyBytes: 16 },
  "2.16.840.1.101.3.4.1.22": { name: "aes-192-cbc", keyBytes: 24 },
  "2.16.840.1.101.3.4.1.42": { name: "aes-256-cbc", keyBytes: 32 },
  "1.2.840.113549.3.7": { name: "des-ede3-cbc", keyBytes: 24 },
};
/** The older schemes, which keytool of Java 8 and `openssl -legacy` write. */
const PBES1: Readonly<Record<string, { readonly isRc2: boolean; readonly keyBytes: number }>> = {
  "1.2.840.113549.1.12.1.3": { isRc2: false, keyBytes: 24 },
  "1.2.840.113549.1.12.1.4": { isRc2: false, keyBytes: 16 },
  "1.2.840.113549.1.12.1.5": { isRc2: true, keyBytes: 16 },
  "1.2.840.113549.1.12.1.6": { isRc2: true, keyBytes: 5 },
};

/** What a key derived from a password is for: a number of RFC 7292, appendix B.3. */
const PURPOSE = { key: 1, iv: 2, mac: 3 } as const;

/** Throws WrongPasswordError where the padding shows it; it does not always. */
export function decrypt(algorithm: Ber, password: string, data: Buffer): Buffer {
  const [id, parameters] = algorithm.parts();
  const oid = id?.oid ?? "";
  const own = PBES1[oid];
  if (oid === PBES2 && parameters) return decryptPbes2(parameters, password, data);
  if (own === undefined || parameters === undefined)
    throw new UnsupportedStoreError(`encryption with the algorithm ${oid}`);
  const [salt, iterations] = saltOf(parameters);
  const derived = (purpose: number, length: number) =>
    deriveKey({ hash: "sha1", password: bmp(password), salt, iterations, purpose, length });
  const key = derived(PURPOSE.key, own.keyBytes);
  const iv = derived(PURPOSE.iv, 8);
  if (own.isRc2) return decryptRc2(key, iv, data);
  // Two keys of DES: the first one is used again as the third.
  const threeKeys = own.keyBytes === 16 ? Buffer.concat([key, key.subarray(0, 8)]) : key;
  return decipher("des-ede3-cbc", threeKeys, iv, data);
}

function decryptPbes2(parameters: Ber, password: string, data: Buffer): Buffer {
  const [derivation, encryption] = parameters.parts();
  const [id, iv] = encryption?.parts() ?? [];
  const cipher = CIPHERS[id?.oid ?? ""];
  if (cipher === undefined || derivation === undefined || iv === undefined)
    throw new UnsupportedStoreError(`encryption with the algorithm ${id?.oid}`);
  const key = derivePbkdf2(derivation, password, cipher.keyBytes);
  return decipher(cipher.name, key, iv.expect(TAG.octets).octets, data);
}

function derivePbkdf2(derivation: Ber, password: string, keyBytes: number): Buffer {
  const [id, parameters] = derivation.parts();
  if (id?.oid !== PBKDF2 || parameters === undefined)
    throw new UnsupportedStoreError(`keys derived with the algorithm ${id?.oid}`);
  const [salt, iterations] = saltOf(parameters);
  // The length of the key and the function may be left out.
  const prf = parameters.parts().find(({ tag }) => tag === TAG.sequence);
  const hash = prf === undefined ? "sha1" : hmacOf(prf);
  return pbkdf2Sync(password, salt, iterations, keyBytes, hash);
}

/** Whether `mac`, the MacData of a file, is that of `data` with this password. */
export function isMacOf(mac: Ber, password: string, data: Buffer): boolean {
  const [info, salt, count] = mac.parts();
  const [algorithm, digest] = info?.parts() ?? [];
  const [id, parameters] = algorithm?.parts() ?? [];
  if (id === undefined || digest === undefined || salt === undefined)
    throw new DamagedStoreError("its checksum");
  const expected = digest.expect(TAG.octets).octets;
  if (id.oid === PBMAC1 && parameters !== undefined) {
    const [derivation, scheme] = parameters.parts();
    if (derivation === undefined || scheme === undefined)
      throw new DamagedStoreError("its checksum");
    const key = derivePbkdf2(derivation, password, expected.length);
    return createHmac(hmacOf(scheme), key).update(data).digest().equals(expected);
  }
  const hash = HASHES[id.oid];
  if (hash === undefined) throw new UnsupportedStoreError(`a checksum with ${id.oid}`);
  const iterations = checked(count?.number ?? 1);
  const isRight = (secret: Buffer) => {
    const key = deriveKey({
      hash,
      password: secret,
      salt: salt.expect(TAG.octets).octets,
      iterations,
      purpose: PURPOSE.mac,
      length: expected.length,
    });
    return createHmac(hash, key).update(data).digest().equals(expected);
  };
  // No password is written in two ways.
  return isRight(bmp(password)) || (password === "" && isRight(Buffer.alloc(0)));
}

interface Derivation {
  readonly hash: string;
  readonly password: Buffer;
  readonly salt: Buffer;
  readonly iterations: number;
  readonly purpose: number;
  readonly length: number;
}

/** RFC 7292, appendix B.2. */
function deriveKey({ hash, password, salt, iterations, purpose, length }: Derivation): Buffer {
  const block = hash === "sha384" || hash === "sha512" ? 128 : 64;
  const input = Buffer.concat([filled(salt, block), filled(password, block)]);
  const blocks: Buffer[] = [];
  for (let have = 0; have < length; ) {
    let digest = createHash(hash).update(Buffer.alloc(block, purpose)).update(input).digest();
    for (let i = 1; i < iterations; i++) digest = createHash(hash).update(digest).digest();
    blocks.push(digest);
    have += digest.length;
    addToBlocks(input, filled(digest, block).subarray(0, block));
  }
  return Buffer.concat(blocks).subarray(0, length);
}

/** Repeated up to whole blocks; nothing stays nothing. */
function filled(bytes: Buffer, block: number): Buffer {
  return Buffer.alloc(Math.ceil(bytes.length / block) * block, bytes);
}

/** To each block of `bytes`, as a big number, it adds `addend` and 1. */
function addToBlocks(bytes: Buffer, addend: Buffer): void {
  for (let start = 0; start < bytes.length; start += addend.length) {
    let carry = 1;
    for (let i = addend.length - 1; i >= 0; i--) {
      carry += (bytes[start + i] ?? 0) + (addend[i] ?? 0);
      bytes[start + i] = carry & 0xff;
      carry >>= 8;
    }
  }
}

function decipher(name: string, key: Buffer, iv: Buffer, data: Buffer): Buffer {
  try {
    const cipher = createDecipheriv(name, key, iv);
    return Buffer.concat([cipher.update(data), cipher.final()]);
  } catch (cause) {
    throw new WrongPasswordError(undefined, { cause });
  }
}

function hmacOf(algorithm: Ber): string {
  const oid = algorithm.parts()[0]?.oid ?? "";
  const hash = HMACS[oid];
  if (hash === undefined) throw new UnsupportedStoreError(`keys derived with ${oid}`);
  return hash;
}

function saltOf(parameters: Ber): [salt: Buffer, iterations: number] {
  const [salt, iterations] = parameters.parts();
  if (salt === undefined || iterations === undefined) throw new DamagedStoreError("no salt");
  return [salt.expect(TAG.octets).octets, checked(iterations.number)];
}

function checked(iterations: number): number {
  if (iterations >= 1 && iterations <= MAX_ITERATIONS) return iterations;
  throw new UnsupportedStoreError(`${iterations} iterations for the password`);
}

/** Two bytes for each character, and two zeros at the end. */
function bmp(password: string): Buffer {
  return Buffer.from(`${password}\0`, "utf16le").swap16();
}
