/** What is in a key store or trust store, whatever its format. */
import type { KeyObject, X509Certificate } from "node:crypto";

export interface StoreEntries {
  readonly keys: readonly KeyEntry[];
  /** Certificates that the store trusts. */
  readonly trusted: readonly X509Certificate[];
}

export interface KeyEntry {
  readonly alias: string;
  /** Decrypts the key. Throws WrongPasswordError. */
  open(password: string): KeyObject;
  /** Those that may belong to the key, in the order of the file. */
  readonly certificates: readonly X509Certificate[];
}

/** The password is wrong, or the file was changed: neither can be told from the other. */
export class WrongPasswordError extends Error {}

/** The store is encrypted, and no password was given. */
export class NoPasswordError extends Error {}

/** The store uses something that is not supported: the message says what. */
export class UnsupportedStoreError extends Error {}

/** The bytes are not those of such a store. */
export class DamagedStoreError extends Error {}
