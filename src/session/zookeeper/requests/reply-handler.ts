import type { PermissionError } from "../../../errors.ts";
import type { JuteReader } from "../../../wire/jute.ts";
import { ErrorCode, Opcode, opcodeName } from "../../../wire/protocol.ts";
import type { ConnectFailure } from "../connecting/connect-failures.ts";
import { authFailed, expired, type Loss, loginFailed } from "../lifetime/loss.ts";
import { loginRequired, type SaslLogin } from "../sasl/sasl-login.ts";
import type { SessionParts } from "../session-parts.ts";
import { errorName } from "./error-codes.ts";
import { sessionErrorOf } from "./multi.ts";
import { refusesBatches } from "./read-batches.ts";
import type { ReplyReaderEvents } from "./reply-reader.ts";
import type { Request } from "./request.ts";
import { failLater } from "./request-queue.ts";

/**
 * Servers limit data to jute.maxbuffer (1 MB), listings not at all: five million names of 20
 * characters have 120 MB.
 */
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const MAX_LISTING_BYTES = 128 * 1024 * 1024;

/** What replies can mean for the connection and for the session. */
export interface ReplyOutcomes {
  /** No other connection will follow this one. */
  readonly isClosing: boolean;
  /** The server has answered something after its handshake. */
  serverAnswered(): void;
  dropLink(why: ConnectFailure): void;
  end(loss: Loss): void;
  /** The server has proved itself in the login, and the session is logged in. */
  loggedIn(): void;
}

/** Gives each reply to its request, and tells the session what else follows from it. */
export class ReplyHandler implements ReplyReaderEvents {
  readonly #parts: SessionParts;
  readonly #outcomes: ReplyOutcomes;

  constructor(parts: SessionParts, outcomes: ReplyOutcomes) {
    this.#parts = parts;
    this.#outcomes = outcomes;
  }

  event(type: number, path: string): void {
    this.#parts.watches.dispatch(type, path);
  }

  ping(): void {
    this.#outcomes.serverAnswered();
    this.#parts.writer.pingAnswered();
  }

  auth(code: number): void {
    this.#outcomes.serverAnswered();
    if (this.#parts.credentials.answered(code).isFatal) this.#outcomes.end(authFailed(code));
  }

  loggedIn(login: SaslLogin, failure: PermissionError | undefined): void {
    const { options, writer } = this.#parts;
    options.trace?.(`SASL ${login.what} -> ${failure === undefined ? "ok" : failure.reason}`);
    if (failure === undefined) return this.#outcomes.loggedIn();
    // A server that goes on has a session that nothing else would end before its timeout.
    writer.closeSession();
    this.#outcomes.end(loginFailed(failure));
  }

  loginRequired(): void {
    const server = this.#parts.writer.link?.endpoint.address ?? "the server";
    this.#outcomes.end(loginFailed(loginRequired(server)));
  }

  watchesSet(code: number): void {
    const isDue = this.#parts.reregistration.answered({ isSet: code === 0 });
    if (isDue && code !== 0) this.#drop(`the server did not set the watches (${errorName(code)})`);
  }

  readOut(): void {
    this.#parts.writer.refill();
  }

  maxReplyBytes(): number {
    const { options, requests } = this.#parts;
    const usual = requests.sent.next?.mayListNames ? MAX_LISTING_BYTES : MAX_REPLY_BYTES;
    return options.maxReplyBytes ?? usual;
  }

  /**
   * The rest of the connection would be the reply that is not read: the session goes on with
   * another connection.
   */
  oversized(bytes: number, limit: number): void {
    const request = this.#parts.requests.sent.replyTooLong({ isLast: this.#outcomes.isClosing });
    this.garbage(`a frame of ${bytes} bytes`);
    const failure = { code: ErrorCode.marshallingError, tooLong: { bytes, limit } };
    if (request) failLater([request], failure);
  }

  garbage(what: string): void {
    this.#drop(`the server sent garbage: ${what}`);
  }

  reply(xid: number, zxid: bigint, headerCode: number, body: JuteReader, heardAt: number): void {
    const { requests } = this.#parts;
    const request = requests.sent.due(xid);
    if (request === undefined)
      return this.#drop(`the server answered request ${xid}, which is not due`);
    const isMulti = request.type === Opcode.multi && headerCode === 0;
    const code = isMulti ? sessionErrorOf(body.fork()) : headerCode;
    this.#outcomes.serverAnswered();
    if (code === 0) this.#noteAnswer(request);
    if (request.isShared) return this.#handleBatch(request, zxid, code, body, heardAt);
    requests.sent.answered(xid);
    if (request.isPlainRead) requests.batches.learn(body.remaining, 1);
    this.#noteReply(request, code, heardAt);
    // It came through a server that the session has left, and was not executed.
    if (code === ErrorCode.sessionMoved && (request.abandoned || requests.sent.takeBack(request))) {
      if (request.abandoned) request.callback({ code }, null, zxid);
      return this.#drop("the session has moved to another server");
    }
    if (code === ErrorCode.sessionExpired) this.#outcomes.end(expired("the server has expired it"));
    request.callback(code === 0 ? null : { code }, code === 0 ? body : null, zxid);
  }

  /** Reads that left together: each gets its own part of the answer, as if it had been alone. */
  #handleBatch(
    { xid, sentAt }: Request,
    zxid: bigint,
    code: number,
    body: JuteReader,
    heardAt: number,
  ): void {
    const { requests, options } = this.#parts;
    if (code === ErrorCode.sessionExpired)
      return this.#outcomes.end(expired("the server has expired it"));
    if (code === ErrorCode.sessionMoved)
      return this.#drop("the session has moved to another server");
    if (refusesBatches(code)) {
      options.trace?.(`multiRead -> ${errorName(code)}: the same reads one by one`);
      return requests.splitUp(xid);
    }
    if (code !== 0) {
      for (const read of requests.sent.batchReturned(xid)) {
        this.#noteReply(read, code, heardAt);
        read.callback({ code }, null, zxid);
      }
      return;
    }
    const tookMs = heardAt - (sentAt ?? 0);
    requests.sent.takeApart(xid, tookMs, body, (read, itsCode) => {
      this.#noteReply(read, itsCode, heardAt);
      read.callback(itsCode === 0 ? null : { code: itsCode }, itsCode === 0 ? body : null, zxid);
    });
  }

  /**
   * Only successes count: some failures (a throttled request, say) are answered without the leader.
   * A multi of which an operation failed comes as a success, and was committed like one.
   */
  #noteAnswer({ sentAt, isAnsweredByLeader: byLeader, isWrite: isCommitted }: Request): void {
    if (sentAt !== undefined) this.#parts.liveness.answered(sentAt, { byLeader, isCommitted });
  }

  #noteReply({ type, path, sentAt }: Request, code: number, heardAt: number): void {
    if (sentAt === undefined) return;
    const { requests, options, liveness } = this.#parts;
    requests.window.answered(sentAt, heardAt);
    if (options.trace === undefined) return;
    const took = (liveness.now() - sentAt).toFixed(1);
    options.trace(
      `${opcodeName(type)} ${path} -> ${code === 0 ? "ok" : errorName(code)} in ${took} ms`,
    );
  }

  #drop(says: string): void {
    this.#outcomes.dropLink({ says, kind: "transient" });
  }
}
