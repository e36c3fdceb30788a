/** Reads key stores and trust stores for {@link TlsOptions}: PEM, PKCS #12 and JKS. */
import type { KeyObject, X509Certificate } from "node:crypto";
import { UsageError } from "../../errors.ts";
import { quoteWord } from "../../text/quote-word.ts";
import type { TlsOptions } from "../options.ts";
import { JKS_MAGIC, readJks } from "./jks.ts";
import { isEncryptedPemKey, isPem, readPem } from "./pem.ts";
import { looksLikePkcs12, readPkcs12 } from "./pkcs12.ts";
import {
  DamagedStoreError,
  type KeyEntry,
  NoPasswordError,
  type StoreEntries,
  UnsupportedStoreError,
  WrongPasswordError,
} from "./store-entries.ts";

/** How to read a store. */
export interface StoreOptions {
  /** The store's password. A trust store in JKS can be read without it, and is not verified then. */
  readonly password?: string | undefined;
  /** The password of the key, where it is not that of the store. */
  readonly keyPassword?: string | undefined;
  /**
   * PEM, PKCS12 or JKS. Left out: the contents decide. As in Java, JKS and PKCS12 stand for each
   * other.
   */
  readonly type?: string | undefined;
  /** How errors name the store: its file. */
  readonly file?: string | undefined;
}

type StoreKind = "PEM" | "PKCS12" | "JKS" | "JCEKS";

const JCEKS_MAGIC = 0xcececece;
/** A store with all authorities of the world has 0.3 MB. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The certificate and the key of a key store, and what is worth knowing of them. */
export interface Identity {
  readonly tls: Required<Pick<TlsOptions, "cert" | "key">>;
  readonly alias: string;
  /** Other keys in the store, which are not used. */
  readonly others: readonly string[];
  readonly certificate: X509Certificate;
}

/**
 * The client certificate and its key in a key store. Throws UsageError with the reason
 * `needs-password`, `wrong-password`, `wrong-key-password`, `no-key`, `unsupported-store` or
 * `damaged-store`.
 *
 * @example
 * ```ts
 * const own = readKeyStore(await readFile("client.p12"), { password: "…" });
 * const trust = readTrustStore(await readFile("trust.jks"));
 * const session = openSession({ ...parseConnectString("zk1:2182"), tls: { ...own, ...trust } });
 * ```
 */
export function readKeyStore(
  contents: Buffer,
  options: StoreOptions = {},
): Required<Pick<TlsOptions, "cert" | "key">> {
  return readIdentity(contents, options).tls;
}

/**
 * The certificates that a trust store trusts. Throws UsageError, as {@link readKeyStore}, and with
 * the reason `no-certificate`.
 */
export function readTrustStore(
  contents: Buffer,
  options: StoreOptions = {},
): Required<Pick<TlsOptions, "ca">> {
  const name = `the trust store${options.file === undefined ? "" : ` ${options.file}`}`;
  const { trusted, keys } = readEntries(contents, name, options);
  if (trusted.length === 0) {
    const file = fileWord(options);
    throw new UsageError(
      `${name} has no trusted certificate${keys.length > 0 ? ", but a key" : ""}`,
      {
        reason: "no-certificate",
        hint: `add the CA: keytool -importcert -alias ca -file ca.pem -keystore ${file}`,
      },
    );
  }
  return { ca: Buffer.from(trusted.map(toPem).join("")) };
}

export function readIdentity(contents: Buffer, options: StoreOptions): Identity {
  const { file, password, keyPassword } = options;
  const name = `the key store${file === undefined ? "" : ` ${file}`}`;
  const { keys } = readEntries(contents, name, options);
  const [entry, ...others] = keys;
  if (entry === undefined)
    throw new UsageError(`${name} has no private key, only certificates`, {
      reason: "no-key",
      hint: `keytool -list -keystore ${fileWord(options)} shows what is in it`,
    });
  const key = openKey(entry, keyPassword ?? password ?? "", name, {
    ...options,
    isOwn: keyPassword !== undefined,
  });
  const chain = chainOf(key, entry.certificates);
  const [certificate] = chain;
  if (certificate === undefined)
    throw new UsageError(`${name} has no certificate for its key`, { reason: "no-certificate" });
  return {
    tls: {
      cert: Buffer.from(chain.map(toPem).join("")),
      key: Buffer.from(key.export({ format: "pem", type: "pkcs8" })),
    },
    alias: entry.alias,
    others: others.map(({ alias }) => alias),
    certificate,
  };
}

/** A key in PEM, decrypted. */
export function decryptPemKey(contents: Buffer, password: string, file: string): Buffer {
  const name = `the key ${file}`;
  const [entry] = explained(name, { file }, () => readPem(contents).keys);
  if (entry === undefined)
    throw new UsageError(`${name} has no private key in PEM form`, { reason: "no-key" });
  const key = openKey(entry, password, name, { file, isOwn: true });
  return Buffer.from(key.export({ format: "pem", type: "pkcs8" }));
}

