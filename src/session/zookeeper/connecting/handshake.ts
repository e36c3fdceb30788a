import type { FrameReader } from "../../../wire/frames.ts";
import { JuteReader, JuteWriter, MalformedFrameError } from "../../../wire/jute.ts";
import { Opcode } from "../../../wire/protocol.ts";
import {
  type ConnectResponse,
  readConnectResponse,
  writeConnectRequest,
} from "../../../wire/records.ts";
import { errorName } from "../requests/error-codes.ts";
import type { SaslLogin } from "../sasl/sasl-login.ts";
import type { SessionParts } from "../session-parts.ts";
import {
  type ConnectFailure,
  refusedHandshake,
  strangerFailure,
  unknownProtocol,
} from "./connect-failures.ts";
import type { Endpoint, Link } from "./link.ts";

export const DEFAULT_TIMEOUT_MS = 30_000;
export const NO_SESSION = 0n;
/** How often a read that left together with its closeSession is tried again in a session of its own. */
const MAX_FRESH_STARTS = 2;

const PASSWORD_BYTES = 16;
const NO_PASSWORD = Buffer.alloc(PASSWORD_BYTES);

/** A handshake reply has 36 or 37 bytes, a refusal 16. Anything much longer is another protocol. */
export const MAX_HANDSHAKE_BYTES = 256;
const REPLY_HEADER_BYTES = 16;

/** How far the session has come that servers are asked for. */
export interface SessionProgress {
  readonly lastZxid: bigint;
  readonly isClosing: boolean;
}

/**
 * Ends a session that a server has opened in place of the one that was asked for, on a link that is
 * not the session's yet.
 */
export function closeSessionOn(link: Link): void {
  const writer = new JuteWriter();
  const frame = writer.beginFrame();
  writer.int(1);
  writer.int(Opcode.closeSession);
  writer.endFrame(frame);
  link.write(writer.take());
  link.end();
}

type HandshakeParts = Pick<
  SessionParts,
  "options" | "clock" | "releases" | "credentials" | "requests"
>;

/** What a session asks of each new server, and what servers have granted it so far. */
export class Handshake {
  readonly #parts: HandshakeParts;
  readonly #session: SessionProgress;
  #sentAt = 0;
  #sessionId = NO_SESSION;
  #password: Buffer;
  #isKeeper = false;
  #grantedTimeoutMs: number | undefined;
  /**
   * Sessions of read-only servers are known to them alone: none is carried over before a full
   * server has given one.
   */
  #hasMetReadWrite = false;
  /**
   * closeSession left together with the handshake: the session has no other purpose than the reads
   * between them.
   */
  #isOneFlight = false;
  #freshStarts = 0;

  constructor(parts: HandshakeParts, session: SessionProgress) {
    this.#parts = parts;
    this.#session = session;
    this.#password = this.#firstPassword;
  }

