/** A ZooKeeper server in memory, for trying things out and for tests. Keeps nothing on disk. */

export interface EmbeddedServerOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number;
  readonly host?: string;
  /** The unit of session timeouts: 2 ticks at least, 20 at most. As zoo.cfg's tickTime. */
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
  /** Reads and answers nothing for a while. Sessions do not expire meanwhile: their clock stands still, too. */
  stall(ms: number): void;
}

export async function startEmbeddedServer(_options: EmbeddedServerOptions = {}): Promise<EmbeddedServer> {
  throw new Error("not there yet");
}
