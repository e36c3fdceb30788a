/** The properties that zkCli takes as `-client-configuration`, and Kafka as `-zk-tls-config-file`. */
import { UsageError } from "../errors.ts";
import type { TlsOptions } from "../session/options.ts";
import { cipherSuites } from "./cipher-suites.ts";
import { type PlacedProperty, placeOf } from "./java-properties.ts";
import { protocolVersions } from "./protocol-versions.ts";

/** What properties say of TLS. */
export interface TlsProperties {
  /** On or off, and the property that says so; undefined if none does. */
  readonly wish: { readonly isOn: boolean; readonly source: string } | undefined;
  readonly keyStore: StoreProperties | undefined;
  readonly trustStore: StoreProperties | undefined;
  readonly connection: Pick<TlsOptions, "anyServerName" | "minVersion" | "maxVersion" | "ciphers">;
  /** What zksh does not do, by the places it is written in. */
  readonly notHonoured: readonly { readonly where: string; readonly what: string }[];
}

export interface StoreProperties {
  readonly path: string;
  /** The property that names the file. */
  readonly source: string;
  readonly type: string | undefined;
  readonly password: { readonly text: string; readonly source: string } | undefined;
  readonly passwordFile: { readonly path: string; readonly source: string } | undefined;
}

/** In lower case: Java itself reads some of them in any case. Kafka's spelling comes second. */
const SWITCHES: readonly string[] = ["zookeeper.client.secure", "zookeeper.ssl.client.enable"];
const CNXN_SOCKET = "zookeeper.clientcnxnsocket";
const HOST_NAMES = "zookeeper.ssl.hostnameverification";
const IDENTIFICATION = "zookeeper.ssl.endpoint.identification.algorithm";
const PROTOCOLS: readonly string[] = [
  "zookeeper.ssl.enabledprotocols",
  "zookeeper.ssl.enabled.protocols",
];
const PROTOCOL = "zookeeper.ssl.protocol";
const CIPHERS: readonly string[] = ["zookeeper.ssl.ciphersuites", "zookeeper.ssl.cipher.suites"];
const STORE = /^zookeeper\.ssl\.(?:key|trust)store\.(?:location|password|passwordpath|type)$/;
/** What zksh does not do anyway may be turned off. */
const MAY_BE_OFF = /^zookeeper\.(?:ssl\.(?:crl|ocsp)(?:\.enable)?|fips-mode|sasl\.client)$/;
/** Settings of the connections between servers; a client ignores them. */
const ASKS_FOR_TLS = /^zookeeper\.ssl\.(?!quorum\.)/;

/** Why a property is not honoured, or what to use instead. */
const INSTEAD: readonly (readonly [name: RegExp, why: string])[] = [
  [/\.(crl|ocsp)(\.enable)?$/, "certificates are not checked for revocation"],
  [/^zookeeper\.fips-mode$/, "run Node.js itself in FIPS mode"],
  [/^zookeeper\.(sasl|server|kinit|login)\b/, "log in with --sasl or --jaas"],
  [/^java\.security\./, "log in with --sasl or --jaas"],
  [/^jute\.maxbuffer$/, "use --max-reply and --max-request"],
  [/\.context\.supplier\.class$/, "that is Java code"],
  [/^zookeeper\.ssl\.quorum\./, "that is for servers"],
  [/^authorizer\./, "that is for Kafka's brokers"],
];

/**
 * Properties that have TLS settings ask for TLS, also without a switch, in capitals, or with a
 * second line that turns it off: a slip must not send passwords in clear. Throws UsageError for
 * properties that contradict each other.
 */