  /**
   * What a new session is asked for with. Apache ZooKeeper does not look at it; ClickHouse Keeper
   * may serve only clients that send its password, padded with zeros.
   */
  get #firstPassword(): Buffer {
    const { keeperPassword } = this.#parts.options;
    if (keeperPassword === undefined) return NO_PASSWORD;
    return Buffer.concat([keeperPassword, NO_PASSWORD], PASSWORD_BYTES);
  }

  /**
   * The server attached to is ClickHouse Keeper, where a session ends with its connection: it
   * resumes none, each handshake opens a new one.
   */
  get isKeeper(): boolean {
    return this.#isKeeper;
  }

  /** Zero until a server has given one, and again after {@link startOver}. */
  get sessionId(): bigint {
    return this.#sessionId;
  }

  /**
   * The session timeout to count on: the lowest that any server has granted; undefined before the
   * first. A new leader rebuilds sessions with the timeout they were created with, and a late
   * report of an earlier server carries its own.
   */
  get grantedTimeoutMs(): number | undefined {
    return this.#grantedTimeoutMs;
  }

  get hasMetServer(): boolean {
    return this.#grantedTimeoutMs !== undefined;
  }

  /**
   * When the last handshake left: the clock of a session that a server accepts with it starts there.
   */
  get sentAt(): number {
    return this.#sentAt;
  }

  /**
   * The first write on a new connection: the handshake and what may leave with it, which is the
   * first message of a login, or requests.
   */
  firstFlight(endpoint: Endpoint, login: SaslLogin | undefined): Buffer {
    this.#sentAt = this.#parts.clock.now();
    this.#parts.releases.greeting(endpoint);
    const { options } = this.#parts;
    const writer = new JuteWriter();
    const frame = writer.beginFrame();
    writeConnectRequest(writer, {
      lastZxidSeen: this.#session.lastZxid,
      // What was wished for, not what the last server granted: its lower limit must not stick.
      timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      sessionId: this.#hasMetReadWrite ? this.#sessionId : NO_SESSION,
      password: this.#password,
      readOnly: options.readOnly ?? false,
    });
    writer.endFrame(frame);
    if (login) login.load(writer);
    else if (!this.hasMetServer) this.#loadReads(writer);
    return writer.take();
  }

  /** The requests that waited have left with the end of the first login. */
  requestsLeft(): void {
    const { requests } = this.#parts;
    this.#isOneFlight = this.#session.isClosing && !requests.hasQueued && requests.sent.isHarmless;
  }

  /** True when the server has ended the session that was asked for. */
  isOver(response: ConnectResponse): boolean {
    return response.timeoutMs <= 0 || this.isAnotherSession(response);
  }

  /**
   * True when the server has opened another session than the one that was asked for: that one is
   * over.
   */
  isAnotherSession({ sessionId }: ConnectResponse): boolean {
    return this.#hasMetReadWrite && sessionId !== this.#sessionId;
  }

  accepted(response: ConnectResponse): void {
    const { timeoutMs, sessionId, password, readOnly } = response;
    this.#isKeeper = isKeeper(response);
    this.#grantedTimeoutMs = Math.min(this.#grantedTimeoutMs ?? timeoutMs, timeoutMs);
    this.#hasMetReadWrite ||= !readOnly;
    this.#sessionId = sessionId;
    this.#password = this.#isKeeper ? this.#firstPassword : password;
  }

  /**
   * The connection broke: a session of one flight is forgotten for a new one, a few times; true
   * when it was. Nothing was done in it but reading, and the server may have executed its
   * closeSession: the reads are as good in a new one.
   */
  startOver(): boolean {
    if (!this.#isOneFlight || this.#freshStarts++ >= MAX_FRESH_STARTS) return false;
    this.#grantedTimeoutMs = undefined;
    this.#hasMetReadWrite = false;
    this.#sessionId = NO_SESSION;
    this.#password = this.#firstPassword;
    return true;
  }

  /**
   * For a new session, reads that wait already (and a closeSession behind them) leave together with
   * the handshake: one round trip. Not writes: a server that has no quorum accepts connections and
   * drops them, and their fate would be unknown.
   */
  #loadReads(writer: JuteWriter): void {
    const { credentials, requests } = this.#parts;
    credentials.load(writer, this.#sentAt);
    requests.load(this.#sentAt, { into: writer, onlyRepeatable: true });
    this.#isOneFlight = this.#session.isClosing && !requests.hasQueued;
  }
}

/**
 * Apache ZooKeeper gives a random password, and repeats the read-only flag that we send; ClickHouse
 * Keeper gives zeros and no flag. So the handshake tells them apart, at no cost.
 */
function isKeeper({ hasReadOnlyFlag, password }: ConnectResponse): boolean {
  return !hasReadOnlyFlag && password.equals(NO_PASSWORD);
}

/** The server's first answer: a session, a refusal, or undefined while bytes are missing. */
export function firstReply(
  frames: FrameReader,
  received: readonly Buffer[],
): ConnectResponse | ConnectFailure | undefined {
  const reader = new JuteReader();
  frames.push(received.at(-1) as Buffer);
  try {
    if (!frames.next(reader)) return undefined;
    if (reader.remaining === REPLY_HEADER_BYTES) {
      reader.int();
      reader.long();
      const code = reader.int();
      return refusedHandshake(code, errorName(code));
    }
    const response = readConnectResponse(reader);
    return response.protocolVersion === 0 ? response : unknownProtocol(response.protocolVersion);
  } catch (error) {
    if (error instanceof MalformedFrameError) return strangerFailure(Buffer.concat(received));
    throw error;
  }
}
