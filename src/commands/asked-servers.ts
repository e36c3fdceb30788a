/** The servers one by one, as recipes ask them. */
import type { AskedServer } from "../recipes/servers/told-sessions.ts";
import { formatAddress } from "../session/connect-string.ts";
import type { ServerAddress } from "../session/options.ts";
import type { Context } from "./command.ts";

/** All servers of the list. */
export async function askedServers({ servers }: Context): Promise<AskedServer[]> {
  const { servers: list } = await servers.options();
  return list.map((address) => askedServer(servers, address));
}

export function askedServer(servers: Context["servers"], address: ServerAddress): AskedServer {
  return { name: formatAddress(address), ask: (word) => servers.ask(address, word) };
}
