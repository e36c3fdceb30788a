/** An ensemble's configuration: lines `server.ID=…;client address` and `version=HEX`. */

interface Server {
  readonly key: string;
  /** Where clients connect to; undefined where the line does not say. */
  readonly client: string | undefined;
}

export interface EnsembleConfig {
  /** Hex, without `0x`; empty where there is none. */
  readonly version: string;
  readonly servers: readonly Server[];
}

export function parseConfig(text: string): EnsembleConfig {
  let version = "";
  const servers: Server[] = [];
  for (const line of text.split("\n")) {
    const equals = line.indexOf("=");
    const [key, value] = [line.slice(0, equals).trim(), line.slice(equals + 1).trim()];
    if (key === "version") version = value;
    else if (key.startsWith("server.")) servers.push({ key, client: clientAddress(value) });
  }
  return { version, servers };
}

function clientAddress(value: string): string | undefined {
  const client = value.split(";")[1]?.trim();
  return client !== undefined && /^\d+$/.test(client) ? `0.0.0.0:${client}` : client;
}

/**
 * `100000000 127.0.0.1:22202,127.0.0.1:22201`, in the order in which Java's properties come out of
 * their table.
 */
export function zkcliClients(text: string): string {
  const { version, servers } = parseConfig(text);
  const keys = [...text.matchAll(/^([^=\n]+)=/gm)].map(([, key = ""]) => key.trim());
  const order = new Map(javaOrder(keys).map((key, index) => [key, index]));
  const sorted = servers.toSorted((a, b) => (order.get(a.key) ?? 0) - (order.get(b.key) ?? 0));
  return `${version} ${sorted.map(({ client }) => client ?? "").join(",")}`;
}

/**
 * ConcurrentHashMap: 16 places, doubled when three quarters are taken; in one place, first come
 * first.
 */
function javaOrder(keys: readonly string[]): string[] {
  let places = 16;
  while (keys.length >= places * 0.75) places *= 2;
  const place = (key: string) => {
    let hash = 0;
    for (let i = 0; i < key.length; i++) hash = (Math.imul(31, hash) + key.charCodeAt(i)) | 0;
    return (hash ^ (hash >>> 16)) & (places - 1);
  };
  return keys.toSorted((a, b) => place(a) - place(b));
}

/**
 * The version and the addresses of clients, as zkCli shows them but in the configuration's own
 * order.
 */
export function clientsOf(text: string): string {
  const { version, servers } = parseConfig(text);
  return version === ""
    ? ""
    : `${version} ${servers.flatMap(({ client }) => client ?? []).join(",")}`;
}
