import type { JuteReader, JuteWriter } from "../../wire/jute.ts";
import { Opcode } from "../../wire/protocol.ts";
import type { Instant } from "./liveness.ts";

/** What broke this many connections is probably what breaks them (a request larger than jute.maxbuffer, say). */
export const MAX_LOSSES = 3;

/** What a failed request is told: a server's error number, or one of ours for a connection or session that ended. */
export interface Failure {
  readonly code: number;
  /** With `marshallingError` from ourselves: which value the wire cannot carry. */
  readonly cause?: unknown;
}

/** Called once: with a reader on the reply's body, or with a failure. */
export type Callback = (failure: Failure | null, body: JuteReader | null, zxid: bigint) => void;

/**
 * One request on its way. `header` and `payload` are what the package's queue looks at; the bytes are made by `encode`,
 * straight into the flight's buffer, when the request leaves.
 */
export class Request {
  readonly type: number;
  readonly payload = null;
  readonly encode: (writer: JuteWriter) => void;
  callback: Callback = () => {};
  xid = 0;
  /** When it was written; undefined while it waits in the queue. */
  sentAt: Instant | undefined;
  /** How long it is on the wire, once it was written. */
  bytes = 0;
  /** Connections that broke under it. */
  losses = 0;
  /** Given up by its caller while still in the queue: it will never be sent. */
  cancelled = false;
  /** Given up by its caller after it was sent: its answer is still awaited, but it is not worth repeating. */
  abandoned = false;

  /** A server has said that it did not execute it. */
  notExecuted = false;
  /** It left as one of several reads in a multiRead, under the same number as the others. */
  isShared = false;
  /** What it is about, for the trace. */
  readonly path: string;
  /** One that a multiRead can carry: getData or getChildren without a watch. */
  readonly isPlainRead: boolean;

  constructor(opcode: number, encode: (writer: JuteWriter) => void, path = "", isPlainRead = false) {
    this.type = opcode;
    this.encode = encode;
    this.path = path;
    this.isPlainRead = isPlainRead;
  }

  /** The package looks for the opcode in here; another object for every request would be waste. */
  get header(): { readonly type: number } {
    return this;
  }

  /** Sending it twice has the same effect as sending it once, so it may be repeated when its reply was lost. */
  get isIdempotent(): boolean {
    return IDEMPOTENT.has(this.type);
  }

  /** Only the leader can have answered it. */
  get isAnsweredByLeader(): boolean {
    return BY_LEADER.has(this.type);
  }
}

/** Operations that a follower cannot answer by itself: their answers come from the leader. */
const BY_LEADER: ReadonlySet<number> = new Set([
  Opcode.sync,
  Opcode.create,
  Opcode.create2,
  Opcode.createContainer,
  Opcode.createTtl,
  Opcode.delete,
  Opcode.setData,
  Opcode.setAcl,
  Opcode.multi,
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
