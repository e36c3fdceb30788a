/** TLS as the command line and the environment set it: on or off, and the files that it needs. */
import { resolve } from "node:path";
import { UsageError } from "../errors.ts";
import type { GlobalFlags, GlobalName } from "./global-options.ts";
import { javaFlags, type Property } from "./java-flags.ts";
import { SettingReader, type Variables } from "./setting-reader.ts";
import type { StoredLayer } from "./stored-settings.ts";

/** TLS is on or off because of the option or variable `source`. */
export type TlsSetting =
  | {
      readonly isOn: true;
      readonly source: string;
      readonly servername?: string;
      readonly isInsecure: boolean;
    }
  | { readonly isOn: false; readonly source: string };

export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly keyPassword?: string;
  readonly keystore?: string;
  readonly keystorePassword?: string;
  readonly truststore?: string;
  readonly truststorePassword?: string;
  /** zkCli's or Kafka's properties. */
  readonly properties?: string;
}

/** TLS properties in a variable with flags for Java, and its name. */
export interface JavaTls {
  readonly variable: string;
  readonly properties: readonly Property[];
}

/** Each of them turns TLS on. */
const IMPLIED = [
  "tls-ca",
  "tls-cert",
  "tls-key-password-file",
  "tls-keystore",
  "tls-keystore-password-file",
  "tls-truststore",
  "tls-truststore-password-file",
  "tls-servername",
] as const;

/** Any TLS setting turns it on. Throws UsageError where another one turns it off by name. */
export function tlsSetting(reader: SettingReader): TlsSetting | undefined {
  const servername = reader.text("tls-servername");
  const isInsecure = reader.isOn("tls-insecure");
  const switches = reader.toggles("tls");
  const implied = IMPLIED.flatMap((name) => reader.sources(name));
  const wishes = [
    ...switches.filter(({ isOn }) => isOn).map(({ source }) => source),
    ...implied,
    ...(isInsecure ? reader.sources("tls-insecure") : []),
  ];
  const off = switches.find(({ isOn }) => !isOn);
  const [source] = wishes;
  if (source !== undefined && off) throw tlsDisagreement(source, off.source);
  if (source === undefined) return off && { isOn: false, source: off.source };
  return { isOn: true, source, isInsecure, ...(servername !== undefined && { servername }) };
}

export function tlsDisagreement(on: string, off: string): UsageError {
  return new UsageError(`${on} asks for TLS, and ${off} turns it off`, {
    hint: "remove one of them",
  });
}

/**
 * The client's certificate comes from a key store or from PEM files, and the trusted authorities
 * from a trust store or a PEM file: what the command line names replaces what the environment
 * names, and that what the settings file names. Throws UsageError for two of one place.
 */
export function tlsFiles(
  flags: GlobalFlags,
  env: Variables,
  stored: readonly StoredLayer[] = [],
): TlsFiles {
  const line = new SettingReader(flags, {});
  const inherited = new SettingReader({}, env);
  const readers = [line, inherited, ...stored.map((one) => new SettingReader({}, {}, [one]))];
  const own = oneOf(["tls-keystore"], ["tls-cert", "tls-key"], ...readers);
  const trust = oneOf(["tls-truststore"], ["tls-ca"], ...readers);
  const reader = new SettingReader(flags, env, stored);
  const keystore = own?.text("tls-keystore");
  const isPem = own !== undefined && keystore === undefined;
  const [cert, key] = isPem ? [reader.text("tls-cert"), reader.text("tls-key")] : [];
  if ((cert === undefined) !== (key === undefined))
    throw new UsageError("--tls-cert and --tls-key must be given together");
  const files = {
    ca: trust?.text("tls-ca"),
    cert,
    key,
    keyPassword: reader.text("tls-key-password-file"),
    keystore,
    keystorePassword: reader.text("tls-keystore-password-file"),
    truststore: trust?.text("tls-truststore"),
    truststorePassword: reader.text("tls-truststore-password-file"),
    properties: readers.flatMap((one) => propertiesFile(one) ?? [])[0],
  };
  return Object.fromEntries(Object.entries(files).filter(([, path]) => path !== undefined));
}

