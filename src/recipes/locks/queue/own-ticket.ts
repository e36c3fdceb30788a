/**
 * Our own ticket: watched from the moment it is made, because others may delete it or write a
 * request into it.
 */
import { LockError, NoNodeError } from "../../../errors.ts";
import type { Session, WatchEvent } from "../../../session/session.ts";
import { type RevokeRequest, revokeRequest } from "../holder-record.ts";
import { untilAnswered } from "./retry-unanswered.ts";
import { type OwnedZnodes, ticketGone } from "./ticket.ts";

export class OwnTicket {
  readonly #session: Session;
  readonly #path: string;
  readonly #owned: OwnedZnodes;
  readonly #listeners = new Set<() => void>();
  #isOver = false;
  #isWatched = false;
  #request: RevokeRequest | undefined;
  #isGone = false;

  /** `path` is the lock's, for messages. */
  constructor(session: Session, path: string, owned: OwnedZnodes) {
    this.#session = session;
    this.#path = path;
    this.#owned = owned;
  }

  /** Another client has deleted it, or part of it, or it was never ours. */
  get isGone(): boolean {
    return this.#isGone;
  }

  get request(): RevokeRequest | undefined {
    return this.#request;
  }

  /**
   * Told when it is gone, and of a request to give way; returns the function that stops telling.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For a waiter: a ticket that is gone or revoked ends the wait. */
  throwIfGone(): void {
    if (this.#isGone) throw ticketGone(this.#path, this.#session);
    if (this.#request) throw revoked(this.#path, this.#request);
  }

  /** Sets the watches, once. They do not tell of the session's end: `onState` does. */
  watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    for (const node of this.#owned.nodes) void this.#watch(node);
  }

  /** Something else than its watch has found that it is gone. */
  noteGone(): void {
    if (!this.#isOver && !this.#isGone) this.#gone();
  }

  /** No more of it: the ticket is about to be given back, and its deletion uses the watches up. */
  end(): void {
    this.#isOver = true;
    this.#listeners.clear();
  }

  async #watch(node: string): Promise<void> {
    if (this.#isOver) return;
    const found = await this.#read(node);
    if (found === "gone") this.#gone();
    else if (found) this.#asked(found);
  }

  /** The request in the ticket, if there is one. */
  async #read(node: string): Promise<"gone" | RevokeRequest | undefined> {
    try {
      const { data, stat } = await untilAnswered(() =>
        this.#session.getData(node, { watch: this.#listener }),
      );
      const isOurs = stat.ephemeralOwner === this.#session.id && stat.czxid === this.#owned.token;
      return isOurs ? revokeRequest(data) : "gone";
    } catch (error) {
      // A ticket that may not be read is not watched either: the end of the session is then all
      // that is heard.
      return error instanceof NoNodeError ? "gone" : undefined;
    }
  }

  readonly #listener = ({ type, path }: WatchEvent) => {
    if (this.#isOver) return;
    if (type === "deleted") this.noteGone();
    else if (type === "data-changed") void this.#watch(path);
  };

  #gone(): void {
    this.#isGone = true;
    this.#tell();
  }

  #asked(request: RevokeRequest): void {
    if (this.#request) return;
    this.#request = request;
    this.#tell();
  }

  /**
   * A listener's bug must not keep the others waiting, nor be swallowed: it is rethrown
   * asynchronously.
   */
  #tell(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener();
      } catch (error) {
        setImmediate(() => {
          throw error;
        });
      }
    }
  }
}

export function revoked(path: string, { by, reason }: RevokeRequest): LockError {
  const who = by === undefined ? "" : ` by ${by}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  return new LockError("revoked", `${path} was revoked${who}${why}`, { path });
}
