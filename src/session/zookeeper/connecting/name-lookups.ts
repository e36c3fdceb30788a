/** Asks name servers. What they answer is checked here, and never waited for without a limit. */
import { abortable } from "../../../async/abortable.ts";
import { limitWait } from "../../../async/limit-wait.ts";
import type { ServerAddress } from "../../options.ts";

interface Limits {
  readonly signal: AbortSignal;
  /** How long a name server may take. */
  readonly timeoutMs: number;
}

interface SrvRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** The addresses of a host, as the system knows them. */
export async function addressesOf(host: string, limits: Limits): Promise<string[]> {
  const { lookup } = await import("node:dns/promises");
  const found = await limited(lookup(host, { all: true }), limits);
  return found.map(({ address }) => address);
}

/**
 * The servers that the SRV records of a name list: those of the lowest priority first, and among
 * equals each more often in front the higher its weight is (RFC 2782). Rejects with ENODATA if no
 * record names a server.
 */
export async function serversOf(name: string, limits: Limits): Promise<ServerAddress[]> {
  // A method of the default export: an import by name would keep the name servers of the start,
  // where `dns.setServers` has set others.
  const { default: dns } = await import("node:dns/promises");
  const records = await limited(dns.resolveSrv(name), limits);
  const servers = ordered(records)
    // A record with the root as its host says that there is no such service.
    .map(({ name: host, port }) => ({ host: host.replace(/\.$/, ""), port }))
    .filter(({ host, port }) => host !== "" && port > 0);
  if (servers.length > 0) return servers;
  throw Object.assign(new Error("no SRV record names a server"), { code: "ENODATA" });
}

function ordered(records: readonly SrvRecord[]): SrvRecord[] {
  // The highest of `weight` random numbers is distributed like one to the power of 1 / weight.
  const drawn = records.map((record) => ({
    record,
    rank: Math.random() ** (1 / Math.max(record.weight, 0.01)),
  }));
  drawn.sort((a, b) => a.record.priority - b.record.priority || b.rank - a.rank);
  return drawn.map(({ record }) => record);
}

/**
 * Leaves nothing behind with the signal, which lives as long as the session: names are looked up
 * again and again.
 */
async function limited<T>(answer: Promise<T>, { signal, timeoutMs }: Limits): Promise<T> {
  const limit = limitWait(signal, timeoutMs, () =>
    Object.assign(new Error("the name server does not answer"), { code: "EAI_AGAIN" }),
  );
  try {
    return await abortable(answer, limit.signal);
  } finally {
    limit.end();
  }
}
