import type { PermissionError } from "../../../errors.ts";
import { type FrameReader, OversizedFrameError } from "../../../wire/frames.ts";
import { JuteReader, MalformedFrameError } from "../../../wire/jute.ts";
import { ErrorCode, Xid } from "../../../wire/protocol.ts";
import type { SaslLogin } from "../sasl/sasl-login.ts";

export interface ReplyReaderEvents {
  /** `heardAt` is when its bytes came. */
  reply(xid: number, zxid: bigint, code: number, body: JuteReader, heardAt: number): void;
  event(type: number, path: string): void;
  ping(): void;
  auth(code: number): void;
  /** The login has been answered: with a proof, or with what is wrong about it. */
  loggedIn(login: SaslLogin, failure: PermissionError | undefined): void;
  /** The server requires a login; it has closed the connection. */
  loginRequired(): void;
  /** A setWatches request has been answered. */
  watchesSet(code: number): void;
  /** Everything that has arrived has been handed out, for now. */
  readOut(): void;
  /** How long the next reply may be. */
  maxReplyBytes(): number;
  /** The next reply is longer than that; nothing of it was read. */
  oversized(bytes: number, limit: number): void;
  garbage(what: string): void;
}

/**
 * What a server sends on one connection, handed out strictly in its order. A reply settles a
 * promise, and the code that awaits it runs only when this turn is over; an event that came behind
 * the reply must not reach its listener before that.
 */
export class ReplyReader {
  readonly #events: ReplyReaderEvents;
  readonly #reader = new JuteReader();
  #frames: FrameReader | undefined;
  #lastZxid = 0n;
  /** When the bytes came that are being read. */
  #heardAt = 0;
  #repliesUnread = false;
  /** Its answer stands in front of all others. */
  #login: SaslLogin | undefined;
  #heldEvent: { type: number; path: string } | undefined;

  constructor(events: ReplyReaderEvents) {
    this.#events = events;
  }

  /** The highest that any reply has carried; events carry none. */
  get lastZxid(): bigint {
    return this.#lastZxid;
  }

  /**
   * Reads from a new connection, which may have brought frames already. Before the answer to
   * `login` nothing is believed.
   */
  attach(frames: FrameReader, login: SaslLogin | undefined): void {
    this.#frames = frames;
    this.#login = login;
    this.#heldEvent = undefined;
    this.#repliesUnread = false;
    this.#read();
  }

  /** Forgets the connection and the bytes it sent last. */
  detach(): void {
    this.#frames = undefined;
    this.#heldEvent = undefined;
  }

  received(chunk: Buffer, now: number): void {
    this.#heardAt = now;
    this.#frames?.push(chunk);
    if (this.#heldEvent !== undefined) return;
    // A new chunk is a new turn: code that awaited the replies of the last one has run.
    this.#repliesUnread = false;
    this.#read();
  }

  #read(): void {
    try {
      while (this.#heldEvent === undefined && this.#next()) this.#handle(this.#reader);
    } catch (error) {
      if (!(error instanceof MalformedFrameError)) throw error;
      if (error instanceof OversizedFrameError) this.#events.oversized(error.length, error.limit);
      else this.#events.garbage(error.message);
    }
    this.#events.readOut();
  }

  #next(): boolean {
    if (this.#frames === undefined) return false;
    this.#frames.maxLength = this.#events.maxReplyBytes();
    return this.#frames.next(this.#reader);
  }

  #handle(reader: JuteReader): void {
    const xid = reader.int();
    const zxid = reader.long();
    const code = reader.int();
    const login = this.#login;
    if (login !== undefined) {
      if (xid !== Xid.sasl) return this.#events.garbage(`reply ${xid} before that to the login`);
      this.#login = undefined;
      return this.#events.loggedIn(login, login.failureOf(code, reader));
    }
    if (code === ErrorCode.sessionClosedRequireSaslAuth) return this.#events.loginRequired();
    if (xid === Xid.notification) return this.#handleEvent(reader);
    if (zxid > this.#lastZxid) this.#lastZxid = zxid;
    if (xid === Xid.ping) return this.#events.ping();
    if (xid === Xid.auth) return this.#events.auth(code);
    if (xid === Xid.setWatches) return this.#events.watchesSet(code);
    this.#repliesUnread = true;
    this.#events.reply(xid, zxid, code, reader, this.#heardAt);
  }

  #handleEvent(reader: JuteReader): void {
    const type = reader.int();
    reader.int(); // the connection's state, which we know
    const path = reader.string() ?? "";
    if (!this.#repliesUnread) return this.#events.event(type, path);
    const held = { type, path };
    this.#heldEvent = held;
    setImmediate(() => {
      if (this.#heldEvent !== held) return;
      this.#heldEvent = undefined;
      this.#repliesUnread = false;
      this.#events.event(type, path);
      this.#read();
    });
  }
}
