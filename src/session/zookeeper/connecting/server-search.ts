import { PermissionError, type TlsProblem } from "../../../errors.ts";
import type { FrameReader } from "../../../wire/frames.ts";
import { MalformedFrameError } from "../../../wire/jute.ts";
import type { ConnectResponse } from "../../../wire/records.ts";
import type { SessionOptions } from "../../options.ts";
import { MAX_SASL_BYTES, type SaslLogin } from "../sasl/sasl-login.ts";
import { SaslLogins } from "../sasl/sasl-logins.ts";
import type { SessionParts } from "../session-parts.ts";
import {
  type ConnectFailure,
  connectFailureOf,
  keeperPasswordRefused,
  noAnswer,
} from "./connect-failures.ts";
import { ConnectTimeout } from "./connect-timeout.ts";
import { findReadWriteServer } from "./find-read-write-server.ts";
import { closeSessionOn, type Handshake } from "./handshake.ts";
import { type Endpoint, Link, loadTls, type Tls } from "./link.ts";
import { ServerList } from "./server-list.ts";
import type { ServerReleases } from "./server-releases.ts";

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

/** A connection on which a server has answered the handshake. */
export interface Attached {
  readonly link: Link;
  /** May hold more frames behind the handshake's. */
  readonly frames: FrameReader;
  readonly response: ConnectResponse;
  /** Its last message is to be sent, in front of everything else; undefined without SASL. */
  readonly login: SaslLogin | undefined;
}

export interface ServerSearchEvents {
  attached(attached: Attached): void;
  /** An attempt has failed, and the requests sent with its handshake; the search goes on. */
  attemptFailed(): void;
  /** The session could not log in, and must not go on: the search is over. */
  loginFailed(error: unknown): void;
  /** There was no server in the time for finding the first one: the search is over. */
  unreachable(message: string, tlsProblem: TlsProblem | undefined): void;
  /**
   * The server attached to is read-only, and the one at `address`, which will be tried next, is
   * not.
   */
  foundReadWrite(address: string): void;
}

/**
 * Finds a server for the session: the first, another when one was left, and one that can write
 * while on a read-only one. Tries the addresses of the list one after the other until one answers
 * the handshake.
 */
export class ServerSearch {
  readonly #options: SessionOptions;
  readonly #releases: ServerReleases;
  readonly #handshake: Handshake;
  readonly #events: ServerSearchEvents;
  readonly #servers: ServerList;
  readonly #connectTimeout: ConnectTimeout;
  readonly #logins: SaslLogins | undefined;
  /** Ends the wait for the next address for good. */
  readonly #stopping = new AbortController();
  #isStopped = false;
  #isSearching = false;
  /** The connection that is tried, until a server has answered the handshake on it. */
  #link: Link | undefined;
  #attemptTimer: NodeJS.Timeout | undefined;
  #readWriteSearch: AbortController | undefined;
  /** The connection has answered something after its handshake. */
  #isProved = false;

