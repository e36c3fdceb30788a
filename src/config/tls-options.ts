/** The TLS options of a session: the settings together with the stores and passwords in files. */
import { X509Certificate } from "node:crypto";
import { UsageError } from "../errors.ts";
import type { TlsOptions } from "../session/options.ts";
import { isEncryptedPemKey, isPem } from "../session/stores/pem.ts";
import {
  decryptPemKey,
  needsPassword,
  readIdentity,
  readTrustStore,
} from "../session/stores/stores.ts";
import {
  type StoreProperties,
  type TlsProperties,
  tlsFromProperties,
} from "./client-properties.ts";
import { type PlacedProperty, parseProperties } from "./java-properties.ts";
import type { Settings } from "./settings.ts";
import { tlsDisagreement } from "./tls-settings.ts";
import { certificateWarnings, type Warning } from "./warnings.ts";

export interface TlsSources {
  /** `option` is the option or property that names the file. */
  read(option: string, path: string): Promise<Buffer>;
  askPassword(wanted: WantedPassword): Promise<string>;
  warn(warning: Warning): void;
  /** Told of a file that only its owner should be able to read, because of what is in it. */
  holdsSecret(option: string, path: string): void;
}

/** A password that a person can be asked for. */
export interface WantedPassword {
  /** Names it in messages: `ann's password`. */
  readonly what: string;
  readonly question: string;
  /** The option that spares the question. */
  readonly instead: string;
}

interface Store {
  readonly kind: "key store" | "trust store" | "key";
  readonly path: string;
  readonly source: string;
  readonly type?: string | undefined;
  readonly password?: StoreProperties["password"];
  readonly passwordFile?: StoreProperties["passwordFile"];
}

/** Undefined without TLS: only where nothing asks for it. Throws UsageError. */
export async function tlsOptions(
  settings: Settings,
  sources: TlsSources,
): Promise<TlsOptions | undefined> {
  const { tls } = settings;
  const properties = tlsFromProperties(await readProperties(settings, sources));
  const { wish } = properties;
  tellNotHonoured(properties, sources);
  if (tls && wish && tls.isOn !== wish.isOn)
    throw tls.isOn
      ? tlsDisagreement(tls.source, wish.source)
      : tlsDisagreement(wish.source, tls.source);
  if (!tls?.isOn && !wish?.isOn) return undefined;
  return {
    ...properties.connection,
    ...(await trustOf(settings, properties, sources)),
    ...(await identityOf(settings, properties, sources)),
    ...(tls?.isOn && tls.servername !== undefined && { servername: tls.servername }),
    ...(tls?.isOn && tls.isInsecure && { insecure: true }),
  };
}

/** Those of the file win over those of the environment. */
async function readProperties(
  { files, javaTls }: Settings,
  { read, holdsSecret }: TlsSources,
): Promise<PlacedProperty[]> {
  const place = (where: string) => (each: readonly [string, string]) => {
    const [name, value] = each;
    return { name, value, where };
  };
  const inherited = javaTls?.properties.map(place(javaTls.variable)) ?? [];
  if (files.properties === undefined) return inherited;
  const option = "-client-configuration";
  const text = String(await read(option, files.properties));
  const own = parseProperties(text).map(place(files.properties));
  const isSecret = ({ name, value }: PlacedProperty) =>
    /\.keystore\.password$/i.test(name) && value !== "";
  if (own.some(isSecret)) holdsSecret(option, files.properties);
  return [...inherited, ...own];
}

function tellNotHonoured({ notHonoured }: TlsProperties, { warn }: TlsSources): void {
  const places = new Set(notHonoured.map(({ where }) => where));
  for (const place of places) {
    const names = notHonoured.filter(({ where }) => where === place).map(({ what }) => what);
    const message = `${place}: zksh does not honour ${names.join(", ")}`;
    warn({ kind: "warning", reason: "not-honoured", message });
  }
}

async function trustOf(
  { files }: Settings,
  { trustStore }: TlsProperties,
  sources: TlsSources,
): Promise<Pick<TlsOptions, "ca">> {
  if (files.ca !== undefined) return { ca: await sources.read("--tls-ca", files.ca) };
  const store: Omit<Store, "kind"> | undefined =
    files.truststore === undefined
      ? trustStore
      : { path: files.truststore, source: "--tls-truststore" };
  if (store === undefined) return {};
  const passwords = { option: "--tls-truststore-password-file", file: files.truststorePassword };
  const whole = { ...store, kind: "trust store" } as const;
  const { contents, password, origin } = await openStore(whole, passwords, sources);
  const { path, type } = store;
  return withOrigin({ password: origin }, () =>
    readTrustStore(contents, { file: path, type, password }),
  );
}

