import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { ZooKeeperServer } from "../test/support/zookeeper-server.ts";

const SRVR = "Zookeeper version: 3.5.10, built on some day\n";

/**
 * The server as one from before it could count, or read many znodes at once: behind a proxy that
 * answers `srvr` for it and passes on everything else. The proxy costs who goes through it time,
 * never saves any.
 */
export async function withOldServer<T>(
  server: ZooKeeperServer,
  work: (address: string) => Promise<T>,
): Promise<T> {
  const clients = new Set<Socket>();
  const proxy = createServer({ noDelay: true }, (client) => {
    clients.add(client.on("error", () => {}).once("close", () => clients.delete(client)));
    client.once("data", (first) =>
      first.toString("latin1") === "srvr" ? client.end(SRVR) : join(client, first, server),
    );
  });
  proxy.listen(0, server.host);
  await once(proxy, "listening");
  try {
    return await work(`${server.host}:${(proxy.address() as AddressInfo).port}`);
  } finally {
    proxy.close();
    for (const client of clients) client.destroy();
  }
}

function join(client: Socket, first: Buffer, { host, port }: ZooKeeperServer): void {
  const server = connect({ host, port, noDelay: true }).on("error", () => client.destroy());
  client.once("close", () => server.destroy());
  server.write(first);
  client.pipe(server).pipe(client);
}
