import { type JuteReader, JuteWriter } from "../../wire/jute.ts";
import { ErrorCode, Opcode, opcodeName } from "../../wire/protocol.ts";
import { Aborts } from "../aborts.ts";
import type { SessionOptions } from "../options.ts";
import type { SessionState } from "../session.ts";
import { Chroot } from "./chroot.ts";
import { type ConnectFailure, connectFailureOf } from "./connecting/connect-failures.ts";
import type { Attached } from "./connecting/connector.ts";
import { Credentials } from "./connecting/credentials.ts";
import { DEFAULT_TIMEOUT_MS, Handshake, NO_SESSION } from "./connecting/handshake.ts";
import type { Endpoint, Link } from "./connecting/link.ts";
import { ServerSearch } from "./connecting/server-search.ts";
import { ServerVersions } from "./connecting/server-version.ts";
import { SystemClock } from "./lifetime/clock.ts";
import { Heartbeat } from "./lifetime/heartbeat.ts";
import { Leases } from "./lifetime/leases.ts";
import { Liveness } from "./lifetime/liveness.ts";
import { authFailed, closed, expired, type Loss, unreachable } from "./lifetime/loss.ts";
import { ConnectionManager, LibraryState } from "./node-zookeeper-client-adapter.ts";
import { errorName } from "./requests/error-codes.ts";
import { sessionErrorOf } from "./requests/multi.ts";
import { ReadBatches, refusesBatches } from "./requests/read-batches.ts";
import { ReplyReader } from "./requests/reply-reader.ts";
import { type ReplyLength, Request } from "./requests/request.ts";
import { failLater, RequestQueue } from "./requests/request-queue.ts";
import { RequestWriter } from "./requests/request-writer.ts";
import { WatchReregistration } from "./watches/reregister-watches.ts";
import { WatchRegistry } from "./watches/watch-registry.ts";

/**
 * The longest goodbye. It has been sent by then, or there is no server to hear it and the session
 * is left to expire.
 */
const CLOSE_TIMEOUT_MS = 1_000;
/**
 * Servers limit data to jute.maxbuffer (1 MB), listings not at all: five million names of 20
 * characters have 120 MB.
 */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const MAX_LISTING_BYTES = 128 * 1024 * 1024;

/**
 * The package's connection manager with its inside replaced. Kept from the package: its states and
 * how they are announced, and what may be queued in which state. Replaced, each for defects that
 * make a lock unsafe:
 *
 * - connect, onSocketClosed (ServerSearch, Connector, Link): one Link per attempt, so that no event or half-read byte of an old
 *   socket reaches a new one; TCP, TLS and handshake share one deadline; back-off also when the drop follows a good
 *   handshake; unanswered requests fail after the state has changed, and queued ones fail when the session ends.
 * - onSocketData (Inbox): linear framing, length checks, every error number and opcode, zxid only forwards.
 * - onPacketQueueReadable (Outbox, Traffic): one write a turn, wrapping xids, a bounded window; AUTH and SetWatches before
 *   queued requests. Heartbeat and Liveness: beats that the leader answers, silence noticed, expiry by our own clock.
 * - close: finishes what was asked for, in any phase, once.
 */
