import type { TlsProblem } from "../../../errors.ts";
import { formatDuration } from "../../../text/duration.ts";
import { hexId } from "../../../text/hex-id.ts";
import { ErrorCode, Opcode } from "../../../wire/protocol.ts";
import type { SessionState } from "../../session.ts";
import { type ConnectFailure, connectFailureOf } from "../connecting/connect-failures.ts";
import {
  closeSessionOn,
  DEFAULT_TIMEOUT_MS,
  Handshake,
  NO_SESSION,
} from "../connecting/handshake.ts";
import type { Endpoint } from "../connecting/link.ts";
import {
  type Attached,
  ServerSearch,
  type ServerSearchEvents,
} from "../connecting/server-search.ts";
import { ReplyHandler, type ReplyOutcomes } from "../requests/reply-handler.ts";
import { ReplyReader } from "../requests/reply-reader.ts";
import { Request } from "../requests/request.ts";
import { failLater } from "../requests/request-queue.ts";
import type { SessionParts } from "../session-parts.ts";
import { Heartbeat, type HeartbeatEvents } from "./heartbeat.ts";
import { closed, expired, type Loss, loginFailed, unreachable } from "./loss.ts";

/**
 * How long closeSession may take. It has been sent by then, or there is no server to read it and
 * the session is left to expire.
 */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * The life of a session: it attaches to a server, is suspended when the connection breaks, attaches
 * to the next, and ends once, for one reason. What its parts find out (a reply, a silent server, a
 * found server) arrives in the methods of the three interfaces.
 */
export class SessionLife implements ServerSearchEvents, HeartbeatEvents, ReplyOutcomes {
  readonly #parts: SessionParts;
  readonly #handshake: Handshake;
  readonly #replies: ReplyReader;
  readonly #heartbeat: Heartbeat;
  readonly #search: ServerSearch;
  #closeTimer: NodeJS.Timeout | undefined;
  #lost: Loss | undefined;
  /** The rest of {@link attached}, while the login that requests have followed is not answered. */
  #whenLoggedIn: (() => void) | undefined;

  /** Starts looking for a server at once. */
  constructor(parts: SessionParts) {
    const { liveness } = parts;
    this.#parts = parts;
    this.#handshake = new Handshake(parts, this);
    this.#replies = new ReplyReader(new ReplyHandler(parts, this));
    this.#heartbeat = new Heartbeat(liveness, this);
    this.#search = new ServerSearch(parts, this.#handshake, this);
    this.#search.start();
    parts.state.connecting();
  }

  get id(): bigint {
    return this.#handshake.sessionId;
  }

  /** The lowest that any server has granted; before the first, the requested timeout. */
  get timeoutMs(): number {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#parts.options;
    return this.#handshake.grantedTimeoutMs ?? timeoutMs;
  }

  get state(): SessionState {
    return this.#parts.state.sessionState;
  }

  get isReadOnly(): boolean {
    return this.#parts.state.isReadOnly;
  }

  /** The server attached to is ClickHouse Keeper. */
  get isKeeper(): boolean {
    return this.#handshake.isKeeper;
  }

  get lastZxid(): bigint {
    return this.#replies.lastZxid;
  }

  /** The server attached to. */
  get endpoint(): Endpoint | undefined {
    return this.#parts.writer.link?.endpoint;
  }

  get isClosing(): boolean {
    return this.#parts.state.isClosing;
  }

  get lost(): Loss | undefined {
    return this.#lost;
  }

  /** The oldest request or credential that the server has not answered. */
  get oldestSentAt(): number | undefined {
    const { requests, credentials } = this.#parts;
    return earliest(requests.sent.oldestSentAt, credentials.oldestSentAt);
  }

  /** Settles when a server has accepted the session; rejects when the session ends first. */
  whenConnected(): Promise<void> {
    return new Promise((resolve, reject) => {
      let stop = () => {};
      const look = () => {
        if (this.state === "suspended") return;
        stop();
        if (this.lost === undefined) resolve();
        else reject(this.lost.error);
      };
      stop = this.#parts.state.onChange(look);
      look();
    });
  }