  constructor(
    { options, clock, releases }: Pick<SessionParts, "options" | "clock" | "releases">,
    handshake: Handshake,
    events: ServerSearchEvents,
  ) {
    this.#options = options;
    this.#releases = releases;
    this.#handshake = handshake;
    this.#events = events;
    this.#servers = new ServerList(options.servers);
    this.#logins = options.sasl && new SaslLogins(options.sasl);
    this.#connectTimeout = new ConnectTimeout(options, this.#servers, clock, (...why) => {
      const slowLogin = this.#logins?.tooSlow(this.#connectTimeout.limitMs);
      if (slowLogin) events.loginFailed(slowLogin);
      else events.unreachable(...why);
    });
  }

  /**
   * Goes on until a server is attached to; without a session to keep, only as long as the options
   * allow.
   */
  start(): void {
    if (!this.#handshake.hasMetServer) this.#connectTimeout.start();
    this.#tryNext();
  }

  /** The server attached to was left. */
  left(endpoint: Endpoint, why: ConnectFailure): void {
    this.#readWriteSearch?.abort();
    this.#servers.left(endpoint.address, why);
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
   * The connection has answered a request, so the server works: after this connection the next one
   * is made without a back-off.
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
    this.#isStopped = true;
    this.#logins?.end();
    if (this.#isSearching) this.#stopping.abort();
    clearTimeout(this.#attemptTimer);
    this.#link?.destroy();
    this.#link = undefined;
  }

  /** Tries the next address, unless one is being tried already. */
  #tryNext(): void {
    if (this.#isSearching || this.#isStopped) return;
    this.#isSearching = true;
    const search = {
      signal: this.#stopping.signal,
      timeoutMs: this.#attemptMs(),
      unresolved: (endpoint: Endpoint, why: ConnectFailure) => this.#attemptFailed(endpoint, why),
    };
    Promise.all([this.#servers.next(search), loadTls(this.#options.tls)]).then(
      ([endpoint, tls]) => this.#begin(endpoint, tls),
      () => {
        // Only stop() makes the search fail, and its caller needs no error.
        this.#isSearching = false;
      },
    );
  }

  /**
   * The first message of a login leaves with the handshake: it is made before, so that the time
   * that a KDC takes counts against the session.
   */
  #begin(endpoint: Endpoint, tls: Tls | undefined): void {
    if (this.#logins === undefined) return this.#attempt(endpoint, tls, undefined);
    this.#logins.begin(endpoint).then(
      (login) => this.#attempt(endpoint, tls, login),
      (error: unknown) => this.#isStopped || this.#beginFailed(endpoint, error),
    );
  }

  /** A session that exists already can wait for a KDC, as it does for a server. */
  #beginFailed(endpoint: Endpoint, error: unknown): void {
    const isPassing = error instanceof PermissionError && error.reason === "sasl-kdc-unreachable";
    if (!isPassing || !this.#handshake.hasMetServer) return this.#events.loginFailed(error);
    this.#isSearching = false;
    this.#attemptFailed(endpoint, { says: error.message, kind: "transient" });
  }

  #attempt(endpoint: Endpoint, tls: Tls | undefined, login: SaslLogin | undefined): void {
    if (this.#isStopped) return;
    const fail = (failure: ConnectFailure) => {
      login?.giveUp();
      const why = this.#withPassword(failure);
      this.#link?.destroy();
      this.#attemptEnded();
      this.#servers.failed(endpoint.address, why);
      this.#attemptFailed(endpoint, why);
    };
    const firstFlight = () => this.#handshake.firstFlight(endpoint, login);
    const link = new Link(endpoint, tls, firstFlight, {
      accepted: (response, frames) => {
        const accepted = { link, frames, response, login };
        if (login !== undefined && !this.#handshake.isOver(response))
          return this.#logIn(login, accepted, fail);
        this.#attemptEnded();
        this.#attached(accepted);
      },
      failed: fail,
    });
    this.#link = link;
    this.#attemptTimer = setTimeout(() => fail(noAnswer()), this.#attemptMs());
  }

  /** The server has accepted the connection: goes on until the last message of the login is due. */
  #logIn(login: SaslLogin, accepted: Attached, fail: (why: ConnectFailure) => void): void {
    const { link, frames } = accepted;
    frames.maxLength = MAX_SASL_BYTES;
    const goOn = async () => {
      try {
        const isReady = await login.answerChallenges(frames, (message) => link.write(message));
        if (!isReady || this.#link !== link) return;
        this.#attemptEnded();
        this.#attached(accepted);
      } catch (error) {
        if (this.#link !== link) return;
        if (error instanceof MalformedFrameError)
          return fail({
            says: `malformed answer to the login: ${error.message}`,
            kind: "transient",
          });
        this.#attemptEnded();
        closeSessionOn(link);
        this.#events.loginFailed(error);
      }
    };
    link.listen({
      data: (chunk) => {
        frames.push(chunk);
        void goOn();
      },
      drain: () => {},
      closed: (error) => fail(connectFailureOf(error)),
    });
    void goOn();
  }

  #attemptEnded(): void {
    clearTimeout(this.#attemptTimer);
    this.#link = undefined;
    this.#isSearching = false;
  }

  /** How long one address may take for TCP, TLS and handshake together. */
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
    this.#logins?.end();
    this.#isProved = false;
    this.#events.attached(attached);
  }

  #attemptFailed(endpoint: Endpoint, why: ConnectFailure): void {
    this.#options.trace?.(`${endpoint.address} (${endpoint.ip}): ${why.says}`);
    if (why.isHangUp === true) void this.#blamePassword(endpoint);
    this.#events.attemptFailed();
    if (!this.#handshake.hasMetServer && this.#connectTimeout.tried()) return;
    this.#tryNext();
  }

  /** A ClickHouse Keeper that does not answer `srvr` either cannot be told from other servers. */
  #withPassword(why: ConnectFailure): ConnectFailure {
    if (why.isHangUp !== true || this.#options.keeperPassword === undefined) return why;
    return { ...why, says: `${why.says}, or not accept the Keeper password` };
  }

  /**
   * ClickHouse Keeper hangs up on a handshake without its password, Apache ZooKeeper while it has no
   * quorum: the four-letter word tells which it is, and the search need not go on in vain.
   */
  async #blamePassword(endpoint: Endpoint): Promise<void> {
    if (this.#handshake.hasMetServer) return;
    const release = await this.#releases.say(endpoint);
    if (release?.product !== "ClickHouse Keeper") return;
    if (this.#isStopped || this.#handshake.hasMetServer) return;
    this.#events.loginFailed(
      keeperPasswordRefused(endpoint.address, this.#options.keeperPassword !== undefined),
    );
  }
}
