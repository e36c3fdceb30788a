/** The connection of one client: reads requests, serves them in order, and writes the replies. */
import type { Socket } from "node:net";
import { FrameReader } from "../wire/frames.ts";
import { JuteReader, JuteWriter, MalformedFrameError } from "../wire/jute.ts";
import { ErrorCode, Opcode, SYNC_CONNECTED, Xid } from "../wire/protocol.ts";
import { type AclRecord, readConnectRequest, writeConnectResponse } from "../wire/records.ts";
import { type AuthIdentity, isPermitted, Perm } from "./access.ts";
import { Authentication, type SaslUsers } from "./authentication.ts";
import { dispatch } from "./dispatch.ts";
import type { Body, RequestSource } from "./handler.ts";
import { attach } from "./handshake.ts";
import type { ServerState } from "./server-state.ts";
import type { Session } from "./sessions.ts";
import { ConnectionTraffic, type TrafficCounters } from "./traffic-counters.ts";

/** The part of the server that a connection uses. */
export interface Host {
  readonly keeper: ServerState;
  readonly traffic: TrafficCounters;
  readonly maxRequestBytes: number;
  /** Who may log in by SASL DIGEST-MD5; empty: the server does not do SASL. */
  readonly saslUsers: SaslUsers;
  /** Nothing is served before a client has logged in by SASL. */
  readonly requiresSasl: boolean;
  /** True while stall() is in effect: connections read nothing. */
  readonly isStalled: boolean;
  /** Returns the answer to a four-letter word, or undefined if `word` is none. */
  answerWord(word: string): { readonly text: string } | "hang-up" | undefined;
  forget(connection: Connection): void;
}

/**
 * A client that sends no handshake, or does not close after its session has ended, is
 * disconnected after this time.
 */
const IDLE_LIMIT_MS = 10_000;
const WORD_BYTES = 4;
/** Replies are written when they reach this size, otherwise once per turn of the event loop. */
const FLUSH_BYTES = 256 << 10;
/** A client with this many unread bytes is disconnected. */
const MAX_UNREAD_BYTES = 64 << 20;
const NOT_ACTIVE = { timeoutMs: 30_000, sessionId: 0n, password: Buffer.alloc(16) };
const EXPIRED = { timeoutMs: 0, sessionId: 0n, password: Buffer.alloc(16) };
/** The zxids of replies without a transaction. */
const NO_ZXID = { auth: 0n, sasl: 0n, event: -1n, unknownOperation: -1n } as const;

export class Connection implements RequestSource {
  readonly traffic = new ConnectionTraffic();
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #authentication: Authentication;
  readonly #host: Host;
  readonly #socket: Socket;
  readonly #frames: FrameReader;
  readonly #reader = new JuteReader();
  readonly #writer = new JuteWriter();
  #idleTimer: NodeJS.Timeout;
  /** The first bytes, until it is known whether they are a four-letter word. */
  #opening: Buffer | undefined = Buffer.alloc(0);
  #session: Session | undefined;
  #isFlushing = false;
  /** True when the connection is closing or closed: no more requests are served. */
  #isOver = false;

  constructor(host: Host, socket: Socket) {
    this.#host = host;
    this.#socket = socket;
    // A client of a Unix socket has no address; it is on this machine.
    this.remoteAddress = (socket.remoteAddress ?? "127.0.0.1").replace(/^::ffff:/, "");
    this.remotePort = socket.remotePort ?? 0;
    this.#authentication = new Authentication(this.remoteAddress, host.saslUsers);
    this.#frames = new FrameReader(host.maxRequestBytes);
    this.#idleTimer = setTimeout(() => this.destroy(), IDLE_LIMIT_MS).unref();
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("drain", () => this.resume());
    socket.on("error", () => {});
    socket.on("close", () => this.#closed());
    if (host.isStalled) socket.pause();
  }

  get identities(): readonly AuthIdentity[] {
    return this.#authentication.identities;
  }

  get session(): Session {
    if (this.#session === undefined) throw new Error("a request before the handshake");
    return this.#session;
  }

  /** Undefined before the handshake. */
  get attachedSession(): Session | undefined {
    return this.#session;
  }

  /** Sends a watch event, if the client may read the znode. */
  notify(type: number, path: string, acl: readonly AclRecord[]): void {
    if (!isPermitted(acl, Perm.read, this.identities)) return;
    this.#reply(Xid.notification, NO_ZXID.event, 0, (writer) => {
      writer.int(type);
      writer.int(SYNC_CONNECTED);
      writer.string(path);
    });
  }

  /** Closes the connection without a reply. */
  destroy(): void {
    this.#isOver = true;
    this.#socket.destroy();
    this.#closed();
  }

  pause(): void {
    this.#socket.pause();
  }