export class Connection extends ConnectionManager {
  readonly #clock = new SystemClock();
  readonly liveness = new Liveness(this.#clock);
  readonly aborts = new Aborts();
  readonly chroot: Chroot;
  readonly versions: ServerVersions;
  readonly watches: WatchRegistry;
  readonly #rearming: WatchReregistration;
  readonly #options: SessionOptions;
  readonly #traffic: RequestQueue;
  readonly #leases = new Leases();
  readonly #heartbeat: Heartbeat;
  readonly #secrets = new Credentials();
  readonly #outbox: RequestWriter;
  readonly #inbox: ReplyReader;
  readonly #handshake: Handshake;
  readonly #search: ServerSearch;
  #lastZxid = 0n;
  /** When the bytes came that are being read. */
  #heardAt = 0;
  #isReadOnly = false;
  #goodbyeTimer: NodeJS.Timeout | undefined;
  #lost: Loss | undefined;

  constructor(options: SessionOptions, onState: () => void) {
    // The package's parser takes [::1]:2181 for a host called "[": it gets a placeholder,
    // ServerList does the work.
    super(
      "localhost",
      { sessionTimeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS, spinDelay: 0 },
      onState,
    );
    // Everybody who waits for a connection listens, and there may be many.
    this.setMaxListeners(0);
    this.#options = options;
    this.chroot = new Chroot(options.chroot);
    this.watches = new WatchRegistry((path) => this.chroot.toClientPath(path));
    this.#rearming = new WatchReregistration(this.watches);
    for (const { scheme, credential } of options.auth ?? []) this.#secrets.add(scheme, credential);
    this.versions = new ServerVersions(options.tls);
    this.#traffic = new RequestQueue(
      () => this.onPacketQueueReadable(),
      new ReadBatches(this.versions),
      0,
      options.maxRequestBytes,
    );
    this.packetQueue = this.#traffic;
    const oldestSentAt = () => earliest(this.#traffic.oldestSentAt, this.#secrets.oldestSentAt);
    this.#heartbeat = new Heartbeat(this.liveness, oldestSentAt, {
      beat: () => this.#beat(),
      silent: (why) => this.#dropLink({ says: why, kind: "transient" }),
      expired: () => this.#expireByClock(),
    });
    this.#outbox = new RequestWriter(this.#traffic, this.#secrets, this.liveness);
    this.#inbox = new ReplyReader({
      zxid: (zxid) => {
        if (zxid > this.#lastZxid) this.#lastZxid = zxid;
      },
      reply: (xid, zxid, code, body) => this.#handleReply(xid, zxid, code, body),
      event: (type, path) => this.watches.dispatch(type, path),
      ping: () => {
        this.#search.proved();
        this.#outbox.pingAnswered();
      },
      auth: (code) => this.#handleAuth(code),
      watchesSet: (code) => this.#handleWatchesSet(code),
      readOut: () => this.#outbox.refill(),
      maxReplyBytes: () =>
        options.maxReplyBytes ??
        (this.#traffic.next?.mayListNames ? MAX_LISTING_BYTES : MAX_REPLY_BYTES),
      oversized: (bytes, limit) => this.#refuseReply({ bytes, limit }),
      garbage: (what) =>
        this.#dropLink({ says: `the server sent garbage: ${what}`, kind: "transient" }),
    });
    this.#handshake = new Handshake(options, this, this.#secrets, this.#traffic);
    this.#search = new ServerSearch(options, this.#handshake, this.#clock, {
      greeting: (endpoint) => this.emit("greeting", endpoint),
      attached: (attached) => this.#attach(attached),
      attemptFailed: () => this.#unanswered(),
      unreachable: (message) => this.#end(unreachable(message)),
      foundReadWrite: (address) =>
        this.#dropLink({ says: `moving to ${address}, which can write`, kind: "transient" }),
    });
  }

  get id(): bigint {
    return this.#handshake.sessionId;
  }

  get lastZxid(): bigint {
    return this.#lastZxid;
  }

  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** The server attached to. */
  get endpoint(): Endpoint | undefined {
    return this.#outbox.link?.endpoint;
  }

  get isClosing(): boolean {
    return this.#goodbyeTimer !== undefined;
  }

  get lost(): Loss | undefined {
    return this.#lost;
  }

  get sessionState(): SessionState {
    if (this.#lost !== undefined) return "lost";
    return this.endpoint === undefined ? "suspended" : "connected";
  }

  override connect(): void {
    this.#search.start();
    this.setState(LibraryState.CONNECTING);
  }

  /** Settles when a server has accepted the session; rejects when the session ends first. */
  whenConnected(): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const { sessionState } = this;
        if (sessionState === "suspended") return;
        this.off("state", look);
        if (this.#lost === undefined) resolve();
        else reject(this.#lost.error);
      };
      this.on("state", look);
      look();
    });
  }

  /**
   * Asks the server to end the session, behind everything already asked for; `done` is called once,
   * whatever happens.
   */
  override close(done: () => void = () => {}): void {
    if (this.#lost !== undefined || this.isClosing) return done();
    const end = () => {
      this.#end(closed());
      done();
    };
    if (this.id === NO_SESSION && this.#traffic.awaited === 0) return end();
    // What was asked for before has the time it takes; the goodbye alone has not.
    const rest = () => (this.#traffic.awaited <= 1 ? end() : this.#goodbyeTimer?.refresh());
    this.#goodbyeTimer = setTimeout(rest, CLOSE_TIMEOUT_MS);
    this.queue(new Request(Opcode.closeSession, () => {}), end);
    this.setState(LibraryState.CLOSING);
  }

  /**
   * Proves an identity now and on every connection to come; returns the function that takes it back
   * if it is still unsent.
   */
  addCredential(
    scheme: string,
    secret: Buffer,
    settle: (failure: { code: number } | null) => void,
  ): () => void {
    if (this.#lost !== undefined) {
      settle({ code: ErrorCode.sessionExpired });
      return () => {};
    }
    this.#outbox.schedule();
    return this.#secrets.add(scheme, secret, settle);
  }

  /**
   * From now on the session's life is its lease, and heartbeats check these znodes of the server.
   * Returns the function that ends it.
   */
  keepLease(nodes: readonly string[], onMissing: () => void): () => void {
    const end = this.#leases.keep(nodes, onMissing);
    this.liveness.isLeased = true;
    return () => {
      end();
      this.liveness.isLeased = !this.#leases.isEmpty;
    };
  }

  /**
   * Sets the watches of one of the server's paths again: removing one kind may have taken the
   * others with it.
   */
  rearm(serverPath: string): void {
    if (this.endpoint !== undefined)
      this.#outbox.rearm(this.#rearming.one(serverPath, this.#lastZxid));
  }

  override onPacketQueueReadable(): void {
    this.#outbox.schedule();
  }

  override onSocketData(chunk: Buffer): void {
    this.#heardAt = this.liveness.now();
    this.#heartbeat.heard(this.#heardAt);
    this.#inbox.push(chunk);
  }

  override onSocketClosed(error?: Error): void {
    this.#dropLink(connectFailureOf(error));
  }

  #attach({ link, frames, response, sentAt }: Attached): void {
    if (response.timeoutMs <= 0) {
      link.destroy();
      return this.#end(expired("the server has expired it"));
    }
    if (this.#handshake.isAnotherSession(response)) {
      this.#closeOther(link);
      return this.#end(expired("the server has opened another session in its place"));
    }
    const id = BigInt.asUintN(64, response.sessionId).toString(16);
    this.#options.trace?.(
      `attached to ${link.endpoint.address}: session 0x${id}, timeout ${response.timeoutMs} ms`,
    );
    const isReturn = this.#handshake.hasMetServer;
    const gapFrom = this.#lastZxid;
    this.#handshake.accepted(response);
    this.#isReadOnly = response.readOnly;
    const timeoutMs = this.#handshake.grantedTimeoutMs ?? response.timeoutMs;
    this.updateTimeout(timeoutMs);
    this.liveness.start(timeoutMs, sentAt);
    this.#heartbeat.attach(timeoutMs);
    this.#traffic.window.attach(timeoutMs);
    this.#traffic.batches.attach(link.endpoint);
    link.listen({
      open: () => {},
      data: (chunk) => this.onSocketData(chunk),
      drain: () => this.#outbox.drained(),
      closed: (error) => this.onSocketClosed(error),
    });
    this.#outbox.attach(link, isReturn ? this.#rearming.all(this.#lastZxid) : []);
    if (!this.isClosing)
      this.setState(response.readOnly ? LibraryState.CONNECTED_READ_ONLY : LibraryState.CONNECTED);
    // The handshake proves nothing for a lease: the first committed answer on this connection does.
    if (!this.#leases.isEmpty) this.#heartbeat.beatNow();
    if (isReturn) this.watches.announceGap(gapFrom);
    if (response.readOnly) this.#search.lookForReadWrite(link.endpoint);
    this.#outbox.flush();
    this.#inbox.attach(frames);
  }

  #handleReply(xid: number, zxid: bigint, headerCode: number, body: JuteReader): void {
    const request = this.#traffic.due(xid);
    if (request === undefined) {
      return this.#dropLink({
        says: `the server answered request ${xid}, which is not due`,
        kind: "transient",
      });
    }
    const isMulti = request.type === Opcode.multi && headerCode === 0;
    const code = isMulti ? sessionErrorOf(body.fork()) : headerCode;
    this.#search.proved();
    if (code === 0) this.#noteAnswer(request);
    if (request.isShared) return this.#handleBatch(request, zxid, code, body);
    this.#traffic.answered(xid);
    if (request.isPlainRead) this.#traffic.batches.learn(body.remaining, 1);
    this.#noteReply(request, code);
    // It came through a server that the session has left, and was not executed.
    if (code === ErrorCode.sessionMoved && (request.abandoned || this.#traffic.takeBack(request))) {
      if (request.abandoned) request.callback({ code }, null, zxid);
      return this.#dropLink({ says: "the session has moved to another server", kind: "transient" });
    }
    if (code === ErrorCode.sessionExpired) this.#end(expired("the server has expired it"));
    request.callback(code === 0 ? null : { code }, code === 0 ? body : null, zxid);
  }

  /**
   * Only successes count: some failures (a throttled request, say) are answered without the leader.
   * A multi of which an operation failed comes as a success, and was committed like one.
   */
  #noteAnswer({ sentAt, isAnsweredByLeader: byLeader, isWrite: isCommitted }: Request): void {
    if (sentAt !== undefined) this.liveness.answered(sentAt, { byLeader, isCommitted });
  }

  /** Reads that left together: each gets its own part of the answer, as if it had been alone. */
  #handleBatch({ xid, sentAt }: Request, zxid: bigint, code: number, body: JuteReader): void {
    if (code === ErrorCode.sessionExpired) return this.#end(expired("the server has expired it"));
    if (code === ErrorCode.sessionMoved) {
      return this.#dropLink({ says: "the session has moved to another server", kind: "transient" });
    }
    if (refusesBatches(code)) {
      this.#options.trace?.(`multiRead -> ${errorName(code)}: the same reads one by one`);
      return this.#traffic.splitUp(xid);
    }
    if (code !== 0) {
      for (const read of this.#traffic.batchReturned(xid)) {
        this.#noteReply(read, code);
        read.callback({ code }, null, zxid);
      }
      return;
    }
    const tookMs = this.#heardAt - (sentAt ?? 0);
    this.#traffic.takeApart(xid, tookMs, body, (read, itsCode) => {
      this.#noteReply(read, itsCode);
      read.callback(itsCode === 0 ? null : { code: itsCode }, itsCode === 0 ? body : null, zxid);
    });
  }

  /**
   * The rest of the connection would be the reply that is not read: the session goes on with
   * another connection.
   */
  #refuseReply(tooLong: ReplyLength): void {
    const request = this.#traffic.replyTooLong({ isLast: this.isClosing });
    this.#dropLink({
      says: `the server sent garbage: a frame of ${tooLong.bytes} bytes`,
      kind: "transient",
    });
    if (request) failLater([request], { code: ErrorCode.marshallingError, tooLong });
  }

  #noteReply({ type, path, sentAt }: Request, code: number): void {
    if (sentAt === undefined) return;
    this.#traffic.window.answered(sentAt, this.#heardAt);
    if (this.#options.trace === undefined) return;
    const took = (this.liveness.now() - sentAt).toFixed(1);
    this.#options.trace(
      `${opcodeName(type)} ${path} -> ${code === 0 ? "ok" : errorName(code)} in ${took} ms`,
    );
  }

  #handleAuth(code: number): void {
    this.#search.proved();
    if (this.#secrets.answered(code).isFatal) this.#end(authFailed(code));
  }

  #handleWatchesSet(code: number): void {
    if (!this.#rearming.answered({ isSet: code === 0 }) || code === 0) return;
    this.#dropLink({
      says: `the server did not set the watches (${errorName(code)})`,
      kind: "transient",
    });
  }

  /**
   * The connection is of no use any more: the session is suspended and another server is looked
   * for.
   */
  #dropLink(why: ConnectFailure): void {
    const { link } = this.#outbox;
    if (link === undefined) return;
    this.#options.trace?.(`left ${link.endpoint.address}: ${why.says}`);
    this.#detach();
    link.destroy();
    this.#search.left(link.endpoint, why);
    this.#heartbeat.detach();
    if (!this.isClosing) this.setState(LibraryState.DISCONNECTED);
    if (this.#handshake.startOver()) this.#heartbeat.stop();
    this.#unanswered();
    this.#search.start();
  }

  #detach(): void {
    this.liveness.detach();
    this.#outbox.detach();
    this.#inbox.detach();
  }

  #beat(): void {
    if (this.#isReadOnly) this.#outbox.ping();
    else this.#outbox.beat(this.#syncBeat());
  }

  /**
   * The leader's answer to a sync is the second step of the lease's proof; a committed transaction
   * behind it is the third.
   */
  #syncBeat(): Request {
    const request = new Request(Opcode.sync, (writer) => writer.string("/"), "/");
    request.callback = (failure) => {
      if (failure === null && !this.#leases.isEmpty) this.#outbox.beat(this.#leases.beat());
    };
    return request;
  }

  /**
   * Ends a session that a server has opened without being asked for it; on a link that is not the
   * session's yet.
   */
  #closeOther(link: Link): void {
    const writer = new JuteWriter();
    const frame = writer.beginFrame();
    writer.int(1);
    writer.int(Opcode.closeSession);
    writer.endFrame(frame);
    link.write(writer.take());
    link.end();
  }

  /**
   * What was in flight on a connection that broke: repeated where that is harmless, reported as
   * lost where it is not.
   */
  #unanswered(): void {
    const hadSession = this.#handshake.hasMetServer;
    this.#secrets.connectionLost({ hadSession });
    const unknown = this.#traffic.connectionLost({ hadSession });
    failLater(unknown, { code: ErrorCode.connectionLoss });
  }

  /**
   * The last answered request is so old that a server may expire the session now: it is over,
   * whatever they think.
   */
  #expireByClock(): void {
    // Somebody may still listen at the other end: let the ephemerals go now rather than a timeout
    // later.
    this.#outbox.sayGoodbye();
    this.#end(expired(`no server has answered for most of its ${this.sessionTimeout} ms`));
  }

  #end(loss: Loss): void {
    if (this.#lost !== undefined) return;
    this.#lost = loss;
    this.#options.trace?.(`session over: ${loss.reason}`);
    const { link } = this.#outbox;
    this.#detach();
    link?.end();
    clearTimeout(this.#goodbyeTimer);
    this.#heartbeat.stop();
    this.#search.stop();
    this.setState(loss.state);
    failLater(this.#traffic.drain(), { code: loss.code });
    this.#secrets.lose(loss.code);
    this.watches.lose();
  }
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
