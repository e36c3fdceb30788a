import { type JuteReader, JuteWriter, MalformedFrameError } from "../../../wire/jute.ts";
import { ErrorCode, Opcode } from "../../../wire/protocol.ts";
import { readMultiHeader, readResultCode } from "../../../wire/records.ts";
import type { Endpoint } from "../connecting/link.ts";
import { CongestionWindow } from "./congestion-window.ts";
import { type ReadBatches, writeBatch } from "./read-batches.ts";
import { type Failure, MAX_LOSSES, type Request } from "./request.ts";
import { Ring } from "./ring.ts";

/**
 * One write to the socket is at most about this long, so that a long queue does not become one huge
 * buffer.
 */
const FLIGHT_BYTES = 256 * 1024;
const MAX_XID = 0x7fffffff;

/**
 * The requests of a session: those that wait to be sent and those that wait for their answer, both
 * in order. Its ends take constant time, requests can be taken back, and all requests of a turn
 * leave in one buffer.
 */
export class RequestQueue {
  readonly window = new CongestionWindow();
  readonly batches: ReadBatches;
  readonly #queue = new Ring<Request>();
  readonly #inFlight = new Ring<Request>();
  readonly #writer = new JuteWriter();
  readonly #maxBytes: number;
  #lastXid: number;
  /** The request whose reply has just cost the connection. */
  #culprit: Request | undefined;

  /**
   * The first request gets the number after `lastXid`. A request of more than `maxBytes` is
   * refused.
   */
  constructor(batches: ReadBatches, lastXid = 0, maxBytes = Number.POSITIVE_INFINITY) {
    this.batches = batches;
    this.#lastXid = lastXid;
    this.#maxBytes = maxBytes;
  }

  get writer(): JuteWriter {
    return this.#writer;
  }

  /** How many requests have a caller that still waits for the answer, sent or not. */
  get awaited(): number {
    const isAwaited = (request: Request) => !request.cancelled && !request.abandoned;
    return this.#queue.count(isAwaited) + this.#inFlight.count(isAwaited);
  }

  get hasQueued(): boolean {
    return this.#queue.length > 0;
  }

  get oldestSentAt(): number | undefined {
    return this.#inFlight.peek()?.sentAt;
  }

  push(request: Request): void {
    this.#queue.push(request);
  }

  /** A server has accepted the session. */
  attach(timeoutMs: number, endpoint: Endpoint): void {
    this.window.attach(timeoutMs);
    this.batches.attach(endpoint);
  }

