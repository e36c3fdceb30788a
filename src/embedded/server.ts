/** A ZooKeeper server in memory, for experiments and tests. It stores nothing on disk. */
import {
  type AddressInfo,
  createServer,
  type ListenOptions,
  type Server,
  type Socket,
} from "node:net";
import { UsageError } from "../errors.ts";
import type { SaslUsers } from "./authentication.ts";
import { Connection, type Host } from "./connection.ts";
import { answerWord } from "./four-letter-words.ts";
import { ServerState } from "./server-state.ts";
import { type EmbeddedServerOptions, MAX_INT, type Settings, settingsOf } from "./settings.ts";
import { TrafficCounters } from "./traffic-counters.ts";

/** A server in memory that is running; made by {@link startEmbeddedServer}. */
export interface EmbeddedServer {
  readonly host: string;
  readonly port: number;
  /** The connect string: `127.0.0.1:PORT` or `unix:PATH`. */
  readonly address: string;
  /** Closes every connection and forgets all data. */
  stop(): Promise<void>;
  /** Expires a session now. Returns false if no session has this id. */
  expireSession(id: bigint): boolean;
  /** Closes every connection; the sessions continue. */
  dropConnections(): void;
  /** Reads, answers and expires nothing for `ms` milliseconds. */
  stall(ms: number): void;
}

const SOCKET = "unix";

/** How often a stalled server checks whether it may expire sessions again. */
const STALL_POLL_MS = 20;

/**
 * Starts a server; resolves when it accepts connections. It lives until it is stopped.
 *
 * @example
 * ```ts
 * const server = await startEmbeddedServer();
 * const session = openSession(parseConnectString(server.address));
 * await session.close();
 * await server.stop();
 * ```
 */
export async function startEmbeddedServer(
  options: EmbeddedServerOptions = {},
): Promise<EmbeddedServer> {
  const settings = settingsOf(options);
  const server = new MemoryServer(settings);
  const { socketPath, port, host } = settings;
  await server.listen(socketPath === "" ? { port, host } : { path: socketPath });
  return server;
}

class MemoryServer implements EmbeddedServer, Host {
  readonly keeper: ServerState;
  readonly traffic = new TrafficCounters();
  readonly connections = new Set<Connection>();
  readonly maxRequestBytes: number;
  readonly saslUsers: SaslUsers;
  readonly requiresSasl: boolean;
  readonly startedAt = performance.now();
  readonly #server: Server;
  readonly #reaper: NodeJS.Timeout;
  /** Stored so that `address` is known after the server has stopped. */
  #listening: AddressInfo = { address: "", family: "", port: 0 };
  #expirer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #stall: { readonly until: number; readonly timer: NodeJS.Timeout } | undefined;

  constructor(settings: Settings) {
    const { maxRequestBytes, containerCheckIntervalMs, saslUsers, requireSasl } = settings;
    const { tickTimeMs, minSessionTimeoutMs, maxSessionTimeoutMs, enforceQuotas } = settings;
    const { dialect } = settings;
    const now = () => performance.now();
    this.keeper = new ServerState({
      tickTimeMs,
      minSessionTimeoutMs,
      maxSessionTimeoutMs,
      enforceQuotas,
      doesSasl: saslUsers.size > 0,
      now,
      dialect,
    });
    this.maxRequestBytes = maxRequestBytes;
    this.saslUsers = saslUsers;
    this.requiresSasl = requireSasl;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    this.#reaper = setInterval(
      () => this.isStalled || this.keeper.reap(),
      containerCheckIntervalMs,
    ).unref();
    this.#expireLater();
  }

  async listen(where: ListenOptions): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(where, () => {
        this.#server.off("error", reject);
        const at = this.#server.address();
        this.#listening =
          typeof at === "string"
            ? { address: at, family: SOCKET, port: 0 }
            : (at ?? this.#listening);
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
    if (family === SOCKET) return `${SOCKET}:${address}`;
    return family === "IPv6" ? `[${address}]:${port}` : `${address}:${port}`;
  }

  get isStalled(): boolean {
    return this.#stall !== undefined;
  }

  answerWord(word: string): ReturnType<Host["answerWord"]> {
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
    if (!(ms >= 0)) throw new UsageError(`cannot stall for ${ms} ms`);
    if (this.#isStopped) return;
    this.#stallUntil(Math.max(performance.now() + ms, this.#stall?.until ?? 0));
    for (const connection of this.connections) connection.pause();
  }

  #stallUntil(until: number): void {
    clearTimeout(this.#stall?.timer);
    // A delay that is too long for one timer is split.
    const ms = Math.min(until - performance.now(), MAX_INT);
    this.#stall = { until, timer: setTimeout(() => this.#goOn(until), ms) };
  }

  #goOn(until: number): void {
    if (until > performance.now() + 1) return this.#stallUntil(until);
    this.#stall = undefined;
    for (const connection of [...this.connections]) connection.resume();
  }

  #accept(socket: Socket): void {
    this.connections.add(new Connection(this, socket));
  }

  #expireLater(): void {
    // Requests that arrived while the process was busy are read first: a busy server must not
    // expire the sessions of their clients.
    const expire = () => this.isStalled || this.keeper.expireSessions();
    const ms = this.isStalled ? STALL_POLL_MS : this.keeper.sessions.msToNextExpiry() + 1;
    this.#expirer = setTimeout(() => {
      setImmediate(expire);
      this.#expireLater();
    }, ms).unref();
  }

  #stopClocks(): void {
    this.#isStopped = true;
    clearInterval(this.#reaper);
    clearTimeout(this.#expirer);
    clearTimeout(this.#stall?.timer);
  }
}