export function tlsFromProperties(properties: readonly PlacedProperty[]): TlsProperties {
  // To Java the last of two values for one name counts.
  const last = new Map(properties.map((each) => [each.name.toLowerCase(), each]));
  const find = (...names: readonly string[]) =>
    names.flatMap((name) => last.get(name) ?? []).find(({ value }) => value.trim() !== "");
  const suites = find(...CIPHERS);
  const ciphers = suites && cipherSuites(suites.value);
  if (suites && ciphers?.ciphers === "")
    throw new UsageError(`${placeOf(suites)} has no cipher suite that this Node.js knows`);
  const versions = protocolVersions(find(...PROTOCOLS), find(PROTOCOL));
  const isAnyName = acceptsAnyName(last);
  return {
    wish: wishOf(properties),
    keyStore: storeOf("keystore", find),
    trustStore: storeOf("truststore", find),
    connection: {
      ...(isAnyName && { anyServerName: true }),
      ...versions.range,
      ...(ciphers && { ciphers: ciphers.ciphers }),
    },
    notHonoured: [
      ...[...last].flatMap(([name, each]) => {
        const what = isHonoured(name, each.value) ? undefined : explained(name, each.name);
        return what === undefined ? [] : [{ where: each.where, what }];
      }),
      ...(suites && ciphers ? ciphers.unknown.map((what) => ({ where: suites.where, what })) : []),
      ...versions.unknown,
    ],
  };
}

function wishOf(properties: readonly PlacedProperty[]): TlsProperties["wish"] {
  const isSwitch = ({ name }: PlacedProperty) => SWITCHES.includes(name.toLowerCase());
  const switches = properties.filter(isSwitch);
  const on = switches.find(isTrue);
  const off = switches.find((each) => !isTrue(each));
  const asks = (each: PlacedProperty) =>
    ASKS_FOR_TLS.test(each.name.toLowerCase()) && !isSwitch(each);
  const source = on ?? properties.find(asks);
  if (source !== undefined && off !== undefined)
    throw new UsageError(`${placeOf(source)} asks for TLS, and ${placeOf(off)} turns it off`, {
      hint: "remove one of them",
    });
  const decisive = source ?? off;
  return decisive && { isOn: decisive === source, source: placeOf(decisive) };
}

type Find = (...names: readonly string[]) => PlacedProperty | undefined;

/** Kafka writes keystore where zkCli writes keyStore. */
function storeOf(store: "keystore" | "truststore", find: Find): StoreProperties | undefined {
  const of = (what: string) => find(`zookeeper.ssl.${store}.${what}`);
  const location = of("location");
  if (location === undefined) return undefined;
  const [password, passwordFile] = [of("password"), of("passwordpath")];
  return {
    path: location.value.trim(),
    source: location.name,
    type: of("type")?.value,
    password: password && { text: password.value, source: placeOf(password) },
    passwordFile: passwordFile && { path: passwordFile.value.trim(), source: passwordFile.name },
  };
}

/** Only where nothing asks for the check. Kafka turns it off with an empty algorithm. */
function acceptsAnyName(last: ReadonlyMap<string, PlacedProperty>): boolean {
  const [verification, algorithm] = [last.get(HOST_NAMES), last.get(IDENTIFICATION)];
  const isChecked = [
    verification && isTrue(verification),
    algorithm && algorithm.value.trim() !== "",
  ].filter((each) => each !== undefined);
  return isChecked.length > 0 && !isChecked.includes(true);
}

function isHonoured(name: string, value: string): boolean {
  if (MAY_BE_OFF.test(name)) return /^\s*false\s*$/i.test(value);
  if (name === CNXN_SOCKET) return /(^|\.)ClientCnxnSocketNetty\s*$/.test(value);
  if (name === IDENTIFICATION) return /^\s*(HTTPS)?\s*$/i.test(value);
  const known = [...SWITCHES, ...PROTOCOLS, ...CIPHERS, HOST_NAMES, PROTOCOL];
  return known.includes(name) || STORE.test(name);
}

function explained(name: string, spelling: string): string {
  const why = INSTEAD.find(([pattern]) => pattern.test(name))?.[1];
  return why === undefined ? spelling : `${spelling} (${why})`;
}

/** In any case, as Java. A word that Java would take for false in silence is refused. */
function isTrue(property: PlacedProperty): boolean {
  const word = property.value.trim().toLowerCase();
  if (word === "true") return true;
  if (word === "false") return false;
  throw new UsageError(`bad value '${property.value}' of ${placeOf(property)}`, {
    hint: "use true or false",
  });
}
