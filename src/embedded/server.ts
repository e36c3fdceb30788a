/** A ZooKeeper server in memory, for trying things out and for tests. Keeps nothing on disk. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { Connection, type Host } from "./connection.ts";
import { answerWord } from "./four-letter-words.ts";
import { Keeper } from "./keeper.ts";
import { Traffic } from "./traffic.ts";

export interface EmbeddedServerOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number;
  /** The address to listen on; 127.0.0.1 unless told otherwise. */
  readonly host?: string;
  /** The unit of session timeouts, 2000 ms unless told otherwise: 2 ticks at least, 20 at most. As zoo.cfg's tickTime. */
  readonly tickTimeMs?: number;
  readonly minSessionTimeoutMs?: number;
  readonly maxSessionTimeoutMs?: number;
  /** Refuse writes beyond the hard limits of a quota (QuotaExceeded). As zookeeper.enforceQuota. */
  readonly enforceQuotas?: boolean;
  /** The largest request, in bytes; who sends more is hung up on. As jute.maxbuffer. */
  readonly maxRequestBytes?: number;
  /** How often empty containers and expired TTL znodes are looked for. As znode.container.checkIntervalMs. */
  readonly containerCheckIntervalMs?: number;
}

export interface EmbeddedServer {
  readonly host: string;
  readonly port: number;
  /** As a connect string: `127.0.0.1:PORT`. */
  readonly address: string;
  /** Hangs up on everybody and forgets everything. */
  stop(): Promise<void>;
  /** Ends a session now, as if its timeout had passed. False when there is none of that id. */
  expireSession(id: bigint): boolean;
  /** Hangs up on every client; their sessions live on. */
  dropConnections(): void;
  /** Reads, answers and expires nothing for a while. */
  stall(ms: number): void;
}

const DEFAULTS = {
  port: 0,
  host: "127.0.0.1",
  tickTimeMs: 2_000,
  enforceQuotas: false,
  maxRequestBytes: 0xf_ffff,
  containerCheckIntervalMs: 60_000,
};

/** Starts a server; resolves when it accepts connections. It lives until it is stopped. */
export async function startEmbeddedServer(options: EmbeddedServerOptions = {}): Promise<EmbeddedServer> {
  const settings = { ...DEFAULTS, ...options };
  const server = new MemoryServer(settings);
  await server.listen(settings.port, settings.host);
  return server;
}

class MemoryServer implements EmbeddedServer, Host {
  readonly keeper: Keeper;
  readonly traffic = new Traffic();
  readonly connections = new Set<Connection>();
  readonly maxRequestBytes: number;
  readonly startedAt = performance.now();
  readonly #server: Server;
  readonly #reaper: NodeJS.Timeout;
  /** Remembered, so that it can still be told when the server has stopped. */
  #listening: AddressInfo = { address: "", family: "", port: 0 };
  #expirer: NodeJS.Timeout | undefined;
  #stall: { readonly until: number; readonly timer: NodeJS.Timeout } | undefined;

  constructor(settings: typeof DEFAULTS & EmbeddedServerOptions) {
    const { tickTimeMs, enforceQuotas, maxRequestBytes, containerCheckIntervalMs } = settings;
    const { minSessionTimeoutMs = 2 * tickTimeMs, maxSessionTimeoutMs = 20 * tickTimeMs } = settings;
    const now = () => performance.now();
    this.keeper = new Keeper({ tickTimeMs, minSessionTimeoutMs, maxSessionTimeoutMs, enforceQuotas, now });
    this.maxRequestBytes = maxRequestBytes;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    this.#reaper = setInterval(() => this.isStalled || this.keeper.reap(), containerCheckIntervalMs).unref();
    this.#expireLater();
  }

  async listen(port: number, host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => {
        this.#server.off("error", reject);
        this.#listening = this.#server.address() as AddressInfo;
        resolve();
      });
    }).catch((error: unknown) => {
      this.#stopClocks();
      throw error;
    });
  }

  get host(): string {
    return this.#listening.address;
  }

  get port(): number {
    return this.#listening.port;
  }

  get address(): string {
    const { address, family, port } = this.#listening;
    return family === "IPv6" ? `[${address}]:${port}` : `${address}:${port}`;
  }

  get isStalled(): boolean {
    return this.#stall !== undefined;
  }

  answerWord(word: string): string | undefined {
    return answerWord(word, this);
  }

  forget(connection: Connection): void {
    this.connections.delete(connection);
  }

  async stop(): Promise<void> {
    this.#stopClocks();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.dropConnections();
    await closed;
  }

  expireSession(id: bigint): boolean {
    const session = this.keeper.sessions.find(id);
    if (session === undefined) return false;
    this.keeper.endSession(session);
    session.connection?.destroy();
    return true;
  }

  dropConnections(): void {
    for (const connection of [...this.connections]) connection.destroy();
  }

  stall(ms: number): void {
    const until = Math.max(performance.now() + ms, this.#stall?.until ?? 0);
    clearTimeout(this.#stall?.timer);
    this.#stall = { until, timer: setTimeout(() => this.#goOn(), until - performance.now()) };
    for (const connection of this.connections) connection.pause();
  }

  #goOn(): void {
    this.#stall = undefined;
    for (const connection of [...this.connections]) connection.resume();
  }

  #accept(socket: Socket): void {
    this.connections.add(new Connection(this, socket));
  }

  #expireLater(): void {
    // What clients have sent while the process was busy is read first: they must not pay for our being late.
    const expire = () => this.isStalled || this.keeper.expireSessions();
    this.#expirer = setTimeout(() => {
      setImmediate(expire);
      this.#expireLater();
    }, this.keeper.sessions.msToNextExpiry() + 1).unref();
  }

  #stopClocks(): void {
    clearInterval(this.#reaper);
    clearTimeout(this.#expirer);
    clearTimeout(this.#stall?.timer);
  }
}
