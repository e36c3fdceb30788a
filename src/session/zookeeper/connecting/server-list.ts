import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { TlsProblem } from "../../../errors.ts";
import { formatAddress, isSocket } from "../../connect-string.ts";
import type { ServerAddress } from "../../options.ts";
import { type ConnectFailure, connectFailureOf, srvFailureOf } from "./connect-failures.ts";
import type { Endpoint } from "./link.ts";
import { addressesOf, serversOf } from "./name-lookups.ts";

const FIRST_BACKOFF_MS = 30;
const MAX_BACKOFF_MS = 1000;

export interface Search {
  readonly signal: AbortSignal;
  /** How long a name server may take. */
  readonly timeoutMs: number;
  /** Told of names that have no address. */
  readonly unresolved: (endpoint: Endpoint, why: ConnectFailure) => void;
}

/**
 * The servers of the connect string, in an order of this client's own so that many clients spread
 * over the ensemble. Round and round: every name is looked up anew in each round, SRV records
 * before it, and rounds without success are spaced out with jitter.
 */
export class ServerList {
  readonly #given: readonly ServerAddress[];
  /** Those of this round: SRV records may have changed since the last. */
  #servers: readonly ServerAddress[];
  readonly #failures = new Map<string, ConnectFailure>();
  /** What names stood for when a name server last answered: good enough while it does not. */
  readonly #lastKnown = new Map<string, readonly Endpoint[]>();
  #endpoints: Endpoint[] = [];
  /** How many addresses the name that is being tried has. */
  #width = 1;
  #position = 0;
  #vainRounds = 0;
  /** A server was left: SRV records are looked up again before the next one is tried. */
  #isOutdated = false;

  constructor(servers: readonly ServerAddress[]) {
    this.#given = shuffled(servers);
    this.#servers = this.#given;
  }

  /** How many addresses share the time there is for connecting. */
  get size(): number {
    return this.#servers.length - 1 + this.#width;
  }

  /**
   * The next address to try; waits between rounds, and tells of names without one. Rejects only
   * when the signal aborts.
   */
  async next(search: Search): Promise<Endpoint> {
    const { signal } = search;
    while (true) {
      const endpoint = this.#endpoints.shift();
      if (endpoint !== undefined) return endpoint;
      if (this.#position === this.#servers.length) {
        this.#position = 0;
        await this.#rest(signal);
      }
      if (this.#position === 0 || this.#isOutdated) await this.#lookUpServers(search);
      const server = this.#servers[this.#position++] as ServerAddress;
      this.#endpoints = await this.#resolve(server, search);
      this.#width = Math.max(1, this.#endpoints.length);
      signal.throwIfAborted();
    }
  }

  /** Every other server, for asking around while attached to a read-only one. */
  others(than: Endpoint): readonly ServerAddress[] {
    return this.#servers.filter((server) => formatAddress(server) !== than.address);
  }

  /** Tries `address` next. */
  prefer(address: string): void {
    const index = this.#servers.findIndex((server) => formatAddress(server) === address);
    this.#endpoints = [];
    if (index >= 0) this.#position = index;
    this.#vainRounds = 0;
  }

  failed(address: string, why: ConnectFailure): void {
    this.#failures.set(address, why);
  }

  /** The server that the session was attached to was left. */
  left(address: string, why: ConnectFailure): void {
    this.failed(address, why);
    if (this.#given[0]?.isSrvName !== true) return;
    this.#isOutdated = true;
    this.#endpoints = [];
  }

  /**
   * A connection has proved useful: the next failure starts without waiting. A bare handshake
   * proves nothing yet.
   */
  settled(): void {
    this.#failures.clear();
    this.#vainRounds = 0;
  }

  /** Every server has failed with all of its addresses, each for a reason of one of these kinds. */
  allFailed(kinds: readonly ConnectFailure["kind"][]): boolean {
    if (this.#endpoints.length > 0) return false;
    return this.#servers.every((server) => {
      const failure = this.#failures.get(formatAddress(server));
      return failure !== undefined && kinds.includes(failure.kind);
    });
  }

  /** `a:2181 (connection refused), b:2181 (no answer)` */
  summary(): string {
    const says = (server: ServerAddress) =>
      this.#failures.get(formatAddress(server))?.says ??
      (server.isSrvName ? "no answer from the DNS server" : "no answer");
    return this.#servers.map((server) => `${formatAddress(server)} (${says(server)})`).join(", ");
  }

  /** The first of the servers' problems with TLS. */
  get tlsProblem(): TlsProblem | undefined {
    const failures = this.#servers.map((server) => this.#failures.get(formatAddress(server)));
    return failures.find((failure) => failure?.tlsProblem)?.tlsProblem;
  }

  async #rest(signal: AbortSignal): Promise<void> {
    const longest = Math.min(FIRST_BACKOFF_MS * 2 ** this.#vainRounds++, MAX_BACKOFF_MS);
    await delay(longest * (0.5 + Math.random() / 2), undefined, { signal });
  }

  /** A new list begins with its first server; in the same one the next server is tried. */
  async #lookUpServers(search: Search): Promise<void> {
    this.#isOutdated = false;
    const found = await this.#serversOfRound(search);
    if (found === this.#servers) return;
    this.#servers = found;
    this.#position = 0;
  }

  /** Looks SRV records up. Without an answer the servers of the last round stay. */
  async #serversOfRound(search: Search): Promise<readonly ServerAddress[]> {
    const [name] = this.#given;
    if (name?.isSrvName !== true) return this.#servers;
    try {
      const found = await serversOf(name.host, search);
      const known = this.#servers.map(formatAddress);
      const isUnchanged =
        found.length === known.length && found.every((each) => known.includes(formatAddress(each)));
      // An unchanged list keeps its order, so that the position in it still means the same server.
      return isUnchanged ? this.#servers : found;
    } catch (error) {
      search.signal.throwIfAborted();
      if (this.#servers === this.#given)
        this.#unresolved(name, srvFailureOf(error as Error), search);
      return this.#servers;
    }
  }

  #unresolved(server: ServerAddress, why: ConnectFailure, { unresolved }: Search): void {
    const { host, port } = server;
    const address = formatAddress(server);
    this.failed(address, why);
    unresolved({ address, host, ip: host, port }, why);
  }

  async #resolve(server: ServerAddress, search: Search): Promise<Endpoint[]> {
    // Its records were not found, which has been told.
    if (server.isSrvName) return [];
    const address = formatAddress(server);
    const { host, port } = server;
    if (isIP(host) !== 0 || isSocket(server)) return [{ address, host, ip: host, port }];
    try {
      const found = await addressesOf(host, search);
      const endpoints = found.map((ip) => ({ address, host, ip, port }));
      this.#lastKnown.set(address, endpoints);
      return endpoints;
    } catch (error) {
      search.signal.throwIfAborted();
      const lastKnown = this.#lastKnown.get(address);
      if (lastKnown !== undefined) return [...lastKnown];
      this.#unresolved(server, connectFailureOf(error as Error), search);
      return [];
    }
  }
}

function shuffled<T>(items: readonly T[]): T[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}