async function identityOf(
  { files }: Settings,
  { keyStore }: TlsProperties,
  sources: TlsSources,
): Promise<Pick<TlsOptions, "cert" | "key">> {
  const keyPassword =
    files.keyPassword === undefined
      ? undefined
      : await readPassword("--tls-key-password-file", files.keyPassword, sources);
  if (files.cert !== undefined && files.key !== undefined)
    return pemIdentity({ ...files, cert: files.cert, key: files.key }, keyPassword, sources);
  const store: Omit<Store, "kind"> | undefined =
    files.keystore === undefined ? keyStore : { path: files.keystore, source: "--tls-keystore" };
  if (store === undefined) return {};
  const passwords = {
    option: "--tls-keystore-password-file",
    file: files.keystorePassword,
    other: keyPassword,
  };
  const whole = { ...store, kind: "key store" } as const;
  const { contents, password, origin } = await openStore(whole, passwords, sources);
  const { path, type } = store;
  const ofKey =
    files.keyPassword === undefined
      ? "a key with a password of its own needs --tls-key-password-file FILE"
      : originOf(files.keyPassword, "--tls-key-password-file");
  const identity = withOrigin({ password: origin, keyPassword: ofKey }, () =>
    readIdentity(contents, { file: path, type, password, keyPassword }),
  );
  for (const warning of certificateWarnings(path, identity)) sources.warn(warning);
  return identity.tls;
}

async function pemIdentity(
  paths: { readonly cert: string; readonly key: string; readonly keyPassword?: string },
  keyPassword: string | undefined,
  sources: TlsSources,
): Promise<Pick<TlsOptions, "cert" | "key">> {
  const cert = await sources.read("--tls-cert", paths.cert);
  const key = await sources.read("--tls-key", paths.key);
  const certificate = certificateOf(cert);
  if (certificate)
    for (const warning of certificateWarnings(paths.cert, { certificate })) sources.warn(warning);
  if (!isEncryptedPemKey(key)) return { cert, key };
  const password = keyPassword ?? (await ask("key", paths.key, "--tls-key-password-file", sources));
  const origin = paths.keyPassword && originOf(paths.keyPassword, "--tls-key-password-file");
  return {
    cert,
    key: withOrigin({ keyPassword: origin }, () => decryptPemKey(key, password, paths.key)),
  };
}

/** The first certificate; what is wrong with it is told when it is used. */
function certificateOf(pem: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

interface Passwords {
  readonly option: string;
  /** The file that the option names. */
  readonly file: string | undefined;
  /** Another password that is known, and may be enough. */
  readonly other?: string | undefined;
}

interface OpenStore {
  readonly contents: Buffer;
  readonly password: string | undefined;
  /** Where the password came from; undefined without one, and if it was typed. */
  readonly origin: string | undefined;
}

const originOf = (file: string, option: string) => `its password is in ${file} (${option})`;

/** The option wins over the file of properties, and there a file with the password over itself. */
async function openStore(
  store: Store,
  passwords: Passwords,
  sources: TlsSources,
): Promise<OpenStore> {
  const { kind, path, source } = store;
  const contents = await sources.read(source, path);
  const passwordFile =
    passwords.file === undefined
      ? store.passwordFile
      : { path: passwords.file, source: passwords.option };
  if (passwordFile !== undefined) {
    const password = await readPassword(passwordFile.source, passwordFile.path, sources);
    return { contents, password, origin: originOf(passwordFile.path, passwordFile.source) };
  }
  if (store.password !== undefined) {
    const { text, source: where } = store.password;
    return { contents, password: text, origin: `its password is ${where}` };
  }
  // A PEM file has no password but that of its key.
  const isEnough = passwords.other !== undefined && isPem(contents);
  if (isEnough || !needsPassword(contents, { isKeyStore: kind === "key store" }))
    return { contents, password: undefined, origin: undefined };
  const password = await ask(kind, path, passwords.option, sources);
  return { contents, password, origin: undefined };
}

function ask(
  kind: Store["kind"],
  path: string,
  option: string,
  { askPassword }: TlsSources,
): Promise<string> {
  return askPassword({
    what: `the password of the ${kind} ${path}`,
    question: `Password of the ${kind} ${path}`,
    instead: `${option} FILE`,
  });
}

/** Passwords are short. */
const MAX_PASSWORD_BYTES = 64 * 1024;

/** One line; its end does not count. */
async function readPassword(option: string, path: string, sources: TlsSources): Promise<string> {
  const bytes = await sources.read(option, path);
  const where = `${path} (${option})`;
  if (bytes.length > MAX_PASSWORD_BYTES)
    throw new UsageError(`${where} is longer than ${MAX_PASSWORD_BYTES / 1024} KB`);
  const line = bytes.toString("utf8").replace(/\r?\n$/, "");
  if (/[\r\n]/.test(line)) throw new UsageError(`more than one line in ${where}`);
  return line;
}

/** Adds to a wrong password where it came from. */
function withOrigin<T>(
  origins: { readonly password?: string | undefined; readonly keyPassword?: string | undefined },
  read: () => T,
): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof UsageError) || cause.hint !== undefined) throw cause;
    const { reason, message } = cause;
    const { password, keyPassword } = origins;
    const isOfKey = reason === "wrong-key-password";
    const known = isOfKey ? [password, keyPassword] : [password];
    const hint = known.filter((each) => each !== undefined).join("; ");
    if (!/^wrong-/.test(reason) || hint === "") throw cause;
    throw new UsageError(message, { reason, hint, cause });
  }
}
