import { type JuteReader, MalformedFrameError } from "../../../wire/jute.ts";
import { readMultiHeader, readResultCode } from "../../../wire/records.ts";
import type { ReadBatches } from "./read-batches.ts";
import { MAX_LOSSES, type Request } from "./request.ts";
import { Ring } from "./ring.ts";

/** The requests that were sent and wait for their answer, in order: the server keeps it. */
export class SentRequests {
  readonly #batches: ReadBatches;
  readonly #sent = new Ring<Request>();
  /** The request whose reply has just cost the connection. */
  #culprit: Request | undefined;

  constructor(batches: ReadBatches) {
    this.#batches = batches;
  }

  get length(): number {
    return this.#sent.length;
  }

  get oldestSentAt(): number | undefined {
    return this.#sent.peek()?.sentAt;
  }

  /** How many of them are `wanted`. */
  count(wanted: (request: Request) => boolean): number {
    return this.#sent.count(wanted);
  }

  /** Nothing but reads is on its way, and closeSession. */
  get isHarmless(): boolean {
    return this.count((request) => !request.isHarmless) === 0;
  }

  push(request: Request): void {
    this.#sent.push(request);
  }

  /**
   * The request that the next numbered reply answers, if `xid` is the right number; the first one
   * of a batch.
   */
  due(xid: number): Request | undefined {
    const request = this.#sent.peek();
    return request?.xid === xid ? request : undefined;
  }

  /** What the next numbered reply answers, if anything is on its way. */
  get next(): Request | undefined {
    return this.#sent.peek();
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
    if (next.isReplyTooLong || isLast) return this.#sent.shift();
    next.isReplyTooLong = true;
    return undefined;
  }

  /** As {@link due}; it is no longer on its way. */
  answered(xid: number): Request | undefined {
    return this.due(xid) && this.#sent.shift();
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
    this.#batches.returned();
    const bytes = body.remaining;
    let count = 0;
    try {
      for (let read = this.due(xid); read !== undefined; read = this.due(xid)) {
        const code = readResultCode(body, read.type);
        this.#sent.shift();
        settle(read, code);
        count++;
      }
      if (!readMultiHeader(body).done)
        throw new MalformedFrameError("a multiRead with too many results");
    } catch (error) {
      // What is left of it will be asked for again, and had better not fail in the same way.
      this.#batches.refused();
      throw error;
    }
    this.#batches.answered(tookMs);
    this.#batches.learn(bytes, count);
  }

  /** The reads of a batch that has come back as a whole. */
  batchReturned(xid: number): Request[] {
    this.#batches.returned();
    const reads: Request[] = [];
    for (let read = this.answered(xid); read !== undefined; read = this.answered(xid))
      reads.push(read);
    return reads;
  }

  /**
   * The connection broke: takes out what was left unanswered. Before there is a session nothing can
   * have been executed, so everything may be repeated.
   */
  connectionLost({ hadSession }: { hadSession: boolean }): {
    readonly repeatable: Request[];
    /** May not be repeated, for their fate is unknown. */
    readonly unknown: Request[];
  } {
    const repeatable: Request[] = [];
    const unknown: Request[] = [];
    const culprit = this.#culprit;
    this.#culprit = undefined;
    for (const request of this.#sent.drain()) {
      if (hadSession && (culprit === undefined || request.xid === culprit.xid)) request.losses++;
      const harmless = request.isIdempotent && !request.abandoned && request.losses < MAX_LOSSES;
      const again = harmless || request.notExecuted || !hadSession;
      request.notExecuted = false;
      if (again) request.sentAt = undefined;
      (again ? repeatable : unknown).push(request);
    }
    return { repeatable, unknown };
  }

  /**
   * Takes back an answered request that the server refused to execute: it leaves again on the next
   * connection. False when its caller has gone or it has been tried too often.
   */
  takeBack(request: Request): boolean {
    if (request.abandoned || request.losses + 1 >= MAX_LOSSES) return false;
    request.notExecuted = true;
    this.#sent.unshift([request]);
    return true;
  }

  /** Takes them all out. */
  drain(): Request[] {
    return this.#sent.drain();
  }
}
