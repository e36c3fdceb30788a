import type { JuteReader, JuteWriter } from "../../../wire/jute.ts";
import { Opcode } from "../../../wire/protocol.ts";

/**
 * What broke this many connections is probably what breaks them (a request larger than
 * jute.maxbuffer, say).
 */
export const MAX_LOSSES = 3;

/**
 * What a failed request is told: a server's error number, or one of ours for a connection or
 * session that ended.
 */
export interface Failure {
  readonly code: number;
  /** With `marshallingError` from ourselves: which value the wire cannot carry. */
  readonly cause?: unknown;
  /** The reply was longer than the session accepts. */
  readonly tooLong?: ReplyLength;
  /** The request is longer than the session sends, and was not sent. */
  readonly tooLarge?: RequestLength;
}

export interface RequestLength {
  readonly bytes: number;
  readonly limit: number;
}

export interface ReplyLength {
  readonly bytes: number;
  readonly limit: number;
}

/** Called once: with a reader on the reply's body, or with a failure. */
export type Callback = (failure: Failure | null, body: JuteReader | null, zxid: bigint) => void;

/**
 * One request on its way. Its bytes are made by `encode`, straight into the flight's buffer, when
 * the request leaves.
 */
export class Request {
  readonly type: number;
  readonly encode: (writer: JuteWriter) => void;
  callback: Callback = () => {};
  xid = 0;
  /** When it was written; undefined while it waits in the queue. */
  sentAt: number | undefined;
  /** How long it is on the wire, once it was written. */
  bytes = 0;
  /** Connections that broke under it. */
  losses = 0;
  /** Given up by its caller while still in the queue: it will never be sent. */
  cancelled = false;
  /**
   * Given up by its caller after it was sent: its answer is still awaited, but it is not worth
   * repeating.
   */
  abandoned = false;

  /**
   * A reply was refused because of its length: it is asked for once more, in case it was garbage.
   */
  isReplyTooLong = false;
  /** A server has said that it did not execute it. */
  notExecuted = false;
  /** It left as one of several reads in a multiRead, under the same number as the others. */
  isShared = false;
  /** What it is about, for the trace. */
  readonly path: string;
  /** One that a multiRead can carry: getData or getChildren without a watch. */
  readonly isPlainRead: boolean;

  constructor(
    opcode: number,
    encode: (writer: JuteWriter) => void,
    path = "",
    isPlainRead = false,
  ) {
    this.type = opcode;
    this.encode = encode;
    this.path = path;
    this.isPlainRead = isPlainRead;
  }

  /**
   * Sending it twice has the same effect as sending it once, so it may be repeated when its reply
   * was lost.
   */
  get isIdempotent(): boolean {
    return IDEMPOTENT.has(this.type);
  }

  /** A session that has no other requests can be replaced by a new one. */
  get isHarmless(): boolean {
    return this.cancelled || this.isIdempotent || this.type === Opcode.closeSession;
  }

  /**
   * The reply may list names without a limit of the server's: data and everything else has one
   * (jute.maxbuffer).
   */
  get mayListNames(): boolean {
    return this.isShared || LISTINGS.has(this.type);
  }

  /** Only the leader can have answered it, though it may be a deposed one. */
  get isAnsweredByLeader(): boolean {
    return this.type === Opcode.sync || this.isWrite;
  }

  /** A quorum must have acknowledged it before it was answered. */
  get isWrite(): boolean {
    return WRITES.has(this.type);
  }
}

/**
 * Operations that become a transaction, also when they fail: a failure is committed like a success.
 */
const WRITES: ReadonlySet<number> = new Set([
  Opcode.create,
  Opcode.create2,
  Opcode.createContainer,
  Opcode.createTtl,
  Opcode.delete,
  Opcode.setData,
  Opcode.setAcl,
  Opcode.multi,
]);

const LISTINGS: ReadonlySet<number> = new Set([
  Opcode.getChildren,
  Opcode.getChildren2,
  Opcode.getEphemerals,
  Opcode.multiRead,
]);

const IDEMPOTENT: ReadonlySet<number> = new Set([
  Opcode.exists,
  Opcode.getData,
  Opcode.getAcl,
  Opcode.getChildren,
  Opcode.getChildren2,
  Opcode.sync,
  Opcode.multiRead,
  Opcode.removeWatches,
  Opcode.addWatch,
  Opcode.getEphemerals,
  Opcode.getAllChildrenNumber,
  Opcode.whoAmI,
]);