/** Whether the store or its key certainly cannot be read without a password. */
export function needsPassword(contents: Buffer, { isKeyStore }: { isKeyStore: boolean }): boolean {
  if (isPem(contents)) return isKeyStore && isEncryptedPemKey(contents);
  const kind = kindOf(contents);
  if (kind === "JKS") return isKeyStore;
  if (kind !== "PKCS12") return false;
  try {
    readPkcs12(contents, undefined);
    return false;
  } catch (error) {
    return error instanceof NoPasswordError;
  }
}

function readEntries(contents: Buffer, name: string, options: StoreOptions): StoreEntries {
  const { password } = options;
  if (contents.length > MAX_BYTES)
    throw new UsageError(`${name} is longer than ${MAX_BYTES / 1024 / 1024} MB`, {
      reason: "unsupported-store",
    });
  const kind = kindOf(contents);
  checkType(kind, name, options);
  return explained(name, options, () => {
    if (kind === "PEM") return readPem(contents);
    return kind === "JKS" ? readJks(contents, password) : readPkcs12(contents, password);
  });
}

function kindOf(contents: Buffer): StoreKind | undefined {
  const magic = contents.length < 4 ? 0 : contents.readUInt32BE(0);
  if (magic === JKS_MAGIC) return "JKS";
  if (magic === JCEKS_MAGIC) return "JCEKS";
  if (isPem(contents)) return "PEM";
  return looksLikePkcs12(contents) ? "PKCS12" : undefined;
}

function checkType(kind: StoreKind | undefined, name: string, options: StoreOptions): void {
  const type = options.type?.trim().toUpperCase() || undefined;
  const isKnown = type === undefined || ["PEM", "PKCS12", "JKS", "JCEKS"].includes(type);
  if (!isKnown || kind === "JCEKS" || kind === undefined) {
    const said = isKnown ? kind : type;
    const what = said === undefined ? "neither PEM nor PKCS12 nor JKS" : `of type ${said}`;
    throw new UsageError(`${name} is ${what}: it cannot be read`, {
      reason: "unsupported-store",
      hint: conversionOf(fileWord(options), said),
    });
  }
  if (type !== undefined && (type === "PEM") !== (kind === "PEM"))
    throw new UsageError(`${name} is said to be ${type}, but its contents are ${kind}`, {
      reason: "unsupported-store",
      hint: `say that its type is ${kind}, or leave the type out`,
    });
}

/** The keytool line that makes a PKCS12 store of another one. */
function conversionOf(file: string, type: string | undefined): string {
  const bouncyCastle = /^BC/.test(type ?? "")
    ? " -providerclass org.bouncycastle.jcajce.provider.BouncyCastleFipsProvider -providerpath bc-fips.jar"
    : "";
  return `convert it: keytool -importkeystore -srckeystore ${file} -srcstoretype ${type ?? "TYPE"} -destkeystore store.p12 -deststoretype PKCS12${bouncyCastle}`;
}

/** Turns what the readers of the formats throw into sentences. */
function explained<T>(name: string, options: StoreOptions, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof NoPasswordError)
      throw new UsageError(`${name} needs a password`, { reason: "needs-password", cause });
    if (cause instanceof WrongPasswordError)
      throw new UsageError(`the password of ${name} is wrong, or the file is damaged`, {
        reason: "wrong-password",
        cause,
      });
    if (cause instanceof UnsupportedStoreError)
      throw new UsageError(`${name} uses ${cause.message}: it cannot be read`, {
        reason: "unsupported-store",
        hint: conversionOf(fileWord(options), undefined),
        cause,
      });
    const why = cause instanceof DamagedStoreError ? ` (${cause.message})` : "";
    throw new UsageError(`${name} is damaged${why}`, { reason: "damaged-store", cause });
  }
}

function openKey(
  entry: KeyEntry,
  password: string,
  name: string,
  options: StoreOptions & { readonly isOwn: boolean },
): KeyObject {
  try {
    return entry.open(password);
  } catch (cause) {
    if (!(cause instanceof WrongPasswordError)) return explained(name, options, () => fail(cause));
    const key = entry.alias === "" ? "the key" : `the key '${entry.alias}'`;
    const where = name.startsWith("the key store") ? `${key} in ${name}` : name;
    throw new UsageError(
      options.isOwn
        ? `the password of ${where} is wrong`
        : `the password of ${name} does not open ${key} in it`,
      { reason: "wrong-key-password", cause },
    );
  }
}

function fail(error: unknown): never {
  throw error;
}

/** The certificate of the key, and those that it was issued by. */
function chainOf(key: KeyObject, certificates: readonly X509Certificate[]): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next = certificates.find((each) => each.checkPrivateKey(key));
  while (next !== undefined) {
    const last: X509Certificate = next;
    chain.push(last);
    next = certificates.find((each) => !chain.includes(each) && last.checkIssued(each));
  }
  return chain;
}

function toPem(certificate: X509Certificate): string {
  return certificate.toString();
}

function fileWord({ file = "FILE" }: StoreOptions): string {
  return quoteWord(file);
}
