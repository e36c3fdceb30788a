/** One client's connection: bytes in, requests served one after the other, bytes out. */
import type { Socket } from "node:net";
import { FrameReader } from "../wire/frames.ts";
import { JuteReader, JuteWriter, MalformedFrameError } from "../wire/jute.ts";
import { ErrorCode, Opcode, SYNC_CONNECTED, Xid } from "../wire/protocol.ts";
import { type AclRecord, readConnectRequest, writeConnectResponse } from "../wire/records.ts";
import { type AuthIdentity, authenticate, isPermitted, Perm } from "./access.ts";
import { dispatch } from "./dispatch.ts";
import type { Body, RequestSource } from "./handler.ts";
import { attach } from "./handshake.ts";
import type { ServerState } from "./server-state.ts";
import type { Session } from "./sessions.ts";
import { ConnectionTraffic, type TrafficCounters } from "./traffic-counters.ts";

/** What a connection needs of the server. */
export interface Host {
  readonly keeper: ServerState;
  readonly traffic: TrafficCounters;
  readonly maxRequestBytes: number;
  /** Nothing is read for now. */
  readonly isStalled: boolean;
  /** The answer to a four-letter word; undefined when it is none. */
  answerWord(word: string): string | undefined;
  forget(connection: Connection): void;
}

/**
 * A client that sends no handshake, or does not close after its session has ended, is
 * disconnected after this time.
 */
const IDLE_LIMIT_MS = 10_000;
const WORD_BYTES = 4;
/**
 * Replies are handed to the socket when there are this many bytes of them; otherwise once a turn.
 */
const FLUSH_BYTES = 256 << 10;
/** A client that leaves this much unread will not get any more. */
const MAX_UNREAD_BYTES = 64 << 20;
const EXPIRED = { timeoutMs: 0, sessionId: 0n, password: Buffer.alloc(16) };
/** Of replies that no transaction stands behind. */
const NO_ZXID = { auth: 0n, event: -1n, unknownOperation: -1n } as const;

export class Connection implements RequestSource {
  readonly traffic = new ConnectionTraffic();
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #identities: AuthIdentity[];
  readonly #host: Host;
  readonly #socket: Socket;
  readonly #frames: FrameReader;
  readonly #reader = new JuteReader();
  readonly #writer = new JuteWriter();
  #idleTimer: NodeJS.Timeout;
  /** What has come as long as it can still be a four-letter word. */
  #opening: Buffer | undefined = Buffer.alloc(0);
  #session: Session | undefined;
  #isFlushing = false;
  /** Nothing more is served: it is being closed, or is closed. */
  #isOver = false;

  constructor(host: Host, socket: Socket) {
    this.#host = host;
    this.#socket = socket;
    // A client of a socket in the file system has no address; it is on this machine.
    this.remoteAddress = (socket.remoteAddress ?? "127.0.0.1").replace(/^::ffff:/, "");
    this.remotePort = socket.remotePort ?? 0;
    this.#identities = [{ scheme: "ip", id: this.remoteAddress }];
    this.#frames = new FrameReader(host.maxRequestBytes);
    this.#idleTimer = setTimeout(() => this.destroy(), IDLE_LIMIT_MS).unref();
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("drain", () => this.resume());
    socket.on("error", () => {});
    socket.on("close", () => this.#closed());
    if (host.isStalled) socket.pause();
  }

  get identities(): readonly AuthIdentity[] {
    return this.#identities;
  }

  get session(): Session {
    if (this.#session === undefined) throw new Error("a request before the handshake");
    return this.#session;
  }

  /** Undefined before the handshake. */
  get attachedSession(): Session | undefined {
    return this.#session;
  }

  /** A watched znode has changed. */
  notify(type: number, path: string, acl: readonly AclRecord[]): void {
    if (!isPermitted(acl, Perm.read, this.#identities)) return;
    this.#reply(Xid.notification, NO_ZXID.event, 0, (writer) => {
      writer.int(type);
      writer.int(SYNC_CONNECTED);
      writer.string(path);
    });
  }

  /** Hangs up without another word. */
  destroy(): void {
    this.#isOver = true;
    this.#socket.destroy();
    this.#closed();
  }

  pause(): void {
    this.#socket.pause();
  }

  /**
   * Goes on with what has been left lying, as far as the client takes answers and the server works.
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
    this.#count("sent");
    this.#socket.write(answer);
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
    const start = this.#writer.beginFrame();
    if (session === "expired") {
      writeConnectResponse(this.#writer, EXPIRED, request);
    } else {
      session.connection = this;
      this.#session = session;
      clearTimeout(this.#idleTimer);
      const { id: sessionId, timeoutMs, password } = session;
      writeConnectResponse(this.#writer, { sessionId, timeoutMs, password }, request);
    }
    this.#writer.endFrame(start);
    this.#wrote();
    if (session === "expired") this.#end();
  }

  #serve(session: Session): void {
    const { keeper } = this.#host;
    const xid = this.#reader.int();
    const opcode = this.#reader.int();
    if (opcode === Opcode.auth) return this.#authenticate(xid);
    // A request in a session that is over has no answer; the connection is about to be closed.
    if (!keeper.sessions.touch(session)) return;
    const answer = dispatch(keeper, this, opcode, this.#reader);
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
    const identity = authenticate(scheme, this.#reader.buffer(), this.remoteAddress);
    if (identity === undefined) {
      this.#host.traffic.authFailures++;
      this.#reply(xid, NO_ZXID.auth, ErrorCode.authFailed);
      return this.#end();
    }
    const isKnown = this.#identities.some(
      (known) => known.scheme === identity.scheme && known.id === identity.id,
    );
    if (!isKnown) this.#identities.push(identity);
    this.#reply(xid, NO_ZXID.auth, 0);
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

  /** Closes when everything has been sent. */
  #end(): void {
    this.#flush();
    this.#isOver = true;
    this.#socket.destroySoon();
    // Not a timer of its own: what it refers to would outlive the connection by the whole limit.
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
