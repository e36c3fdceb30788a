import { connect, isIP, type OnReadOpts, Socket } from "node:net";
import type * as NodeTls from "node:tls";
import { FrameReader } from "../../../wire/frames.ts";
import type { ConnectResponse } from "../../../wire/records.ts";
import { isSocket } from "../../connect-string.ts";
import type { TlsOptions } from "../../options.ts";
import { throwLater } from "../watches/notify-listeners.ts";
import { type ConnectFailure, connectFailureOf } from "./connect-failures.ts";
import { firstReply, MAX_HANDSHAKE_BYTES } from "./handshake.ts";

/** A resolved address to try, and how people know it. */
export interface Endpoint {
  /** `host:port` as in the connect string. */
  readonly address: string;
  readonly host: string;
  /** The path, for a socket in the file system. */
  readonly ip: string;
  readonly port: number;
}

/** TLS options, and Node's module that carries them out. */
export interface Tls extends TlsOptions {
  readonly module: typeof NodeTls;
}

/**
 * Loads Node's TLS only for sessions that use it: loading takes 3 ms on Node 20 and 12 ms on Node
 * 24.
 */
export async function loadTls(options: TlsOptions | undefined): Promise<Tls | undefined> {
  return options && { ...options, module: await import("node:tls") };
}

/** How long the last bytes may take to leave. */
const FLUSH_MS = 1_000;
/** Enough for a session that is mostly idle, and there may be thousands of them. */
const FIRST_BYTES = 8 * 1024;
/** As soon as something longer has come. */
const MOST_BYTES = 64 * 1024;

/** How the handshake on a connection ends: with one of these calls. */
export interface HandshakeEvents {
  /** `frames` may hold more of them behind the server's answer. */
  accepted(response: ConnectResponse, frames: FrameReader): void;
  failed(why: ConnectFailure): void;
}

/** What comes after the handshake. */
export interface LinkEvents {
  data(chunk: Buffer): void;
  drain(): void;
  /** Called once, with the error if there was one. */
  closed(error: Error | undefined): void;
}

/**
 * One connection to one server, plain or TLS: first the handshake, then the bytes of the session.
 * Its events stop for good at {@link destroy}, so a late event of an old socket can never be taken
 * for the new one's.
 */
export class Link {
  readonly endpoint: Endpoint;
  readonly #socket: Socket;
  #events: LinkEvents | undefined;
  #error: Error | undefined;

  constructor(
    endpoint: Endpoint,
    tls: Tls | undefined,
    firstFlight: () => Buffer,
    events: HandshakeEvents,
  ) {
    this.endpoint = endpoint;
    this.#events = awaitAnswer(events, { isPlain: tls === undefined });
    this.#socket = openSocket(endpoint, tls, this.#receive());
    this.#socket.setNoDelay();
    this.#socket.once(tls === undefined ? "connect" : "secureConnect", () => {
      if (this.#events) this.write(firstFlight());
    });
    this.#socket.on("drain", () => this.#events?.drain());
    this.#socket.on("error", (error) => {
      this.#error = error;
    });
    this.#socket.once("close", () => this.#end());
  }

  get localAddress(): string | undefined {
    return this.#socket.localAddress;
  }

  /** The handshake is over: from now on `events` gets what comes. */
  listen(events: LinkEvents): void {
    this.#events = events;
  }

  /** False: the kernel has enough for now; wait for `drain`. */
  write(bytes: Buffer): boolean {
    return this.#socket.write(bytes);
  }

  /** Drops the connection at once; no event follows. */
  destroy(): void {
    this.#events = undefined;
    this.#socket.destroy();
  }

  /** Sends what was written, then closes; no event follows. */
  end(): void {
    this.#events = undefined;
    // Deferred until the callers of end() have run: if the program exits now, the system closes the
    // socket, which is faster.
    setImmediate(() => {
      this.#socket.destroySoon();
      // A server that has stopped reading would hold the bytes, and with them the process, for
      // ever.
      setTimeout(() => this.#socket.destroy(), FLUSH_MS).unref();
    });
  }

  /**
   * Where answers arrive: they come here without passing through the stream, which costs more than
   * reading them. Short ones are copied out; a long one keeps the buffer, no more than half of
   * which is waste then, and the next gets a new one.
   */
  #receive(): OnReadOpts {
    let buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    const take = (length: number): Buffer => {
      const filled = buffer;
      if (length === filled.length) buffer = Buffer.allocUnsafeSlow(MOST_BYTES);
      else if (length < filled.length / 2) return copyOf(filled, length);
      else buffer = Buffer.allocUnsafeSlow(filled.length);
      return filled.subarray(0, length);
    };
    const callback = (length: number) => {
      try {
        this.#events?.data(take(length));
      } catch (error) {
        // Node would go on with the buffer that was just given away.
        throwLater(error);
      }
      return true;
    };
    return { buffer: () => buffer, callback };
  }

  #end(): void {
    const events = this.#events;
    this.#events = undefined;
    events?.closed(this.#error);
  }
}

/** Reads the answer to the handshake. */
function awaitAnswer(
  { accepted, failed }: HandshakeEvents,
  { isPlain }: { isPlain: boolean },
): LinkEvents {
  const frames = new FrameReader(MAX_HANDSHAKE_BYTES);
  const received: Buffer[] = [];
  return {
    data(chunk) {
      received.push(chunk);
      const reply = firstReply(frames, received);
      if (reply === undefined) return;
      if ("says" in reply) failed(reply);
      else accepted(reply, frames);
    },
    drain() {},
    closed: (error) => failed(connectFailureOf(error, { isPlain, isHandshake: true })),
  };
}

function copyOf(bytes: Buffer, length: number): Buffer {
  const copy = Buffer.allocUnsafe(length);
  bytes.copy(copy, 0, 0, length);
  return copy;
}

/** The bare socket: also used for four-letter words. */
export function openSocket(
  endpoint: Endpoint,
  tls: Tls | undefined,
  onread?: OnReadOpts | undefined,
): Socket {
  const { ip, port } = endpoint;
  const where = isSocket(endpoint) ? { path: ip } : { host: ip, port };
  if (tls === undefined) return connect({ ...where, ...(onread && { onread }) });
  const servername = tls.servername ?? endpoint.host;
  try {
    return tls.module.connect({
      ...where,
      ...(onread && { onread }),
      // Server name indication takes names only; an IP address is still checked against the
      // certificate.
      ...(isIP(servername) === 0 ? { servername } : {}),
      checkServerIdentity: (_, certificate) =>
        tls.anyServerName ? undefined : tls.module.checkServerIdentity(servername, certificate),
      rejectUnauthorized: tls.insecure !== true,
      ...given(tls, ["ca", "cert", "key", "passphrase", "minVersion", "maxVersion", "ciphers"]),
    });
  } catch (error) {
    // A certificate or key that cannot be used is noticed here and now; to callers it is a
    // connection that failed.
    return new Socket().destroy(error as Error);
  }
}

/** Node takes an option that is undefined for a wrong one. */
function given<Key extends keyof TlsOptions>(tls: Tls, keys: readonly Key[]): Pick<Tls, Key> {
  const entries = keys.flatMap((key) => (tls[key] === undefined ? [] : [[key, tls[key]]]));
  return Object.fromEntries(entries);
}
