import { ConnectionError, PermissionError, type ZkshError } from "../../errors.ts";
import type { JuteReader, JuteWriter } from "../../wire/jute.ts";
import { ErrorCode, Opcode, Xid } from "../../wire/protocol.ts";
import type { SessionOptions } from "../options.ts";
import type { LostReason, SessionState } from "../session.ts";
import { type Attached, Connector } from "./connector.ts";
import { Credentials } from "./credentials.ts";
import { errorName } from "./failures.ts";
import { Heartbeat } from "./heartbeat.ts";
import { Inbox } from "./inbox.ts";
import { ConnectionManager, LibraryState } from "./library.ts";
import type { Endpoint, Link } from "./link.ts";
import { type Instant, Liveness } from "./liveness.ts";
import { findReadWriteServer } from "./read-only.ts";
import { type ConnectFailure, connectFailureOf } from "./reasons.ts";
import { Request } from "./request.ts";
import { Ring } from "./ring.ts";
import { ServerList } from "./servers.ts";
import { failLater, Traffic } from "./traffic.ts";
import { WatchRegistry } from "./watches.ts";

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;
/** The least one address gets for TCP and handshake, however many share the time. */
const MIN_ATTEMPT_MS = 250;
/** The longest goodbye: after this the server is left to expire the session. */
const CLOSE_TIMEOUT_MS = 5_000;
/** Replies may be longer than jute.maxbuffer (a listing of a million children), but not this long. */
const MAX_REPLY_BYTES = 512 * 1024 * 1024;
const NO_SESSION = 0n;

/**
 * The package's connection manager with its inside replaced. Kept from the package: its states and how they are announced,
 * what may be queued in which state, the identity of the session. Replaced, each for defects that make a lock unsafe:
 *
 * - connect, onSocketClosed: one Link per attempt, so that no event or half-read byte of an old socket reaches a new one;
 *   TCP, TLS and handshake share one deadline; back-off also when the drop follows a good handshake; unanswered
 *   requests fail after the state has changed, and queued ones fail when the session ends.
 * - onSocketData: linear framing, length checks, every error number and opcode, zxid only forwards.
 * - onPacketQueueReadable: one write a turn, wrapping xids, a bounded window; AUTH and SetWatches before queued requests.
 * - close: finishes what was asked for, in any phase, once.
 */
export class Connection extends ConnectionManager {
  readonly liveness = new Liveness();
  readonly watches = new WatchRegistry((path) => this.toClientPath(path));
  readonly #options: SessionOptions;
  readonly #servers: ServerList;
  readonly #connector: Connector;
  readonly #traffic: Traffic;
  readonly #heartbeat: Heartbeat;
  readonly #credentialsToProve = new Credentials();
  readonly #inbox: Inbox;
  readonly #pings = new Ring<Instant>();
  #link: Link | undefined;
  #lastZxid = 0n;
  #isReadOnly = false;
  /** Sessions of read-only servers are known to them alone: none is carried over before a full server has given one. */
  #hasMetReadWrite = false;
  #startedAt = 0;
  #connectTimer: NodeJS.Timeout | undefined;
  #hasMetServer = false;
  /** The connection has answered something after its handshake. */
  #linkProved = false;
  #isWritable = false;
  #flushScheduled = false;
  #goodbye: { readonly request: Request; readonly timer: NodeJS.Timeout } | undefined;
  #lost: { readonly reason: LostReason; readonly error: ZkshError } | undefined;
  #rwSearch: AbortController | undefined;

