/**
 * Decrypts RC2 (RFC 2268). Files of Java 8 and of OpenSSL before 3.0 have their certificates in it,
 * and the OpenSSL inside Node no longer knows it. It protects certificates, which are no secret.
 */
import { WrongPasswordError } from "./store-entries.ts";

const BLOCK = 8;
/** Digits of π, as RFC 2268 has them. */
const PI_TABLE: readonly number[] = Buffer.from(
  "d978f9c419ddb5ed28e9fd794aa0d89dc67e37832b76538e624c6488448bfba2" +
    "179a59f587b34f1361456d8d09817d32bd8f40eb86b77b0bf09521225c6b4e82" +
    "54d66593ce60b21c7356c014a78cf1dc1275ca1f3bbee4d1423dd430a33cb626" +
    "6fbf0eda4669075727f21d9bbc944303f811c7f690ef3ee706c3d52fc8661ed7" +
    "08e8eade8052eef784aa72ac354d6a2a961ad2715a1549744b9fd05e0418a4ec" +
    "c2e0416e0f51cbcc2491af50a1f47039997c3a8523b8b47afc02365b25559731" +
    "2d5dfa98e38a92ae05df2910676cbac9d300e6cfe19ea82c6316013f58e289a9" +
    "0d38341bab33ffb0bb480c5fb9b1cd2ec5f3db47e5a59c770aa62068fe7fc1ad",
  "hex",
).toJSON().data;

/** In CBC mode with PKCS #5 padding; the key's own length is its effective length. */
export function decryptRc2(key: Buffer, iv: Buffer, data: Buffer): Buffer {
  if (data.length === 0 || data.length % BLOCK !== 0) throw new WrongPasswordError();
  const words = expandKey(key);
  const plain = Buffer.alloc(data.length);
  let previous = iv;
  for (let offset = 0; offset < data.length; offset += BLOCK) {
    const block = data.subarray(offset, offset + BLOCK);
    decryptBlock(words, block, plain.subarray(offset, offset + BLOCK));
    for (let i = 0; i < BLOCK; i++)
      plain[offset + i] = (plain[offset + i] ?? 0) ^ (previous[i] ?? 0);
    previous = block;
  }
  const padding = plain.at(-1) ?? 0;
  const isPadded = padding >= 1 && padding <= BLOCK;
  if (!isPadded || plain.subarray(-padding).some((byte) => byte !== padding))
    throw new WrongPasswordError();
  return plain.subarray(0, -padding);
}

function expandKey(key: Buffer): number[] {
  const bytes = Buffer.alloc(128);
  key.copy(bytes);
  const at = (index: number) => bytes[index] ?? 0;
  const pi = (index: number) => PI_TABLE[index & 0xff] ?? 0;
  for (let i = key.length; i < 128; i++) bytes[i] = pi(at(i - 1) + at(i - key.length));
  bytes[128 - key.length] = pi(at(128 - key.length));
  for (let i = 127 - key.length; i >= 0; i--) bytes[i] = pi(at(i + 1) ^ at(i + key.length));
  return Array.from({ length: 64 }, (_, i) => bytes.readUInt16LE(2 * i));
}

const SHIFTS = [1, 2, 3, 5] as const;

function decryptBlock(key: readonly number[], block: Buffer, plain: Buffer): void {
  const r = [0, 2, 4, 6].map((offset) => block.readUInt16LE(offset));
  const at = (index: number) => r[index & 3] ?? 0;
  let position = 63;
  for (let round = 15; round >= 0; round--) {
    for (let i = 3; i >= 0; i--) {
      const shift = SHIFTS[i] ?? 0;
      const rotated = (at(i) >> shift) | (at(i) << (16 - shift));
      const mixed = (at(i + 3) & at(i + 2)) + (~at(i + 3) & at(i + 1));
      r[i] = (rotated - (key[position--] ?? 0) - mixed) & 0xffff;
    }
    if (round !== 5 && round !== 11) continue;
    for (let i = 3; i >= 0; i--) r[i] = (at(i) - (key[at(i + 3) & 63] ?? 0)) & 0xffff;
  }
  r.forEach((word, i) => {
    plain.writeUInt16LE(word, 2 * i);
  });
}
