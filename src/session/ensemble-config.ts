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
  // ClickHouse Keeper names no address there, but says `participant`.
  if (client !== undefined && !/\d$/.test(client)) return undefined;
  return client !== undefined && /^\d+$/.test(client) ? `0.0.0.0:${client}` : client;
}

/** A server of the configuration, as clients find it. */
export interface Member {
  /** `server.1` */
  readonly key: string;
  readonly host: string;
  /** Undefined where the configuration does not say: then each server has its own `clientPort`. */
  readonly port: number | undefined;
  readonly isObserver: boolean;
}

const ANY_ADDRESS: readonly string[] = ["0.0.0.0", "::", "[::]", ""];

/** Lines that are no server, or name no host, are left out: the text is the servers' and not trusted. */
export function membersOf(text: string): Member[] {
  return text.split("\n").flatMap((line) => {
    const [, key, value = ""] = /^(server\.\d{1,10})=(.{1,1000})$/.exec(line.trim()) ?? [];
    const peer = /^\[?([^\]\s;,|]+?)\]?:\d{1,5}(?::\d{1,5})?(?=[:;|]|$)/.exec(value)?.[1];
    if (key === undefined || peer === undefined) return [];
    const [, clientHost = "", port] =
      /^(?:(.*):)?(\d{1,5})$/.exec(clientAddress(value) ?? "") ?? [];
    const host = ANY_ADDRESS.includes(clientHost) ? peer : clientHost.replace(/^\[|\]$/g, "");
    const isObserver = /:observer(?=;|$)/.test(value);
    return [{ key, host, port: port === undefined ? undefined : Number(port), isObserver }];
  });
}
