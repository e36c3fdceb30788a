/** The addresses of clients in an ensemble's configuration. */
import { parseConfig } from "../session/ensemble-config.ts";

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