  /**
   * Asks the server to end the session, behind every request already made; `done` is called once,
   * in any case. Pending requests keep their own deadlines; only closeSession is limited.
   */
  close(done: () => void): void {
    if (this.#lost !== undefined || this.isClosing) return done();
    const { requests, writer, state } = this.#parts;
    const end = () => {
      this.end(closed());
      done();
    };
    if (this.id === NO_SESSION && requests.awaited === 0) return end();
    const timeUp = () => (requests.awaited <= 1 ? end() : this.#closeTimer?.refresh());
    writer.add(new Request(Opcode.closeSession, () => {}), end);
    state.closing();
    this.#closeTimer = setTimeout(timeUp, CLOSE_TIMEOUT_MS);
  }

  attached({ link, frames, response, login }: Attached): void {
    if (response.timeoutMs <= 0) {
      link.destroy();
      return this.end(expired("the server has expired it"));
    }
    if (this.#handshake.isAnotherSession(response)) {
      closeSessionOn(link);
      return this.end(expired("the server has opened another session in its place"));
    }
    const { options, state, liveness, requests, writer, reregistration } = this.#parts;
    const { leases, watches, releases } = this.#parts;
    const { endpoint } = link;
    options.trace?.(
      `attached to ${endpoint.address}: session ${hexId(response.sessionId)}, timeout ${response.timeoutMs} ms`,
    );
    const isReturn = this.#handshake.hasMetServer;
    const gapFrom = this.lastZxid;
    this.#handshake.accepted(response);
    releases.attached(endpoint, this.#handshake);
    liveness.start(this.timeoutMs, this.#handshake.sentAt);
    this.#heartbeat.attach(this.timeoutMs);
    requests.attach(this.timeoutMs, endpoint);
    link.listen({
      data: (chunk) => this.#received(chunk),
      drain: () => writer.drained(),
      closed: (error) => this.dropLink(connectFailureOf(error)),
    });
    writer.attach(link, isReturn ? reregistration.all(gapFrom) : [], login);
    const established = () => {
      state.connected({ isReadOnly: response.readOnly });
      if (isReturn) watches.announceGap(gapFrom);
      if (response.readOnly) this.#search.lookForReadWrite(endpoint);
    };
    if (login) this.#whenLoggedIn = established;
    else established();
    // The handshake proves nothing for a lease: the first committed answer on this connection does.
    if (!leases.isEmpty) this.#heartbeat.beatNow();
    writer.flush();
    if (login && !isReturn) this.#handshake.requestsLeft();
    this.#replies.attach(frames, login);
  }

  attemptFailed(): void {
    this.#failUnanswered();
  }

  loginFailed(error: unknown): void {
    this.end(loginFailed(error));
  }

  loggedIn(): void {
    const established = this.#whenLoggedIn;
    this.#whenLoggedIn = undefined;
    established?.();
  }

  unreachable(message: string, tlsProblem: TlsProblem | undefined): void {
    this.end(unreachable(message, tlsProblem));
  }

  foundReadWrite(address: string): void {
    this.dropLink({ says: `moving to ${address}, which can write`, kind: "transient" });
  }

  beat(): void {
    const { writer } = this.#parts;
    if (this.isReadOnly) writer.ping();
    else writer.beat(this.#syncBeat());
  }

  silent(why: string): void {
    this.dropLink({ says: why, kind: "transient" });
  }

  /** A server may expire the session now, even if one of them still thinks otherwise. */
  expiredByClock(): void {
    // The server may still be listening: then the ephemerals go now, not a timeout later.
    this.#parts.writer.closeSession();
    const timeout = formatDuration(this.timeoutMs);
    this.end(expired(`no server answered for most of the session timeout (${timeout})`));
  }

  serverAnswered(): void {
    this.#search.proved();
  }

  /** The connection is of no use any more: suspends the session and looks for another server. */
  dropLink(why: ConnectFailure): void {
    const { writer, options, state } = this.#parts;
    const { link } = writer;
    if (link === undefined) return;
    options.trace?.(`left ${link.endpoint.address}: ${why.says}`);
    const isClosed = this.#isClosedByKeeper();
    this.#detach();
    link.destroy();
    if (isClosed) return this.end(closed());
    this.#search.left(link.endpoint, why);
    this.#heartbeat.detach();
    const isNew = this.#handshake.startOver();
    if (!isNew && this.#handshake.isKeeper) return this.#endWithConnection(why);
    state.disconnected();
    if (isNew) this.#heartbeat.stop();
    this.#failUnanswered();
    this.#search.start();
  }

  /** ClickHouse Keeper answers closeSession by closing the connection. */
  #isClosedByKeeper(): boolean {
    return this.isClosing && this.#handshake.isKeeper && this.#parts.requests.awaited <= 1;
  }

  /**
   * ClickHouse Keeper resumes no session: nothing is gained by waiting for a server, and until it
   * has expired the session, its ephemerals are still there.
   */
  #endWithConnection(why: ConnectFailure): void {
    this.#failUnanswered();
    const says = `on ClickHouse Keeper a session ends with its connection (${why.says})`;
    this.end(this.isClosing ? closed() : expired(says));
  }

  end(loss: Loss): void {
    if (this.#lost !== undefined) return;
    this.#lost = loss;
    const { options, state, writer, requests, credentials, watches } = this.#parts;
    options.trace?.(`session over: ${loss.reason}`);
    const { link } = writer;
    this.#detach();
    link?.end();
    clearTimeout(this.#closeTimer);
    this.#heartbeat.stop();
    this.#search.stop();
    state.ended(loss.reason);
    failLater(requests.drain(), { code: loss.code });
    credentials.lose(loss.code);
    watches.lose();
  }

  #received(chunk: Buffer): void {
    const now = this.#parts.liveness.now();
    this.#heartbeat.heard(now);
    this.#replies.received(chunk, now);
  }

  #detach(): void {
    this.#whenLoggedIn = undefined;
    this.#parts.liveness.detach();
    this.#parts.writer.detach();
    this.#replies.detach();
  }

  /**
   * The leader's answer to a sync is the second step of the lease's proof; a committed transaction
   * behind it is the third.
   */
  #syncBeat(): Request {
    const { leases, writer } = this.#parts;
    const request = new Request(Opcode.sync, (body) => body.string("/"), "/");
    request.callback = (failure) => {
      if (failure === null && !leases.isEmpty) writer.beat(leases.beat());
    };
    return request;
  }

  /** Requests that a broken connection left unanswered: repeated where harmless, else failed. */
  #failUnanswered(): void {
    const { credentials, requests } = this.#parts;
    const hadSession = this.#handshake.hasMetServer;
    credentials.connectionLost({ hadSession });
    const unknown = requests.connectionLost({ hadSession });
    failLater(unknown, { code: ErrorCode.connectionLoss });
  }
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
