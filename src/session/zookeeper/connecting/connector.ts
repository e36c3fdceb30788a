import { FrameReader } from "../../../wire/frames.ts";
import { JuteReader, MalformedFrameError } from "../../../wire/jute.ts";
import { type ConnectResponse, readConnectResponse } from "../../../wire/records.ts";
import type { TlsOptions } from "../../options.ts";
import type { Clock } from "../lifetime/clock.ts";
import { errorName } from "../requests/error-codes.ts";
import {
  type ConnectFailure,
  connectFailureOf,
  noAnswer,
  refusedHandshake,
  strangerFailure,
  unknownProtocol,
} from "./connect-failures.ts";
import type { Handshake } from "./handshake.ts";
import { type Endpoint, Link, loadTls, type Tls } from "./link.ts";
import type { ServerList } from "./server-list.ts";

/** A handshake reply has 36 or 37 bytes, a refusal 16. Anything much longer is another protocol. */
const MAX_HANDSHAKE_BYTES = 256;
const REPLY_HEADER_BYTES = 16;

/** A connection on which a server has answered the handshake. */
export interface Attached {
  readonly link: Link;
  /** May hold more frames behind the handshake's. */
  readonly frames: FrameReader;
  readonly response: ConnectResponse;
  /** When the handshake left: the session's clock starts there. */
  readonly sentAt: number;
}

export interface ConnectorEvents {
  /** How long one address may take for TCP, TLS and handshake together. */
  attemptMs(): number;
  attached(attached: Attached): void;
  /** A server has accepted the connection; the handshake is about to leave. */
  greeting(endpoint: Endpoint): void;
  failed(endpoint: Endpoint, why: ConnectFailure): void;
}

/**
 * Finds a server: tries the addresses of the list one after the other until one answers the
 * handshake.
 */
export class Connector {
  readonly #servers: ServerList;
  readonly #tls: TlsOptions | undefined;
  readonly #handshake: Handshake;
  readonly #clock: Clock;
  readonly #events: ConnectorEvents;
  /** Ends a search for good. */
  readonly #stopping = new AbortController();
  #isStopped = false;
  #searching = false;
  #link: Link | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    servers: ServerList,
    tls: TlsOptions | undefined,
    handshake: Handshake,
    clock: Clock,
    events: ConnectorEvents,
  ) {
    this.#servers = servers;
    this.#tls = tls;
    this.#handshake = handshake;
    this.#clock = clock;
    this.#events = events;
  }

  /** Starts looking, unless it is looking already; ends with `attached` or with {@link stop}. */
  search(): void {
    if (this.#searching || this.#isStopped) return;
    this.#searching = true;
    const unresolved = (endpoint: Endpoint, why: ConnectFailure) =>
      this.#events.failed(endpoint, why);
    const search = {
      signal: this.#stopping.signal,
      timeoutMs: this.#events.attemptMs(),
      unresolved,
    };
    Promise.all([this.#servers.next(search), loadTls(this.#tls)]).then(
      ([endpoint, tls]) => this.#attempt(endpoint, tls),
      () => {
        // Only stop() makes the search fail, and its caller needs no error.
        this.#searching = false;
      },
    );
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#searching) this.#stopping.abort();
    clearTimeout(this.#timer);
    this.#link?.destroy();
    this.#link = undefined;
  }

  #attempt(endpoint: Endpoint, tls: Tls | undefined): void {
    if (this.#isStopped) return;
    const frames = new FrameReader(MAX_HANDSHAKE_BYTES);
    const received: Buffer[] = [];
    let sentAt: number | undefined;
    const fail = (why: ConnectFailure) => {
      clearTimeout(this.#timer);
      this.#link?.destroy();
      this.#link = undefined;
      this.#searching = false;
      this.#servers.failed(endpoint.address, why);
      this.#events.failed(endpoint, why);
    };
    const link = new Link(endpoint, tls, {
      open: () => {
        sentAt = this.#clock.now();
        this.#events.greeting(endpoint);
        link.write(this.#handshake.firstFlight(sentAt));
      },
      data: (chunk) => {
        received.push(chunk);
        const reply = firstReply(frames, received);
        if (reply === undefined) return;
        if ("says" in reply) return fail(reply);
        clearTimeout(this.#timer);
        this.#link = undefined;
        this.#searching = false;
        this.#events.attached({
          link,
          frames,
          response: reply,
          sentAt: sentAt ?? this.#clock.now(),
        });
      },
      drain: () => {},
      closed: (error) => fail(connectFailureOf(error, { isPlain: tls === undefined })),
    });
    this.#link = link;
    this.#timer = setTimeout(() => fail(noAnswer()), this.#events.attemptMs());
  }
}

/** The server's first answer: a session, a refusal, or undefined while bytes are missing. */
function firstReply(
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
