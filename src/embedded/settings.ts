/**
 * What a server is started with, complete and checked: a slip must not open it to the network, or
 * crash it later.
 */
import { UsageError } from "../errors.ts";

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
  /** The largest request, in bytes; who sends more is hung up on. As jute.maxbuffer. */
  readonly maxRequestBytes?: number | undefined;
  /**
   * How often empty containers and expired TTL znodes are looked for. As
   * znode.container.checkIntervalMs.
   */
  readonly containerCheckIntervalMs?: number | undefined;
}

export type Settings = {
  readonly [Key in keyof EmbeddedServerOptions]-?: NonNullable<EmbeddedServerOptions[Key]>;
};

/** What fits a timer, and an int on the wire. */
export const MAX_INT = 2 ** 31 - 1;
/** A handshake must get through. */
const MIN_REQUEST_BYTES = 256;

/** Undefined is as good as left out: options often come from an environment. Throws UsageError. */
export function settingsOf(options: EmbeddedServerOptions): Settings {
  const {
    port = 0,
    host = "127.0.0.1",
    socketPath = "",
    tickTimeMs = 2_000,
    enforceQuotas = false,
  } = options;
  const { maxRequestBytes = 0xf_ffff, containerCheckIntervalMs = 60_000 } = options;
  const { minSessionTimeoutMs = 2 * tickTimeMs, maxSessionTimeoutMs = 20 * tickTimeMs } = options;
  // Node would listen on every address there is.
  if (host === "")
    throw new UsageError("no host to listen on", { hint: "use 127.0.0.1 for this machine only" });
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
  };
}

function whole(name: string, value: number, from: number, to: number): void {
  if (Number.isInteger(value) && value >= from && value <= to) return;
  throw new UsageError(`bad ${name} ${value}`, {
    hint: `use a whole number from ${from} to ${Math.floor(to)}`,
  });
}