  constructor(options: SessionOptions, onState: () => void) {
    // The package's parser takes [::1]:2181 for a host called "[": it gets a placeholder, ServerList does the work.
    super("localhost", { sessionTimeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS, spinDelay: 0 }, onState);
    this.#options = options;
    this.#servers = new ServerList(options.servers);
    for (const { scheme, credential } of options.auth ?? []) this.#credentialsToProve.add(scheme, credential);
    this.#traffic = new Traffic(() => this.onPacketQueueReadable());
    this.packetQueue = this.#traffic;
    this.#heartbeat = new Heartbeat(this.liveness, () => this.#traffic.oldestSentAt, {
      ping: () => this.#ping(),
      silent: (why) => this.#dropLink({ says: why, kind: "transient" }),
      expired: () => this.#expireByClock(),
    });
    this.#inbox = new Inbox({
      zxid: (zxid) => {
        if (zxid > this.#lastZxid) this.#lastZxid = zxid;
      },
      reply: (xid, zxid, code, body) => this.#handleReply(xid, zxid, code, body),
      event: (type, path) => this.watches.dispatch(type, path),
      ping: () => this.#proved(this.#pings.shift()),
      auth: (code) => this.#handleAuth(code),
      garbage: (what) => this.#dropLink({ says: `the server sent garbage: ${what}`, kind: "transient" }),
    });
    this.#connector = new Connector(this.#servers, options.tls, {
      now: () => this.liveness.now(),
      attemptMs: () => this.#attemptMs(),
      hello: () => this.#hello(),
      loadBehindHello: (writer, now) => this.#loadBehindHello(writer, now),
      attached: (attached) => this.#attach(attached),
      failed: (endpoint, why) => this.#attemptFailed(endpoint, why),
    });
  }

  get id(): bigint {
    return this.sessionId.readBigInt64BE(0);
  }

  get lastZxid(): bigint {
    return this.#lastZxid;
  }

  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** The server attached to. */
  get endpoint(): Endpoint | undefined {
    return this.#link?.endpoint;
  }

  /** close() has been called. */
  get isClosing(): boolean {
    return this.#goodbye !== undefined;
  }

  /** Why the session is over. */
  get lost(): { readonly reason: LostReason; readonly error: ZkshError } | undefined {
    return this.#lost;
  }

  get sessionState(): SessionState {
    if (this.#lost !== undefined) return "lost";
    return this.#link === undefined ? "suspended" : "connected";
  }

  override connect(): void {
    this.#startedAt = this.liveness.now().mono;
    const limit = this.#options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
    this.#connectTimer = setTimeout(() => this.#giveUp(` within ${limit / 1000} s`), limit);
    this.setState(LibraryState.CONNECTING);
    this.#connector.search();
  }

  /** Asks the server to end the session, behind everything already asked; `done` is called once, whatever happens. */
  override close(done: () => void = () => {}): void {
    if (this.#lost !== undefined || this.#goodbye !== undefined) return done();
    const idle = this.#traffic.queued === 0 && this.#traffic.inFlight === 0;
    const request = new Request(Opcode.closeSession, () => {});
    const end = () => {
      this.#end("closed", closedError());
      done();
    };
    this.#goodbye = { request, timer: setTimeout(end, CLOSE_TIMEOUT_MS) };
    if (idle && this.id === NO_SESSION) return end();
    this.queue(request, end);
    this.setState(LibraryState.CLOSING);
  }

  addCredential(scheme: string, secret: Buffer, settle: (failure: { code: number } | null) => void): void {
    if (this.#lost !== undefined) return settle({ code: ErrorCode.sessionExpired });
    this.#credentialsToProve.add(scheme, secret, settle);
    this.onPacketQueueReadable();
  }

  /** Settles when a server has accepted the session; rejects when the session ends first. */
  whenConnected(): Promise<void> {
    if (this.#link !== undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const onState = () => {
        if (this.#link === undefined && this.#lost === undefined) return;
        this.off("state", onState);
        if (this.#lost === undefined) resolve();
        else reject(this.#lost.error);
      };
      this.on("state", onState);
      onState();
    });
  }

  /** Sets the watches of one (server's) path again: removing one kind may have taken the others with it. */
  rearm(path: string): void {
    if (this.#link === undefined) return;
    this.#loadWatches(path);
    this.#write(this.#link, this.liveness.now());
  }

  toServerPath(path: string): string {
    const chroot = this.#options.chroot ?? "";
    return chroot !== "" && path === "/" ? chroot : chroot + path;
  }

  toClientPath(path: string): string {
    const chroot = this.#options.chroot ?? "";
    if (chroot === "") return path;
    if (path === chroot) return "/";
    return path.startsWith(`${chroot}/`) ? path.slice(chroot.length) : path;
  }

  /** Called by the queue for every request: all requests of one turn leave together when the turn ends. */
  override onPacketQueueReadable(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    process.nextTick(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  override onSocketData(chunk: Buffer): void {
    const { mono } = this.liveness.now();
    const before = this.#traffic.inFlight;
    this.#heartbeat.heard(mono);
    this.#inbox.push(chunk);
    if (this.#traffic.inFlight < before) this.#heartbeat.progressed(mono);
    if (this.#traffic.queued > 0) this.onPacketQueueReadable();
  }

  override onSocketClosed(error?: Error): void {
    this.#dropLink(connectFailureOf(error));
  }

  // ---- finding a server

  #hello() {
    return {
      lastZxidSeen: this.#lastZxid,
      // What was wished for, not what the last server granted: its lower limit must not stick.
      timeoutMs: this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      sessionId: this.#hasMetReadWrite ? this.id : NO_SESSION,
      password: this.sessionPassword,
      readOnly: this.#options.readOnly ?? false,
    };
  }

  /**
   * For a new session, reads that wait already (and a goodbye behind them) leave together with the handshake: one round trip.
   * Not writes: a server that has no quorum accepts connections and drops them, and their fate would be unknown.
   */
  #loadBehindHello(writer: JuteWriter, now: Instant): void {
    if (this.#hasMetServer) return;
    this.#credentialsToProve.load(writer, now);
    this.#traffic.load(now, { into: writer, onlyRepeatable: true });
  }

  #attemptMs(): number {
    const whole = this.#hasMetServer
      ? this.sessionTimeout
      : (this.#options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS);
    return Math.max(MIN_ATTEMPT_MS, whole / this.#servers.size);
  }

  #attemptFailed(endpoint: Endpoint, why: ConnectFailure): void {
    this.#options.trace?.(`${endpoint.address} (${endpoint.ip}): ${why.says}`);
    this.#unanswered();
    if (this.#lost !== undefined) return;
    if (!this.#hasMetServer && this.#isHopeless()) return this.#giveUp("");
    this.#connector.search();
  }

  #isHopeless(): boolean {
    if (this.#servers.allFailed(["permanent"])) return true;
    const patience = this.#options.refusedTimeoutMs ?? Number.POSITIVE_INFINITY;
    return this.liveness.now().mono - this.#startedAt >= patience && this.#servers.allFailed(["permanent", "refused"]);
  }

  #giveUp(within: string): void {
    const message = `cannot connect to ZooKeeper${within}: ${this.#servers.summary()}`;
    this.#end(
      "unreachable",
      new ConnectionError("unreachable", message, { code: ErrorCode.connectionLoss, sent: false }),
    );
  }

  #attach({ link, frames, response, sentAt }: Attached): void {
    if (response.timeoutMs <= 0) {
      link.destroy();
      return this.#end("expired", expiredError("the server has expired the session"));
    }
    const gapFrom = this.#lastZxid;
    const isReturn = this.#hasMetServer;
    this.#options.trace?.(
      `attached to ${link.endpoint.address}, session 0x${BigInt.asUintN(64, response.sessionId).toString(16)}, ${response.timeoutMs} ms`,
    );
    clearTimeout(this.#connectTimer);
    this.#hasMetServer = true;
    this.#hasMetReadWrite ||= !response.readOnly;
    this.#isReadOnly = response.readOnly;
    this.sessionId.writeBigInt64BE(response.sessionId);
    this.sessionPassword = response.password;
    this.updateTimeout(response.timeoutMs);
    this.liveness.start(response.timeoutMs, sentAt);
    this.#link = link;
    this.#linkProved = false;
    this.#isWritable = true;
    frames.maxLength = MAX_REPLY_BYTES;
    link.listen({
      open: () => {},
      data: (chunk) => this.onSocketData(chunk),
      drain: () => {
        this.#isWritable = true;
        this.#flush();
      },
      closed: (error) => this.onSocketClosed(error),
    });
    this.#heartbeat.attach(response.timeoutMs);
    this.#credentialsToProve.load(this.#traffic.writer, sentAt);
    if (isReturn) this.#loadWatches();
    this.#write(link, this.liveness.now());
    if (this.#goodbye === undefined) {
      this.setState(response.readOnly ? LibraryState.CONNECTED_READ_ONLY : LibraryState.CONNECTED);
    }
    if (isReturn) this.watches.announceGap(gapFrom);
    if (response.readOnly) this.#lookForReadWrite(link);
    this.#flush();
    this.#inbox.attach(frames);
  }

  #lookForReadWrite(link: Link): void {
    this.#rwSearch?.abort();
    this.#rwSearch = new AbortController();
    const others = this.#servers.others(link.endpoint);
    void findReadWriteServer(others, this.#options.tls, this.#rwSearch.signal).then((address) => {
      if (address === undefined || this.#link !== link) return;
      this.#servers.prefer(address);
      this.#dropLink({ says: `moving to ${address}, which can write`, kind: "transient" });
    });
  }

  // ---- sending

  #flush(): void {
    const link = this.#link;
    if (link === undefined || !this.#isWritable) return;
    const now = this.liveness.now();
    this.#credentialsToProve.load(this.#traffic.writer, now);
    do {
      this.#traffic.load(now);
      if (!this.#write(link, now)) return;
    } while (this.#isWritable && this.#traffic.canLoad);
  }

  /** Writes the flight that has been loaded; false when there was none. */
  #write(link: Link, now: Instant): boolean {
    if (this.#traffic.writer.length === 0) return false;
    this.#heartbeat.sent(now.mono);
    this.#isWritable = link.write(this.#traffic.writer.take());
    return true;
  }

  #ping(): void {
    const link = this.#link;
    if (link === undefined) return;
    const now = this.liveness.now();
    const writer = this.#traffic.writer;
    const frame = writer.beginFrame();
    writer.int(Xid.ping);
    writer.int(Opcode.ping);
    writer.endFrame(frame);
    this.#pings.push(now);
    this.#write(link, now);
  }

  #loadWatches(only?: string): void {
    const writer = this.#traffic.writer;
    for (const piece of this.watches.rearm(this.#lastZxid, only)) {
      const frame = writer.beginFrame();
      writer.int(Xid.setWatches);
      writer.int(piece.needsSetWatches2 ? Opcode.setWatches2 : Opcode.setWatches);
      piece.write(writer);
      writer.endFrame(frame);
    }
  }

  // ---- receiving

  #handleReply(xid: number, zxid: bigint, code: number, body: JuteReader): void {
    const request = this.#traffic.answered(xid);
    if (request === undefined) {
      return this.#dropLink({ says: `the server answered request ${xid}, which is not due`, kind: "transient" });
    }
    this.#proved(request.sentAt);
    if (code === ErrorCode.sessionMoved && !request.abandoned) {
      // It came through a server that the session has left, and was not executed.
      this.#traffic.requeue(request);
      return this.#dropLink({ says: "the session has moved to another server", kind: "transient" });
    }
    request.callback(code === 0 ? null : { code }, code === 0 ? body : null, zxid);
  }

  #handleAuth(code: number): void {
    const { sentAt, fatal } = this.#credentialsToProve.answered(code);
    this.#proved(sentAt);
    if (!fatal) return;
    const message = `authentication failed (${errorName(code)})`;
    this.#end("auth-failed", new PermissionError("auth-failed", message, { code }));
  }

  /** A request sent at `sentAt` was answered: the session lives, and so does the connection. */
  #proved(sentAt: Instant | undefined): void {
    if (sentAt !== undefined) this.liveness.acknowledged(sentAt);
    if (this.#linkProved) return;
    this.#linkProved = true;
    this.#servers.settled();
  }

  // ---- losing

  /** The connection is of no use any more: the session is suspended and another server is looked for. */
  #dropLink(why: ConnectFailure): void {
    const link = this.#link;
    if (link === undefined) return;
    this.#options.trace?.(`left ${link.endpoint.address}: ${why.says}`);
    this.#detach();
    link.destroy();
    this.#servers.failed(link.endpoint.address, why);
    this.#heartbeat.detach();
    if (this.#goodbye === undefined) this.setState(LibraryState.DISCONNECTED);
    this.#unanswered();
    if (this.#lost === undefined) this.#connector.search();
  }

  #detach(): void {
    this.#link = undefined;
    this.#inbox.detach();
    this.#rwSearch?.abort();
    this.#pings.drain();
  }

  /** What was in flight on a connection that broke: repeated where that is harmless, reported as lost where it is not. */
  #unanswered(): void {
    this.#credentialsToProve.connectionLost();
    const unknown = this.#traffic.connectionLost({ hadSession: this.#hasMetServer });
    failLater(unknown, { code: ErrorCode.connectionLoss });
  }

  /** The last answered request is so old that a server may expire the session now: it is over, whatever they think. */
  #expireByClock(): void {
    const link = this.#link;
    if (link !== undefined) {
      // Somebody may still listen at the other end: let the ephemerals go now rather than a timeout later.
      this.#detach();
      const writer = this.#traffic.writer;
      writer.take();
      this.queue(new Request(Opcode.closeSession, () => {}), () => {});
      this.#traffic.load(this.liveness.now());
      link.write(writer.take());
      link.end();
    }
    this.#end("expired", expiredError(`no server has answered for ${this.sessionTimeout} ms, less the safety margin`));
  }

  #end(reason: LostReason, error: ZkshError): void {
    if (this.#lost !== undefined) return;
    this.#lost = { reason, error };
    this.#options.trace?.(`session over: ${reason}`);
    const link = this.#link;
    this.#detach();
    link?.end();
    clearTimeout(this.#connectTimer);
    clearTimeout(this.#goodbye?.timer);
    this.#heartbeat.stop();
    this.#connector.stop();
    this.setState(FINAL_STATES[reason]);
    const code = reason === "auth-failed" ? ErrorCode.authFailed : ErrorCode.sessionExpired;
    failLater(this.#traffic.drain(), { code });
    this.#credentialsToProve.lose(code);
    this.watches.lose();
  }
}

const FINAL_STATES: Readonly<Record<LostReason, number>> = {
  expired: LibraryState.SESSION_EXPIRED,
  "auth-failed": LibraryState.AUTHENTICATION_FAILED,
  closed: LibraryState.CLOSED,
  unreachable: LibraryState.CLOSED,
};

function expiredError(why: string): ConnectionError {
  return new ConnectionError("session-expired", `session expired: ${why} (SessionExpired)`, {
    code: ErrorCode.sessionExpired,
  });
}

function closedError(): ConnectionError {
  return new ConnectionError("session-closed", "the session is closed", { sent: false });
}
