import net from "node:net";
import tls from "node:tls";
import type { TlsOptions } from "../options.ts";

/** A resolved address to try, and how people know it. */
export interface Endpoint {
  /** `host:port` as in the connect string. */
  readonly address: string;
  readonly host: string;
  readonly ip: string;
  readonly port: number;
}

/** How long the last bytes may take to leave. */
const FLUSH_MS = 1_000;

export interface LinkEvents {
  open(): void;
  data(chunk: Buffer): void;
  drain(): void;
  /** Called once, whatever ended the connection. */
  closed(error: Error | undefined): void;
}

/**
 * One socket to one server, plain or TLS. Its events go to the events object it was made with and stop for good at
 * {@link destroy}, so a late event of an old socket can never be taken for the new one's.
 */
export class Link {
  readonly endpoint: Endpoint;
  readonly #socket: net.Socket;
  #events: LinkEvents | undefined;
  #error: Error | undefined;

  constructor(endpoint: Endpoint, tlsOptions: TlsOptions | undefined, events: LinkEvents) {
    this.endpoint = endpoint;
    this.#events = events;
    this.#socket = openSocket(endpoint, tlsOptions);
    this.#socket.setNoDelay();
    this.#socket.once(tlsOptions === undefined ? "connect" : "secureConnect", () => this.#events?.open());
    this.#socket.on("data", (chunk: Buffer) => this.#events?.data(chunk));
    this.#socket.on("drain", () => this.#events?.drain());
    this.#socket.on("error", (error) => {
      this.#error = error;
    });
    this.#socket.once("close", () => this.#end());
  }

  /** From now on events go to `events`: the connection has changed hands. */
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
    this.#socket.destroySoon();
    // A server that has stopped reading would hold the bytes, and with them the process, for ever.
    setTimeout(() => this.#socket.destroy(), FLUSH_MS).unref();
  }

  #end(): void {
    const events = this.#events;
    this.#events = undefined;
    events?.closed(this.#error);
  }
}

/** The bare socket: also used for four-letter words. */
export function openSocket(endpoint: Endpoint, options: TlsOptions | undefined): net.Socket {
  const { ip, port } = endpoint;
  if (options === undefined) return net.connect({ host: ip, port });
  const servername = options.servername ?? endpoint.host;
  try {
    return tls.connect({
      host: ip,
      port,
      // Server name indication takes names only; an IP address is still checked against the certificate.
      ...(net.isIP(servername) === 0 ? { servername } : {}),
      checkServerIdentity: (_, certificate) => tls.checkServerIdentity(servername, certificate),
      rejectUnauthorized: options.insecure !== true,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
      ...(options.cert === undefined ? {} : { cert: options.cert }),
      ...(options.key === undefined ? {} : { key: options.key }),
    });
  } catch (error) {
    // A certificate or key that cannot be used is noticed here and now; to callers it is a connection that failed.
    return new net.Socket().destroy(error as Error);
  }
}
