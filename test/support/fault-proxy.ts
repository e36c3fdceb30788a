import { connect, createServer, type Server, Socket } from "node:net";
import { freePort } from "./free-port.ts";

export type Direction = "to-server" | "to-client";

/** What is wrong with the network now; one object, seen by the proxy and all its links. */
interface Faults {
  delayMs: number;
  readonly stalled: Set<Direction>;
  cut: Direction | undefined;
  isBlackhole: boolean;
  onBytes: ((direction: Direction, chunk: Buffer) => void) | undefined;
}

/**
 * Starts a TCP proxy in front of `targetPort`; it is transparent until told otherwise. The caller
 * closes it.
 */
export async function startFaultProxy(targetPort: number, host = "127.0.0.1"): Promise<FaultProxy> {
  const proxy = new FaultProxy(await freePort(), targetPort, host);
  await proxy.listen();
  return proxy;
}

/**
 * A network that fails on demand. A fault holds for present and future connections until it is
 * taken back.
 */
export class FaultProxy {
  readonly port: number;
  readonly address: string;
  readonly #target: { readonly port: number; readonly host: string };
  readonly #links = new Set<Link>();
  readonly #faults: Faults = {
    delayMs: 0,
    stalled: new Set(),
    cut: undefined,
    isBlackhole: false,
    onBytes: undefined,
  };
  #server: Server | undefined;
  #accepted = 0;

  constructor(port: number, targetPort: number, host: string) {
    this.port = port;
    this.address = `127.0.0.1:${port}`;
    this.#target = { port: targetPort, host };
  }

  /** Connections that a client holds open now. */
  get connections(): number {
    return [...this.#links].filter((link) => link.isOpen).length;
  }

  /** Connections accepted since the start. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Sees every chunk that reaches the proxy, whether it is delivered or not. */
  set onBytes(hook: (direction: Direction, chunk: Buffer) => void) {
    this.#faults.onBytes = hook;
  }

  /** Resets every connection. New ones are welcome. */
  drop(): void {
    for (const link of this.#links) link.reset();
  }

  /** Resets every connection and refuses new ones (ECONNREFUSED) until {@link listen}. */
  async refuse(): Promise<void> {
    const stopped = this.#stopListening();
    this.drop();
    await stopped;
  }

  /**
   * Resets the clients' ends and refuses new connections; the servers' ends stay open and silent,
   * as behind a firewall of the client. {@link heal} and {@link listen} end it.
   */
  async sever(): Promise<void> {
    for (const link of this.#links) link.sever();
    await this.#stopListening();
  }

  /** Accepts connections again, on the same port. */
  async listen(): Promise<void> {
    if (this.#server) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) =>
      this.#accept(client),
    );
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, "127.0.0.1", resolve);
    });
  }

  /** Delivers every chunk from now on `ms` late, in order, in both directions; 0 ends it. */
  delay(ms: number): void {
    this.#faults.delayMs = ms;
  }

  /** Holds bytes back, and closes with them; connections stay open. */
  stall(direction: Direction | "both" = "both"): void {
    if (direction !== "to-client") this.#faults.stalled.add("to-server");
    if (direction !== "to-server") this.#faults.stalled.add("to-client");
  }

  /** Ends {@link stall}: what was held is delivered, then everything after it. */
  resume(): void {
    this.#faults.stalled.clear();
    for (const link of this.#links) link.flush();
  }

  /**
   * Swallows every byte for good: connections stay open and new ones are accepted, but nothing
   * comes through.
   */
  blackhole(): void {
    this.#faults.isBlackhole = true;
    for (const link of this.#links) link.swallow();
  }

  /** Lets half of the next frame through, then closes that connection. Happens once. */
  cutMidFrame(direction: Direction = "to-client"): void {
    this.#faults.cut = direction;
  }

  /**
   * Ends every fault but {@link refuse}: what was held is delivered, swallowed connections are
   * reset.
   */
  heal(): void {
    this.#faults.cut = undefined;
    this.#faults.isBlackhole = false;
    for (const link of this.#links) if (link.isSwallowed) link.reset();
    this.delay(0);
    this.resume();
  }

  /** Resets every connection and stops listening. */
  async close(): Promise<void> {
    await this.refuse();
  }

  /** Resolves when the last client is gone. */
  #stopListening(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    return new Promise((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  #accept(client: Socket): void {
    this.#accepted++;
    const isBlackhole = this.#faults.isBlackhole;
    const server = isBlackhole
      ? new Socket()
      : connect({ ...this.#target, allowHalfOpen: true, noDelay: true });
    const link = new Link(client, server, this.#faults);
    if (isBlackhole) link.swallow();
    this.#links.add(link);
    const forget = () => {
      if (client.closed && server.closed) this.#links.delete(link);
    };
    client.once("close", forget);
    server.once("close", forget);
  }
}

/** One client's connection and the one made for it. */
class Link {
  isSwallowed = false;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #faults: Faults;
  readonly #pipes: readonly Pipe[];

  constructor(client: Socket, server: Socket, faults: Faults) {
    this.#client = client;
    this.#server = server;
    this.#faults = faults;
    this.#pipes = [
      this.#join("to-server", client, server),
      this.#join("to-client", server, client),
    ];
  }

  get isOpen(): boolean {
    return !this.#client.readableEnded && !this.#client.destroyed;
  }

  flush(): void {
    for (const pipe of this.#pipes) pipe.flush();
  }

  swallow(): void {
    this.isSwallowed = true;
    for (const pipe of this.#pipes) pipe.clear();
  }

  reset(): void {
    this.swallow();
    for (const socket of [this.#client, this.#server]) resetSocket(socket);
  }

  /** Resets the client's end alone. */
  sever(): void {
    this.swallow();
    resetSocket(this.#client);
  }

  #join(direction: Direction, from: Socket, to: Socket): Pipe {
    const pipe = new Pipe(this.#faults, direction);
    // What is swallowed includes the end: the far side of a dead line hears nothing of it.
    const push = (deliver: () => void) => {
      if (!this.isSwallowed) pipe.push(deliver);
    };
    from.on("data", (chunk) => {
      this.#faults.onBytes?.(direction, chunk);
      if (this.isSwallowed || this.#faults.cut !== direction) return push(() => to.write(chunk));
      this.#faults.cut = undefined;
      push(() => {
        this.swallow();
        to.end(halfOfFirstFrame(chunk), () => this.#close());
      });
    });
    from.on("end", () => push(() => to.end()));
    from.on("error", () => {});
    from.on("close", (hadError) => push(() => (hadError ? this.reset() : to.end())));
    return pipe;
  }

  #close(): void {
    this.#client.destroy();
    this.#server.destroy();
  }
}

function resetSocket(socket: Socket): void {
  if (socket.connecting || socket.pending) socket.destroy();
  else if (!socket.destroyed) socket.resetAndDestroy();
}

/** One direction of one connection: first in, first out, when the faults allow it. */
class Pipe {
  readonly #faults: Faults;
  readonly #direction: Direction;
  readonly #queue: { readonly dueAt: number; readonly deliver: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(faults: Faults, direction: Direction) {
    this.#faults = faults;
    this.#direction = direction;
  }

  push(deliver: () => void): void {
    this.#queue.push({ dueAt: performance.now() + this.#faults.delayMs, deliver });
    this.flush();
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#queue.length = 0;
  }

  flush(): void {
    clearTimeout(this.#timer);
    while (!this.#faults.stalled.has(this.#direction)) {
      const head = this.#queue[0];
      if (head === undefined) return;
      const waitMs = head.dueAt - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.flush(), waitMs);
        return;
      }
      this.#queue.shift();
      head.deliver();
    }
  }
}

/**
 * A chunk of several frames cut in the middle might end where a frame does, which is no damage at
 * all.
 */
function halfOfFirstFrame(chunk: Buffer): Buffer {
  const frame = chunk.length < 4 ? 0 : 4 + chunk.readInt32BE(0);
  const cutLength = frame > 4 && frame <= chunk.length ? frame : chunk.length;
  return chunk.subarray(0, Math.floor(cutLength / 2));
}
