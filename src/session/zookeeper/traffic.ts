import { JuteWriter } from "../../wire/jute.ts";
import { ErrorCode, Opcode } from "../../wire/protocol.ts";
import type { Instant } from "./liveness.ts";
import type { Callback, Failure, Request } from "./request.ts";
import { Ring } from "./ring.ts";
import { Window } from "./window.ts";

/** One write to the socket is at most about this long, so that a long queue does not become one huge buffer. */
const FLIGHT_BYTES = 256 * 1024;
const MAX_XID = 0x7fffffff;
/** A request that broke this many connections is probably what breaks them (larger than jute.maxbuffer, say). */
const MAX_LOSSES = 3;

/**
 * The requests of a session: those that wait to be sent and those that wait for their answer, both in order.
 * It stands in for the package's packet queue, which it improves on in three ways: constant-time ends, requests that can be
 * taken back, and one buffer for all requests of a turn.
 */
export class Traffic {
  readonly window = new Window();
  readonly #queue = new Ring<Request>();
  readonly #inFlight = new Ring<Request>();
  readonly #writer = new JuteWriter();
  readonly #onQueued: () => void;
  #lastXid: number;

  /** The first request gets the number after `lastXid`. */
  constructor(onQueued: () => void, lastXid = 0) {
    this.#onQueued = onQueued;
    this.#lastXid = lastXid;
  }

  get writer(): JuteWriter {
    return this.#writer;
  }

  /** Requests whose answer somebody still waits for, sent or not. */
  get awaited(): number {
    const isAwaited = (request: Request) => !request.cancelled && !request.abandoned;
    return this.#queue.count(isAwaited) + this.#inFlight.count(isAwaited);
  }

  get hasQueued(): boolean {
    return this.#queue.length > 0;
  }

  get inFlight(): number {
    return this.#inFlight.length;
  }

  get oldestSentAt(): Instant | undefined {
    return this.#inFlight.peek()?.sentAt;
  }

  /** The package's queue() hands requests over in this shape. */
  push({ request, callback }: { request: object; callback: unknown }): void {
    const queued = request as Request;
    queued.callback = callback as Callback;
    this.#queue.push(queued);
    this.#onQueued();
  }

  /**
   * Writes waiting requests into the flight, as many as may be outstanding. With `onlyRepeatable` it stops at the first
   * request whose repetition would do harm.
   */
  load(now: Instant, { into = this.#writer, onlyRepeatable = false } = {}): void {
    while (this.canLoad && into.length < FLIGHT_BYTES) {
      const request = this.#queue.peek() as Request;
      const harmless = request.cancelled || request.isIdempotent || request.type === Opcode.closeSession;
      if (onlyRepeatable && !harmless) return;
      this.#queue.shift();
      if (!request.cancelled) this.#write(into, request, now);
    }
  }

  /** Writes a request into the flight past everything that waits, and past the window. */
  loadFirst(request: Request, now: Instant): void {
    this.#write(this.#writer, request, now);
  }

  /** Something waits, and the window has room for it. */
  get canLoad(): boolean {
    return this.#queue.length > 0 && this.#inFlight.length < this.window.size;
  }

  /** Requests wait and half the window is free: filling it up reply by reply would cost a system call each time. */
  get wantsRefill(): boolean {
    return this.#queue.length > 0 && this.#inFlight.length <= this.window.size / 2;
  }

  /** The request that the next numbered reply answers, if `xid` is the right number. */
  answered(xid: number): Request | undefined {
    if (this.#inFlight.peek()?.xid !== xid) return undefined;
    return this.#inFlight.shift();
  }

  /**
   * Puts back what a broken connection left unanswered and may be repeated; returns the rest, whose fate is unknown.
   * Before there is a session nothing can have been executed, so everything may be repeated.
   */
  connectionLost({ hadSession }: { hadSession: boolean }): Request[] {
    const repeatable: Request[] = [];
    const unknown: Request[] = [];
    for (const request of this.#inFlight.drain()) {
      if (hadSession) request.losses++;
      const harmless = request.isIdempotent && !request.abandoned && request.losses < MAX_LOSSES;
      const again = harmless || request.notExecuted || !hadSession;
      request.notExecuted = false;
      if (again) request.sentAt = undefined;
      (again ? repeatable : unknown).push(request);
    }
    this.#queue.unshift(repeatable);
    this.#writer.take();
    return unknown;
  }

  /**
   * Takes back an answered request that the server refused to execute: it leaves again on the next connection.
   * False when its caller has gone or it has been tried too often.
   */
  takeBack(request: Request): boolean {
    if (request.abandoned || request.losses + 1 >= MAX_LOSSES) return false;
    request.notExecuted = true;
    this.#inFlight.unshift([request]);
    return true;
  }

  /** Everything that will never be answered now. */
  drain(): Request[] {
    return [...this.#inFlight.drain(), ...this.#queue.drain()].filter((request) => !request.cancelled);
  }

  #write(writer: JuteWriter, request: Request, now: Instant): void {
    const before = writer.length;
    const xid = this.#lastXid === MAX_XID ? 1 : this.#lastXid + 1;
    try {
      const frame = writer.beginFrame();
      writer.int(xid);
      writer.int(request.type);
      request.encode(writer);
      writer.endFrame(frame);
    } catch (cause) {
      // A value that the wire cannot carry is its caller's fault alone: the flight leaves without it.
      writer.cutBack(before);
      return failLater([request], { code: ErrorCode.marshallingError, cause });
    }
    this.#lastXid = xid;
    request.xid = xid;
    request.sentAt = now;
    request.bytes = writer.length - before;
    this.#inFlight.push(request);
  }
}

/** Tells requests that they failed: later, because a callback that tries again at once must find the new state in place. */
export function failLater(requests: readonly Request[], failure: Failure): void {
  if (requests.length === 0) return;
  queueMicrotask(() => {
    for (const request of requests) request.callback(failure, null, 0n);
  });
}