  /**
   * Serves the buffered requests, unless the client does not read its replies or the server stalls.
   */
  resume(): void {
    if (!this.#mayServe()) return;
    this.#serveAll();
    if (this.#mayServe()) this.#socket.resume();
  }

  #mayServe(): boolean {
    return !this.#isOver && !this.#host.isStalled && !this.#socket.writableNeedDrain;
  }

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    let bytes = chunk;
    if (this.#opening !== undefined) {
      bytes = Buffer.concat([this.#opening, chunk]);
      this.#opening = bytes.length < WORD_BYTES ? bytes : undefined;
      if (this.#opening !== undefined || this.#isWord(bytes)) return;
    }
    this.#frames.push(bytes);
    this.#serveAll();
    if (!this.#mayServe()) this.#socket.pause();
  }

  #isWord(bytes: Buffer): boolean {
    const answer = this.#host.answerWord(bytes.toString("latin1", 0, WORD_BYTES));
    if (answer === undefined) return false;
    this.#count("received");
    if (answer !== "hang-up") {
      this.#count("sent");
      this.#socket.write(answer.text);
    }
    this.#end();
    return true;
  }

  #serveAll(): void {
    try {
      while (this.#mayServe() && this.#frames.next(this.#reader)) {
        this.#count("received");
        if (this.#session === undefined) this.#shakeHands();
        else this.#serve(this.#session);
      }
    } catch (error) {
      if (!(error instanceof MalformedFrameError)) throw error;
      this.destroy();
    }
  }

  #shakeHands(): void {
    const { keeper } = this.#host;
    const request = readConnectRequest(this.#reader);
    const session = attach(keeper, request);
    if (session === "hang-up") return this.destroy();
    const { dialect } = keeper.options;
    const { resumesSessions, refusedWith } = dialect;
    const flags = { hasReadOnlyFlag: resumesSessions && request.hasReadOnlyFlag };
    const start = this.#writer.beginFrame();
    if (session === "not-active") {
      const protocolVersion = refusedWith ?? 0;
      writeConnectResponse(this.#writer, NOT_ACTIVE, { ...flags, protocolVersion });
    } else if (session === "expired") {
      writeConnectResponse(this.#writer, EXPIRED, flags);
    } else {
      session.connection = this;
      this.#session = session;
      clearTimeout(this.#idleTimer);
      const { id: sessionId, timeoutMs } = session;
      const password = resumesSessions ? session.password : EXPIRED.password;
      writeConnectResponse(this.#writer, { sessionId, timeoutMs, password }, flags);
    }
    this.#writer.endFrame(start);
    this.#wrote();
    if (session === "expired" || session === "not-active") this.#end();
  }

  #serve(session: Session): void {
    const { keeper } = this.#host;
    const xid = this.#reader.int();
    const opcode = this.#reader.int();
    const { dialect } = keeper.options;
    if (dialect.lacks(opcode)) return this.destroy();
    if (opcode === Opcode.auth) return this.#authenticate(xid);
    if (opcode === Opcode.sasl) return this.#logIn(xid);
    if (this.#host.requiresSasl && !this.#authentication.isSaslUser) {
      this.#reply(xid, NO_ZXID.sasl, ErrorCode.sessionClosedRequireSaslAuth);
      return this.#end();
    }
    // A request of an expired session gets no reply; the server is about to close the connection.
    if (!keeper.sessions.touch(session)) return;
    const answer = dispatch(keeper, this, opcode, this.#reader);
    if (opcode === Opcode.closeSession && !dialect.answersClose) return this.#end();
    if (answer === "hang-up") return this.destroy();
    if (answer === undefined) {
      this.#reply(xid, NO_ZXID.unknownOperation, ErrorCode.unimplemented);
      return this.#end();
    }
    this.traffic.noteReply(opcode, xid, answer.zxid);
    this.#reply(opcode === Opcode.ping ? Xid.ping : xid, answer.zxid, answer.err, answer.body);
    if (opcode === Opcode.closeSession) this.#end();
  }

  #authenticate(xid: number): void {
    this.#reader.int(); // always 0
    const scheme = this.#reader.string() ?? "";
    const { dialect } = this.#host.keeper.options;
    if (dialect.knowsScheme(scheme) && this.#authentication.add(scheme, this.#reader.buffer()))
      return this.#reply(xid, NO_ZXID.auth, 0);
    this.#host.traffic.authFailures++;
    this.#reply(xid, NO_ZXID.auth, ErrorCode.authFailed);
    this.#end();
  }

  #logIn(xid: number): void {
    const { err, token } = this.#authentication.sasl(this.#reader.buffer());
    // ZooKeeper sends the body behind an error too.
    this.#reply(xid, NO_ZXID.sasl, err, (writer) => writer.buffer(token));
    if (err === 0) return;
    this.#host.traffic.authFailures++;
    this.#end();
  }

  #reply(xid: number, zxid: bigint, err: number, body?: Body): void {
    if (this.#isOver) return;
    const start = this.#writer.beginFrame();
    this.#writer.int(xid);
    this.#writer.long(zxid);
    this.#writer.int(err);
    body?.(this.#writer);
    this.#writer.endFrame(start);
    this.#wrote();
  }

  #wrote(): void {
    this.#count("sent");
    if (this.#writer.length >= FLUSH_BYTES) this.#flush();
    else if (!this.#isFlushing) {
      this.#isFlushing = true;
      queueMicrotask(() => this.#flush());
    }
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#socket.destroyed || this.#writer.length === 0) return;
    this.#socket.write(this.#writer.take());
    if (this.#socket.writableLength > MAX_UNREAD_BYTES) this.destroy();
  }

  #count(way: "received" | "sent"): void {
    this.traffic[way]++;
    this.#host.traffic[way]++;
  }

  /** Closes the connection when all replies have been sent. */
  #end(): void {
    this.#flush();
    this.#isOver = true;
    this.#socket.destroySoon();
    // The existing timer is restarted: a second timer would keep the connection in memory for the
    // whole limit.
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#socket.destroy(), IDLE_LIMIT_MS).unref();
  }

  #closed(): void {
    clearTimeout(this.#idleTimer);
    this.#isOver = true;
    this.#host.keeper.watches.removeAll(this);
    if (this.#session?.connection === this) this.#session.connection = undefined;
    this.#host.forget(this);
  }
}
