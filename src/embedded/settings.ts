/**
 * Checks the options of a server and adds the defaults: a mistyped option must not open the server
 * to the network or crash it later.
 */
import { UsageError } from "../errors.ts";
import {
  type Dialect,
  KEEPER_TIMEOUTS,
  type KeeperOptions,
  keeperDialect,
  ZOOKEEPER,
} from "./dialect.ts";

/** How the server in memory listens, and which settings of zoo.cfg it plays. */
export interface EmbeddedServerOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number | undefined;
  /** The address to listen on; 127.0.0.1 unless told otherwise. */
  readonly host?: string | undefined;
  /**
   * A socket in the file system to listen on, instead of an address and port. Only users who may
   * enter its directory can connect: the server itself asks for no password.
   */
  readonly socketPath?: string | undefined;
  /**
   * The unit of session timeouts, 2000 ms unless told otherwise: 2 ticks at least, 20 at most. As
   * zoo.cfg's tickTime.
   */
  readonly tickTimeMs?: number | undefined;
  readonly minSessionTimeoutMs?: number | undefined;
  readonly maxSessionTimeoutMs?: number | undefined;
  /** Refuse writes beyond the hard limits of a quota (QuotaExceeded). As zookeeper.enforceQuota. */
  readonly enforceQuotas?: boolean | undefined;
  /**
   * The largest request in bytes; the server closes a connection that sends a longer one. As
   * jute.maxbuffer.
   */
  readonly maxRequestBytes?: number | undefined;
  /**
   * How often empty containers and expired TTL znodes are deleted. As
   * znode.container.checkIntervalMs.
   */
  readonly containerCheckIntervalMs?: number | undefined;
  /**
   * Users and passwords for SASL DIGEST-MD5, as user_NAME="PASSWORD" of a JAAS file. Left out: the
   * server does not do SASL.
   */
  readonly saslUsers?: ReadonlyMap<string, string> | undefined;
  /** Which server it plays: Apache ZooKeeper, unless it is told to be ClickHouse Keeper. */
  readonly dialect?: "zookeeper" | "keeper" | undefined;
  /** What a ClickHouse Keeper is like; nothing without `dialect: "keeper"`. */
  readonly keeper?: KeeperOptions | undefined;
  /** Refuse clients that have not logged in by SASL. As zookeeper.sessionRequireClientSASLAuth. */
  readonly requireSasl?: boolean | undefined;
}

type Numbers = Omit<EmbeddedServerOptions, "dialect" | "keeper">;

export type Settings = {
  readonly [Key in keyof Numbers]-?: NonNullable<Numbers[Key]>;
} & { readonly dialect: Dialect };

/** The largest delay of a timer, and the largest int of the protocol. */
export const MAX_INT = 2 ** 31 - 1;
/** The limit must not refuse a handshake. */
const MIN_REQUEST_BYTES = 256;

/**
 * An undefined option has its default: options often come from the environment. Throws UsageError.
 */
export function settingsOf(options: EmbeddedServerOptions): Settings {
  const {
    port = 0,
    host = "127.0.0.1",
    socketPath = "",
    tickTimeMs = 2_000,
    enforceQuotas = false,
  } = options;
  const { maxRequestBytes = 0xf_ffff, containerCheckIntervalMs = 60_000 } = options;
  const { saslUsers = new Map<string, string>(), requireSasl = false } = options;
  const isKeeper = options.dialect === "keeper";
  const limits = isKeeper
    ? KEEPER_TIMEOUTS
    : { minSessionTimeoutMs: 2 * tickTimeMs, maxSessionTimeoutMs: 20 * tickTimeMs };
  const { minSessionTimeoutMs = limits.minSessionTimeoutMs } = options;
  const {
    maxSessionTimeoutMs = Math.max(limits.maxSessionTimeoutMs, isKeeper ? minSessionTimeoutMs : 0),
  } = options;
  // With an empty host Node would listen on all addresses.
  if (host === "")
    throw new UsageError("no host to listen on", { hint: "use 127.0.0.1 for this machine only" });
  if (requireSasl && saslUsers.size === 0)
    throw new UsageError("requireSasl needs saslUsers: without them no client can log in");
  whole("port", port, 0, 0xffff);
  whole("tickTimeMs", tickTimeMs, 1, MAX_INT / 20);
  whole("minSessionTimeoutMs", minSessionTimeoutMs, 1, MAX_INT);
  whole("maxSessionTimeoutMs", maxSessionTimeoutMs, minSessionTimeoutMs, MAX_INT);
  whole("maxRequestBytes", maxRequestBytes, MIN_REQUEST_BYTES, MAX_INT);
  whole("containerCheckIntervalMs", containerCheckIntervalMs, 1, MAX_INT);
  return {
    port,
    host,
    socketPath,
    tickTimeMs,
    enforceQuotas,
    maxRequestBytes,
    containerCheckIntervalMs,
    minSessionTimeoutMs,
    maxSessionTimeoutMs,
    saslUsers,
    requireSasl,
    dialect: isKeeper ? keeperDialect(options.keeper ?? {}) : ZOOKEEPER,
  };
}

function whole(name: string, value: number, from: number, to: number): void {
  if (Number.isInteger(value) && value >= from && value <= to) return;
  throw new UsageError(`bad ${name} ${value}`, {
    hint: `use a whole number from ${from} to ${Math.floor(to)}`,
  });
}
