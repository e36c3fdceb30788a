/** Reads PEM files with certificates, keys, or both. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import {
  DamagedStoreError,
  NoPasswordError,
  type StoreEntries,
  WrongPasswordError,
} from "./store-entries.ts";

const CERTIFICATE = /-----BEGIN (X509 )?CERTIFICATE-----[^-]+-----END \1?CERTIFICATE-----/g;
const KEY = /-----BEGIN ((?:[A-Z0-9]+ )?PRIVATE KEY)-----[^-]*(?:-[^-]+)*-----END \1-----/;

export function isPem(bytes: Buffer): boolean {
  return bytes.includes("-----BEGIN ");
}

/** A key is encrypted by its own header, whatever stands around it. */
export function isEncryptedPemKey(bytes: Buffer): boolean {
  return /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(
    bytes.toString("latin1"),
  );
}

/** All certificates in the file are trusted, and may belong to its key. */
export function readPem(bytes: Buffer): StoreEntries {
  const text = bytes.toString("latin1");
  const certificates = (text.match(CERTIFICATE) ?? []).map(toX509);
  const key = KEY.exec(text)?.[0];
  if (key === undefined) return { keys: [], trusted: certificates };
  const open = (password: string) => {
    const isEncrypted = isEncryptedPemKey(Buffer.from(key));
    if (isEncrypted && password === "") throw new NoPasswordError();
    try {
      return createPrivateKey({ key, ...(isEncrypted && { passphrase: password }) });
    } catch (cause) {
      if (isEncrypted) throw new WrongPasswordError(undefined, { cause });
      throw new DamagedStoreError("its key", { cause });
    }
  };
  return { keys: [{ alias: "", open, certificates }], trusted: certificates };
}

function toX509(pem: string): X509Certificate {
  return new X509Certificate(pem);
}
