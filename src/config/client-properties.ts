/** The properties file that zkCli takes as `-client-configuration`, as far as it is about TLS. */
import { UsageError } from "../errors.ts";
import type { TlsOptions } from "../session/options.ts";
import { parseProperties } from "./java-properties.ts";

/** What a file says of TLS; undefined when it says nothing. */
export type TlsProperties =
  | { readonly isOn: true; readonly source: string; readonly tls: TlsOptions }
  | { readonly isOn: false; readonly source: string };

/** zkCli's, and Kafka's. */
const SWITCHES: readonly string[] = ["zookeeper.client.secure", "zookeeper.ssl.client.enable"];
const isSwitch = (name: string) => SWITCHES.includes(name.toLowerCase());
/** Settings of the connections between servers; a client ignores them. */
const TLS_SETTING = /^zookeeper\.ssl\.(?!quorum\.)/i;

/**
 * Only PEM stores can be used; throws UsageError for the others, and for properties that contradict
 * each other. A file that has TLS settings asks for TLS, also without a switch, in capitals, or with
 * a second line that turns it off: a slip must not send passwords in clear.
 */
export async function tlsFromProperties(
  text: string,
  read: (option: string, path: string) => Promise<Buffer>,
): Promise<TlsProperties | undefined> {
  const properties = parseProperties(text);
  const switches = properties
    .filter(([name]) => isSwitch(name))
    .map(([name, value]) => ({ name, isOn: parseBoolean(name, value) }));
  const on = switches.find(({ isOn }) => isOn)?.name;
  const off = switches.find(({ isOn }) => !isOn)?.name;
  const isSetting = (name: string) => TLS_SETTING.test(name) && !isSwitch(name);
  const source = on ?? properties.map(([name]) => name).find(isSetting);
  if (source !== undefined && off !== undefined)
    throw new UsageError(`${source} asks for TLS, and ${off} turns it off`, {
      hint: "remove one of them",
    });
  if (off !== undefined) return { isOn: false, source: off };
  return source === undefined
    ? undefined
    : { isOn: true, source, tls: await readStores(new Map(properties), read) };
}

async function readStores(
  properties: ReadonlyMap<string, string>,
  read: (option: string, path: string) => Promise<Buffer>,
): Promise<TlsOptions> {
  const trust = findStore("trustStore", properties);
  const own = findStore("keyStore", properties);
  const ca = trust && (await read(trust.name, trust.path));
  // A PEM key store holds both, the certificate and its key.
  const both = own && (await read(own.name, own.path));
  return { ...(ca && { ca }), ...(both && { cert: both, key: both }) };
}

/** Kafka writes keystore where zkCli writes keyStore. */
function findStore(
  store: "keyStore" | "trustStore",
  properties: ReadonlyMap<string, string>,
): { readonly name: string; readonly path: string } | undefined {
  const find = (what: string) =>
    [...properties].find(
      ([name]) => name.toLowerCase() === `zookeeper.ssl.${store}.${what}`.toLowerCase(),
    );
  const [name, location = ""] = find("location") ?? [];
  const path = location.trim();
  if (name === undefined || path === "") return undefined;
  const type = find("type")?.[1].trim().toUpperCase();
  if (type === undefined ? path.endsWith(".pem") : type === "PEM") return { name, path };
  throw new UsageError(`the ${store} ${path} is not a PEM file`, {
    hint: "convert it to PEM, or use --tls-ca, --tls-cert and --tls-key",
  });
}

/** In any case, as Java. A word that Java would take for false in silence is refused. */
function parseBoolean(name: string, value: string): boolean {
  const word = value.trim().toLowerCase();
  if (word === "true") return true;
  if (word === "false") return false;
  throw new UsageError(`bad value '${value}' of ${name}`, { hint: "use true or false" });
}
