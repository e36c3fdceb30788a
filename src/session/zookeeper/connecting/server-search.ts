import type { SessionOptions } from "../../options.ts";
import type { Clock } from "../lifetime/clock.ts";
import type { ConnectFailure } from "./connect-failures.ts";
import { ConnectTimeout } from "./connect-timeout.ts";
import { type Attached, Connector } from "./connector.ts";
import { findReadWriteServer } from "./find-read-write-server.ts";
import type { Handshake } from "./handshake.ts";
import type { Endpoint } from "./link.ts";
import { ServerList } from "./server-list.ts";

/** The least one address gets for TCP and handshake, however many share the time. */
const MIN_ATTEMPT_MS = 250;
/** The most: one that says nothing must not be the only one that is tried. */
const MAX_ATTEMPT_MS = 60_000;
/**
 * How many handshakes a session lives to see, at the least. A server that is just starting may take
 * a connection and never answer: with one server and all of the time for it, that would be the end
 * of the session.
 */
const MIN_REATTEMPTS = 4;

export interface ServerSearchEvents {
  /** A server has accepted the connection; the handshake is about to leave. */
  greeting(endpoint: Endpoint): void;
  attached(attached: Attached): void;
  /** An attempt has failed, and the requests sent with its handshake; the search goes on. */
  attemptFailed(): void;
  /** There was no server in the time for finding the first one: the search is over. */
  unreachable(message: string): void;
  /**
   * The server attached to is read-only, and the one at `address`, which will be tried next, is
   * not.
   */
  foundReadWrite(address: string): void;
}

/**
 * Finds a server for the session: the first, another when one was left, and one that can write
 * while on a read-only one.
 */
export class ServerSearch {
  readonly #options: SessionOptions;
  readonly #handshake: Handshake;
  readonly #events: ServerSearchEvents;
  readonly #servers: ServerList;
  readonly #connectTimeout: ConnectTimeout;
  readonly #connector: Connector;
  #readWriteSearch: AbortController | undefined;
  /** The connection has answered something after its handshake. */
  #isProved = false;

  constructor(
    options: SessionOptions,
    handshake: Handshake,
    clock: Clock,
    events: ServerSearchEvents,
  ) {
    this.#options = options;
    this.#handshake = handshake;
    this.#events = events;
    this.#servers = new ServerList(options.servers);
    this.#connectTimeout = new ConnectTimeout(options, this.#servers, clock, (message) =>
      events.unreachable(message),
    );
    this.#connector = new Connector(this.#servers, options.tls, handshake, clock, {
      attemptMs: () => this.#attemptMs(),
      greeting: (endpoint) => events.greeting(endpoint),
      attached: (attached) => this.#attached(attached),
      failed: (endpoint, why) => this.#attemptFailed(endpoint, why),
    });
  }

  /**
   * Goes on until a server is attached to; without a session to keep, only as long as the options
   * allow.
   */
  start(): void {
    if (!this.#handshake.hasMetServer) this.#connectTimeout.start();
    this.#connector.search();
  }

  /** The server attached to was left. */
  left(endpoint: Endpoint, why: ConnectFailure): void {
    this.#readWriteSearch?.abort();
    this.#servers.failed(endpoint.address, why);
  }

  /**
   * Asks the others, while attached to a read-only server, until one can write or this one is left.
   */
  lookForReadWrite(readOnly: Endpoint): void {
    this.#readWriteSearch = new AbortController();
    const { signal } = this.#readWriteSearch;
    void findReadWriteServer(this.#servers.others(readOnly), this.#options.tls, signal).then(
      (address) => {
        if (address === undefined || signal.aborted) return;
        this.#servers.prefer(address);
        this.#events.foundReadWrite(address);
      },
    );
  }

  /**
   * A connection that has answered something was worth having: the next one is looked for without
   * delay.
   */
  proved(): void {
    if (this.#isProved) return;
    this.#isProved = true;
    this.#servers.settled();
  }

  /** For good. */
  stop(): void {
    this.#readWriteSearch?.abort();
    this.#connectTimeout.stop();
    this.#connector.stop();
  }

  #attemptMs(): number {
    const { size } = this.#servers;
    const { grantedTimeoutMs } = this.#handshake;
    const share =
      grantedTimeoutMs === undefined
        ? this.#connectTimeout.limitMs / size
        : grantedTimeoutMs / Math.max(size, MIN_REATTEMPTS);
    return Math.min(Math.max(MIN_ATTEMPT_MS, share), MAX_ATTEMPT_MS);
  }

  #attached(attached: Attached): void {
    this.#connectTimeout.stop();
    this.#isProved = false;
    this.#events.attached(attached);
  }

  #attemptFailed(endpoint: Endpoint, why: ConnectFailure): void {
    this.#options.trace?.(`${endpoint.address} (${endpoint.ip}): ${why.says}`);
    this.#events.attemptFailed();
    if (!this.#handshake.hasMetServer && this.#connectTimeout.tried()) return;
    this.#connector.search();
  }
}
