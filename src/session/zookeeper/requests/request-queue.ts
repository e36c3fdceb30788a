import { JuteWriter } from "../../../wire/jute.ts";
import { ErrorCode, Opcode } from "../../../wire/protocol.ts";
import type { Endpoint } from "../connecting/link.ts";
import { CongestionWindow } from "./congestion-window.ts";
import { type ReadBatches, writeBatch } from "./read-batches.ts";
import type { Failure, Request } from "./request.ts";
import { Ring } from "./ring.ts";
import { SentRequests } from "./sent-requests.ts";

/**
 * One write to the socket is at most about this long, so that a long queue does not become one huge
 * buffer.
 */
const FLIGHT_BYTES = 256 * 1024;
const MAX_XID = 0x7fffffff;

/**
 * The requests of a session that wait to be sent, in order; {@link SentRequests} has those that wait
 * for their answer. Its ends take constant time, requests can be taken back, and all requests of a
 * turn leave in one buffer.
 */
export class RequestQueue {
  readonly window = new CongestionWindow();
  readonly batches: ReadBatches;
  readonly sent: SentRequests;
  readonly #queue = new Ring<Request>();
  readonly #writer = new JuteWriter();
  readonly #maxBytes: number;
  #lastXid: number;

  /**
   * The first request gets the number after `lastXid`. A request of more than `maxBytes` is
   * refused.
   */
  constructor(batches: ReadBatches, lastXid = 0, maxBytes = Number.POSITIVE_INFINITY) {
    this.batches = batches;
    this.sent = new SentRequests(batches);
    this.#lastXid = lastXid;
    this.#maxBytes = maxBytes;
  }

  get writer(): JuteWriter {
    return this.#writer;
  }

  /** How many requests have a caller that still waits for the answer, sent or not. */
  get awaited(): number {
    const isAwaited = (request: Request) => !request.cancelled && !request.abandoned;
    return this.#queue.count(isAwaited) + this.sent.count(isAwaited);
  }

  get hasQueued(): boolean {
    return this.#queue.length > 0;
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
      if (onlyRepeatable && !request.isHarmless) return;
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
      this.#queue.length > 0 && this.sent.length <= this.window.size / 2 && this.batches.isHalfBack
    );
  }

  /**
   * Everything that has arrived has been handed out. If nothing is under way now, what was learned
   * may not hold for the next.
   */
  readOut(): void {
    if (this.sent.length > 0 || this.#queue.length > 0) return;
    this.window.rest();
  }

  /**
   * The server has refused a batch: its reads leave again, one by one. Behind a trial nothing was
   * sent; what was sent behind a later batch has overtaken its reads, but no server is known that
   * refuses one after it has answered another.
   */
  splitUp(xid: number): void {
    const reads = this.sent.batchReturned(xid);
    for (const read of reads) read.sentAt = undefined;
    this.#queue.unshift(reads);
    this.batches.refused();
  }

  /**
   * Puts back what a broken connection left unanswered and may be repeated; returns the rest, whose
   * fate is unknown.
   */
  connectionLost({ hadSession }: { hadSession: boolean }): Request[] {
    const { repeatable, unknown } = this.sent.connectionLost({ hadSession });
    this.#queue.unshift(repeatable);
    this.#writer.take();
    this.batches.connectionLost();
    return unknown;
  }

  /** Everything that will never be answered now. */
  drain(): Request[] {
    return [...this.sent.drain(), ...this.#queue.drain()].filter((request) => !request.cancelled);
  }

  get #room(): number {
    return this.window.size - this.sent.length;
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
    this.#noteSent(request, now, writer.length - before, false);
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
    for (const read of reads) this.#noteSent(read, now, writer.length - before, true);
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

  #noteSent(request: Request, now: number, bytes: number, isShared: boolean): void {
    request.xid = this.#lastXid;
    request.sentAt = now;
    request.isShared = isShared;
    request.bytes = bytes;
    this.sent.push(request);
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
