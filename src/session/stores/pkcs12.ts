/** Reads PKCS #12 stores (RFC 7292), as keytool, openssl and others write them. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { Ber, MalformedBerError, TAG } from "./ber.ts";
import { decrypt, isMacOf } from "./pkcs12-decrypt.ts";
import {
  DamagedStoreError,
  NoPasswordError,
  type StoreEntries,
  UnsupportedStoreError,
  WrongPasswordError,
} from "./store-entries.ts";

const DATA = "1.2.840.113549.1.7.1";
const ENCRYPTED_DATA = "1.2.840.113549.1.7.6";
const BAG = {
  key: "1.2.840.113549.1.12.10.1.1",
  protectedKey: "1.2.840.113549.1.12.10.1.2",
  certificate: "1.2.840.113549.1.12.10.1.3",
  bags: "1.2.840.113549.1.12.10.1.6",
} as const;
const X509 = "1.2.840.113549.1.9.22.1";
const FRIENDLY_NAME = "1.2.840.113549.1.9.20";
/** Java marks the certificates that a store trusts with it. */
const TRUSTED_KEY_USAGE = "2.16.840.1.113894.746875.1.1";

/** What a PKCS #12 file begins with: a sequence, and in it version 3. */
export function looksLikePkcs12(bytes: Buffer): boolean {
  try {
    const [version, contents] = Ber.read(bytes).parts();
    return version?.number === 3 && contents?.tag === TAG.sequence;
  } catch {
    return false;
  }
}

export function readPkcs12(bytes: Buffer, password: string | undefined): StoreEntries {
  try {
    return read(bytes, password);
  } catch (cause) {
    if (cause instanceof MalformedBerError) throw new DamagedStoreError(cause.message, { cause });
    throw cause;
  }
}

function read(bytes: Buffer, password: string | undefined): StoreEntries {
  const [, contents, mac] = Ber.read(bytes).parts();
  const safe = contents && contentOf(contents);
  if (safe?.type !== DATA) throw new UnsupportedStoreError("a signature in place of a password");
  const { octets } = safe.content.inner;
  if (mac !== undefined) {
    if (password === undefined) throw new NoPasswordError();
    if (!isMacOf(mac, password, octets)) throw new WrongPasswordError();
  }
  const bags = Ber.read(octets)
    .parts()
    .flatMap((part) => bagsOf(part, password));
  const certificates = bags.flatMap((bag) => certificateOf(bag) ?? []);
  const keys = bags.flatMap((bag) => {
    const open = keyOf(bag);
    return open ? [{ alias: aliasOf(bag), open, certificates: certificates.map(toX509) }] : [];
  });
  const marked = certificates.filter(({ bag }) => bag.attributes.has(TRUSTED_KEY_USAGE));
  // openssl knows no such mark: with it a store of certificates alone is one that trusts them.
  const trusted = marked.length > 0 || keys.length > 0 ? marked : certificates;
  return { keys, trusted: trusted.map(toX509) };
}

interface Bag {
  readonly type: string;
  readonly value: Ber;
  readonly attributes: ReadonlyMap<string, Ber | undefined>;
}

interface CertificateBag {
  readonly bag: Bag;
  readonly der: Buffer;
}

const toX509 = ({ der }: CertificateBag) => new X509Certificate(der);

function contentOf(info: Ber): { readonly type: string; readonly content: Ber } {
  const [type, content] = info.parts();
  if (type === undefined || content === undefined) throw new DamagedStoreError("a part is empty");
  return { type: type.oid, content: content.expect(TAG.context0) };
}

/** The bags of one part of the file, which may be encrypted. */
function bagsOf(part: Ber, password: string | undefined): Bag[] {
  const { type, content } = contentOf(part);
  if (type === DATA) return safeBags(Ber.read(content.inner.octets));
  if (type !== ENCRYPTED_DATA) throw new UnsupportedStoreError(`a part of type ${type}`);
  const [, info] = content.inner.parts();
  const [, algorithm, encrypted] = info?.parts() ?? [];
  if (algorithm === undefined || encrypted === undefined)
    throw new DamagedStoreError("an encrypted part is empty");
  if (password === undefined) throw new NoPasswordError();
  return safeBags(Ber.read(decrypt(algorithm, password, encrypted.octets)));
}

function safeBags(contents: Ber): Bag[] {
  return contents.parts().flatMap((each) => {
    const [type, value, attributes] = each.parts();
    if (type === undefined || value === undefined) throw new DamagedStoreError("a bag is empty");
    const inner = value.expect(TAG.context0).inner;
    if (type.oid === BAG.bags) return safeBags(inner);
    return [{ type: type.oid, value: inner, attributes: attributesOf(attributes) }];
  });
}

function attributesOf(attributes: Ber | undefined): Map<string, Ber | undefined> {
  const pairs = (attributes?.parts(TAG.set) ?? []).map((each) => {
    const [name, values] = each.parts();
    return [name?.oid ?? "", values?.parts(TAG.set)[0]] as const;
  });
  return new Map(pairs);
}

function certificateOf(bag: Bag): CertificateBag | undefined {
  if (bag.type !== BAG.certificate) return undefined;
  const [type, value] = bag.value.parts();
  if (type?.oid !== X509 || value === undefined) return undefined;
  return { bag, der: value.expect(TAG.context0).inner.octets };
}

/** Undefined for other bags. */
function keyOf(bag: Bag): ((password: string) => KeyObject) | undefined {
  const { type, value } = bag;
  if (type === BAG.key) return () => toKey(value.whole);
  if (type !== BAG.protectedKey) return undefined;
  return (password) => {
    const [algorithm, data] = value.parts();
    if (algorithm === undefined || data === undefined)
      throw new DamagedStoreError("a key is empty");
    return toKey(decrypt(algorithm, password, data.octets));
  };
}

/** A key that was decrypted with a wrong password is no key. */
function toKey(pkcs8: Buffer): KeyObject {
  try {
    return createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  } catch (cause) {
    throw new WrongPasswordError(undefined, { cause });
  }
}

function aliasOf({ attributes }: Bag): string {
  const name = attributes.get(FRIENDLY_NAME)?.body ?? Buffer.alloc(0);
  return name.length % 2 === 0 ? Buffer.from(name).swap16().toString("utf16le") : "";
}