/** The reader that has any of `names` or `others`, the line before the environment. */
function oneOf(
  names: readonly GlobalName[],
  others: readonly GlobalName[],
  ...readers: readonly SettingReader[]
): SettingReader | undefined {
  const given = (reader: SettingReader, wanted: readonly GlobalName[]) =>
    wanted.flatMap((name) => reader.sources(name))[0];
  for (const reader of readers) {
    const [one, other] = [given(reader, names), given(reader, others)];
    if (one !== undefined && other !== undefined)
      throw new UsageError(`${one} and ${other} exclude each other`, {
        hint: "remove one of them",
      });
    if ((one ?? other) !== undefined) return reader;
  }
  return undefined;
}

/** Kafka's option names a file of the same kind as zkCli's. */
function propertiesFile(reader: SettingReader): string | undefined {
  const [file, kafkas] = [reader.text("client-configuration"), reader.text("zk-tls-config-file")];
  if (file !== undefined && kafkas !== undefined)
    throw new UsageError("-client-configuration and -zk-tls-config-file exclude each other", {
      hint: "write all properties into one file",
    });
  return file ?? kafkas;
}

/**
 * For the programs that we run, beside the variables of the options themselves: what the command
 * line replaced in our own environment must not come back there.
 */
export function tlsEnvironment(flags: GlobalFlags, env: Variables): Record<string, string> {
  const isPem = (flags["tls-cert"] ?? flags["tls-key"]) !== undefined;
  const replaced = [
    ...(flags["tls-keystore"] ? ["ZKSH_TLS_CERT", "ZKSH_TLS_KEY"] : []),
    ...(isPem ? ["ZKSH_TLS_KEYSTORE"] : []),
    ...(flags["tls-truststore"] ? ["ZKSH_TLS_CA"] : []),
    ...(flags["tls-ca"] ? ["ZKSH_TLS_TRUSTSTORE"] : []),
  ];
  const kafkas = flags["zk-tls-config-file"]?.at(-1);
  return {
    ...Object.fromEntries(replaced.filter((name) => env[name]).map((name) => [name, ""])),
    ...(kafkas !== undefined && { ZKSH_CLIENT_CONFIGURATION: resolve(kafkas) }),
  };
}

/** The variables that the scripts around zkCli and Kafka's zookeeper-shell hand to Java. */
const JAVA_VARIABLES = ["CLIENT_JVMFLAGS", "JVMFLAGS", "KAFKA_OPTS"] as const;
const SWITCH = /^zookeeper\.(client\.secure|ssl\.client\.enable)$/i;
/** Other properties of Java's flags are about logs, memory and such. */
const ABOUT_TLS = /^zookeeper\.(client\.secure|ssl\.|clientcnxnsocket$|fips-mode$)/i;

/**
 * Properties in the flags of Java clients, where these turn TLS on: with the same flags a Java
 * client would use it. Stores alone do not: the flags may be those of a server.
 */
export function javaTls(env: Variables): JavaTls | undefined {
  for (const variable of JAVA_VARIABLES) {
    const properties = javaFlags(env[variable] ?? "").filter(([name]) => ABOUT_TLS.test(name));
    const isOn = properties.some(([name, value]) => SWITCH.test(name) && /^true$/i.test(value));
    if (isOn) return { variable, properties };
  }
  return undefined;
}

/** No password is given for something that may need one; only its contents tell. */
export function mayAskForStorePassword({
  files,
  javaTls,
}: {
  readonly files: TlsFiles;
  readonly javaTls: JavaTls | undefined;
}): boolean {
  const isOpen = (store: string | undefined, password: string | undefined) =>
    store !== undefined && password === undefined;
  return (
    isOpen(files.key, files.keyPassword) ||
    isOpen(files.keystore, files.keystorePassword) ||
    isOpen(files.truststore, files.truststorePassword) ||
    files.properties !== undefined ||
    javaTls !== undefined
  );
}

/** The files that TLS uses, as messages name them. */
export interface TlsFileNames {
  /** That of the trusted authorities. */
  readonly trust?: string | undefined;
  /** That of the client's certificate. */
  readonly own?: string | undefined;
}

/** A store that properties name is found there. */
export function tlsFileNames(files: TlsFiles, javaTls?: JavaTls): TlsFileNames {
  const { ca, truststore, cert, keystore, properties } = files;
  const place = properties ?? javaTls?.variable;
  const store = (kind: string) => (place === undefined ? undefined : `the ${kind} of ${place}`);
  return {
    trust: truststore ?? ca ?? store("trust store"),
    own: keystore ?? cert ?? store("key store"),
  };
}