  /**
   * Writes waiting requests into the flight, as many as may be outstanding. With `onlyRepeatable`
   * it stops at the first request whose repetition would do harm, and sends every read alone,
   * because no server has answered yet.
   */
  load(now: number, { into = this.#writer, onlyRepeatable = false } = {}): void {
    while (this.canLoad && into.length < FLIGHT_BYTES) {
      const together = onlyRepeatable ? 1 : this.batches.ahead(this.#queue, this.#room);
      if (together > 1) {
        this.#writeTogether(into, together, now);
        continue;
      }
      const request = this.#queue.peek() as Request;
      const harmless =
        request.cancelled || request.isIdempotent || request.type === Opcode.closeSession;
      if (onlyRepeatable && !harmless) return;
      this.#queue.shift();
      if (!request.cancelled) this.#write(into, request, now);
    }
  }

  /** Writes a request into the flight past everything that waits, and past the window. */
  loadFirst(request: Request, now: number): void {
    this.#write(this.#writer, request, now);
  }

  /** Something waits, and the window has room for it. */
  get canLoad(): boolean {
    return this.#queue.length > 0 && this.#room > 0 && !this.batches.isFull;
  }

  /**
   * Requests wait and half of what may be under way is back: filling up reply by reply would cost a
   * system call each time.
   */
  get wantsRefill(): boolean {
    return (
      this.#queue.length > 0 &&
      this.#inFlight.length <= this.window.size / 2 &&
      this.batches.isHalfBack
    );
  }

  /**
   * Everything that has arrived has been handed out. If nothing is under way now, what was learned
   * may not hold for the next.
   */
  readOut(): void {
    if (this.#inFlight.length > 0 || this.#queue.length > 0) return;
    this.window.rest();
  }

  /**
   * The request that the next numbered reply answers, if `xid` is the right number; the first one
   * of a batch.
   */
  due(xid: number): Request | undefined {
    const request = this.#inFlight.peek();
    return request?.xid === xid ? request : undefined;
  }

  /** What the next numbered reply answers, if anything is on its way. */
  get next(): Request | undefined {
    return this.#inFlight.peek();
  }

  /**
   * The next reply is too long. Returns its request, which is no longer on its way, when that was
   * so before or there will be no other connection; the first time, and where several reads share
   * the reply, they are asked for again (each alone) with what else the connection has lost.
   */
  replyTooLong({ isLast }: { isLast: boolean }): Request | undefined {
    const { next } = this;
    this.#culprit = next;
    if (next === undefined || next.isShared) return undefined;
    if (next.isReplyTooLong || isLast) return this.#inFlight.shift();
    next.isReplyTooLong = true;
    return undefined;
  }

  /** The same, which is no longer on its way. */
  answered(xid: number): Request | undefined {
    return this.due(xid) && this.#inFlight.shift();
  }

  /**
   * A batch has been answered after `tookMs`: `settle` gets each read with its own error number, or
   * 0 and `body` where its answer begins.
   */
  takeApart(
    xid: number,
    tookMs: number,
    body: JuteReader,
    settle: (read: Request, code: number) => void,
  ): void {
    this.batches.returned();
    const bytes = body.remaining;
    let count = 0;
    try {
      for (let read = this.due(xid); read !== undefined; read = this.due(xid)) {
        const code = readResultCode(body, read.type);
        this.#inFlight.shift();
        settle(read, code);
        count++;
      }
      if (!readMultiHeader(body).done)
        throw new MalformedFrameError("a multiRead with too many results");
    } catch (error) {
      // What is left of it will be asked for again, and had better not fail in the same way.
      this.batches.refused();
      throw error;
    }
    this.batches.answered(tookMs);
    this.batches.learn(bytes, count);
  }

  /** The reads of a batch that has come back as a whole. */
  batchReturned(xid: number): Request[] {
    this.batches.returned();
    const reads: Request[] = [];
    for (let read = this.answered(xid); read !== undefined; read = this.answered(xid))
      reads.push(read);
    return reads;
  }

  /**
   * The server has refused a batch: its reads leave again, one by one. Behind a trial nothing was
   * sent; what was sent behind a later batch has overtaken its reads, but no server is known that
   * refuses one after it has answered another.
   */
  splitUp(xid: number): void {
    const reads = this.batchReturned(xid);
    for (const read of reads) read.sentAt = undefined;
    this.#queue.unshift(reads);
    this.batches.refused();
  }

  /**
   * Puts back what a broken connection left unanswered and may be repeated; returns the rest, whose
   * fate is unknown. Before there is a session nothing can have been executed, so everything may be
   * repeated.
   */
  connectionLost({ hadSession }: { hadSession: boolean }): Request[] {
    const repeatable: Request[] = [];
    const unknown: Request[] = [];
    const culprit = this.#culprit;
    this.#culprit = undefined;
    for (const request of this.#inFlight.drain()) {
      if (hadSession && (culprit === undefined || request.xid === culprit.xid)) request.losses++;
      const harmless = request.isIdempotent && !request.abandoned && request.losses < MAX_LOSSES;
      const again = harmless || request.notExecuted || !hadSession;
      request.notExecuted = false;
      if (again) request.sentAt = undefined;
      (again ? repeatable : unknown).push(request);
    }
    this.#queue.unshift(repeatable);
    this.#writer.take();
    this.batches.connectionLost();
    return unknown;
  }

  /**
   * Takes back an answered request that the server refused to execute: it leaves again on the next
   * connection. False when its caller has gone or it has been tried too often.
   */
  takeBack(request: Request): boolean {
    if (request.abandoned || request.losses + 1 >= MAX_LOSSES) return false;
    request.notExecuted = true;
    this.#inFlight.unshift([request]);
    return true;
  }

  /** Everything that will never be answered now. */
  drain(): Request[] {
    return [...this.#inFlight.drain(), ...this.#queue.drain()].filter(
      (request) => !request.cancelled,
    );
  }

  get #room(): number {
    return this.window.size - this.#inFlight.length;
  }

  #write(writer: JuteWriter, request: Request, now: number): void {
    const before = writer.length;
    try {
      this.#frame(writer, request.type, request.encode);
    } catch (cause) {
      // A value that the wire cannot carry is its caller's fault alone: the flight leaves without
      // it.
      writer.cutBack(before);
      return failLater([request], { code: ErrorCode.marshallingError, cause });
    }
    // Without its length prefix, as servers count.
    const bytes = writer.length - before - 4;
    if (bytes > this.#maxBytes) {
      writer.cutBack(before);
      const tooLarge = { bytes, limit: this.#maxBytes };
      return failLater([request], { code: ErrorCode.marshallingError, tooLarge });
    }
    this.#sent(request, now, writer.length - before, false);
  }

  /** Writes the first requests of the queue, all of them plain reads, as one multiRead. */
  #writeTogether(writer: JuteWriter, count: number, now: number): void {
    const reads: Request[] = [];
    for (let i = 0; i < count; i++) {
      const read = this.#queue.shift() as Request;
      if (!read.cancelled) reads.push(read);
    }
    if (reads.length === 0) return;
    const before = writer.length;
    this.#frame(writer, Opcode.multiRead, (body) => writeBatch(body, reads));
    for (const read of reads) this.#sent(read, now, writer.length - before, true);
    this.batches.sent();
  }

  #frame(writer: JuteWriter, opcode: number, write: (writer: JuteWriter) => void): void {
    const xid = this.#lastXid === MAX_XID ? 1 : this.#lastXid + 1;
    const frame = writer.beginFrame();
    writer.int(xid);
    writer.int(opcode);
    write(writer);
    writer.endFrame(frame);
    this.#lastXid = xid;
  }

  #sent(request: Request, now: number, bytes: number, isShared: boolean): void {
    request.xid = this.#lastXid;
    request.sentAt = now;
    request.isShared = isShared;
    request.bytes = bytes;
    this.#inFlight.push(request);
  }
}

/**
 * Tells requests that they failed: later, because a callback that tries again at once must find the
 * new state in place.
 */
export function failLater(requests: readonly Request[], failure: Failure): void {
  if (requests.length === 0) return;
  queueMicrotask(() => {
    for (const request of requests) request.callback(failure, null, 0n);
  });
}
