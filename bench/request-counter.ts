import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../test/support/free-port.ts";

const GET_CHILDREN = 8;
const PING = 11;
const GET_CHILDREN_2 = 12;
const MULTI_READ = 22;

export interface RequestCounts {
  /** getChildren requests. */
  readonly listings: number;
  /** All requests except pings; the listings are among them. */
  readonly requests: number;
}

/**
 * Counts the requests that pass a proxy in front of a server while `work` runs. The server itself
 * counts packets, but not by kind.
 */
export async function countingRequests<T>(
  serverPort: number,
  work: (address: string, count: () => RequestCounts) => Promise<T>,
): Promise<T> {
  let [listings, requests] = [0, 0];
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    // A worker that is stopped resets its connections.
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: serverPort, host: "127.0.0.1", noDelay: true });
    for (const socket of [client, server]) track(socket);
    client.on("data", (chunk) => server.write(chunk));
    server.on("data", (chunk) => client.write(chunk));
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
    const frames = new Frames((frame) => {
      const opcode = frame.readInt32BE(4);
      if (opcode === MULTI_READ) throw new Error("a multiRead: its reads are not counted here");
      if (opcode !== PING) requests += 1;
      if (opcode === GET_CHILDREN || opcode === GET_CHILDREN_2) listings += 1;
    });
    client.on("data", (chunk) => frames.push(chunk));
  });
  const port = await freePort();
  await new Promise<void>((resolve, reject) => {
    proxy.once("error", reject);
    proxy.listen(port, "127.0.0.1", resolve);
  });
  try {
    return await work(`127.0.0.1:${port}`, () => ({ listings, requests }));
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  }
}

/** The requests of one connection; its first frame, the handshake, is none. */
class Frames {
  readonly #onRequest: (frame: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);
  #isHandshakeOver = false;

  constructor(onRequest: (frame: Buffer) => void) {
    this.#onRequest = onRequest;
  }

  push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 4) {
      const end = 4 + this.#rest.readInt32BE(0);
      if (this.#rest.length < end) return;
      if (this.#isHandshakeOver) this.#onRequest(this.#rest.subarray(4, end));
      this.#isHandshakeOver = true;
      this.#rest = this.#rest.subarray(end);
    }
  }
}
