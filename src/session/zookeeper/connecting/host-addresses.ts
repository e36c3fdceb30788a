import { isIP } from "node:net";
import { isSocket } from "../../connect-string.ts";
import type { HostAddresses } from "../../four-letter-word.ts";
import { connectFailureOf } from "./connect-failures.ts";
import { addressesOf } from "./name-lookups.ts";

/** The addresses of a host; rejects only when the signal aborts. */
export async function hostAddresses(
  host: string,
  limits: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<HostAddresses> {
  limits.signal.throwIfAborted();
  if (isIP(host) !== 0 || isSocket({ host })) return { kind: "found", ips: [host] };
  try {
    return { kind: "found", ips: await addressesOf(host, limits) };
  } catch (error) {
    limits.signal.throwIfAborted();
    return { kind: "failed", says: connectFailureOf(error as Error).says };
  }
}
