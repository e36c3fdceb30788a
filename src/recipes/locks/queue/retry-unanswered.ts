/** Requests whose answer never came, while the session goes on. */
import { ConnectionError } from "../../../errors.ts";

/**
 * The server may have carried the request out or not (with `session-moved` it has not): a caller
 * that needs to know has to look.
 */
export function isUnanswered(error: unknown): boolean {
  return error instanceof ConnectionError && REASONS.has(error.reason);
}

const REASONS: ReadonlySet<string> = new Set([
  "connection-loss",
  "malformed-reply",
  "session-moved",
]);

/** A large request that broke this many connections is what breaks them. */
const MAX_LOSSES = 3;
/**
 * A request of ordinary size is lost with its connection when a server restarts or a network flaps,
 * but not so often and for so long while the handshakes and shorter requests in between are
 * answered: then the server's jute.maxbuffer is small.
 */
const MAX_LOSSES_OF_SMALL = 8;
const FLAPPING_MS = 5_000;

/** Counts how often one request was lost with its connection. */
export class ConnectionLosses {
  #count = 0;
  #begun: number | undefined;

  get count(): number {
    return this.#count;
  }

  /**
   * Counts another one. The error to give up with when it makes no sense to repeat the request,
   * because servers hang up on one that is larger than their jute.maxbuffer; undefined while it may
   * be repeated.
   */
  add(error: unknown, path: string): ConnectionError | undefined {
    this.#count++;
    this.#begun ??= performance.now();
    if (!(error instanceof ConnectionError)) return undefined;
    if (error.isOversized) return this.#count >= MAX_LOSSES ? error : undefined;
    if (this.#count < MAX_LOSSES_OF_SMALL || performance.now() - this.#begun < FLAPPING_MS)
      return undefined;
    return new ConnectionError(
      "request-too-large",
      `the request for ${path} is larger than the server accepts`,
      {
        path,
        cause: error,
        hint:
          `${this.#count} connections in a row were closed when it was sent: raise jute.maxbuffer on the servers, ` +
          "or make the ticket shorter (path, reason, data)",
      },
    );
  }
}

/**
 * Asks until a server answers, for what may be asked twice. Every round waits for a connection of
 * its own, and the session's clock ends them all. The first question leaves in this very turn.
 */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnanswered(error)) throw error;
    }
  }
}
