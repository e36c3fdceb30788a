/** Our own ticket: watched from the moment it is made, because others may delete it or write a request into it. */
import { LockError, NoNodeError, PermissionError } from "../../errors.ts";
import type { Session, WatchEvent } from "../../session/session.ts";
import { type RevokeRequest, revokeRequest } from "./holder-record.ts";
import type { Ticket } from "./ticket.ts";

export class OwnNode {
  readonly #session: Session;
  readonly #node: string;
  readonly #token: bigint;
  readonly #path: string;
  readonly #listeners = new Set<() => void>();
  #isOver = false;
  #request: RevokeRequest | undefined;
  #isGone = false;

  constructor(session: Session, path: string, ticket: Ticket) {
    this.#session = session;
    this.#path = path;
    this.#node = ticket.nodes[0];
    this.#token = ticket.token;
  }

  /** Somebody has deleted it, or it was never ours. */
  get isGone(): boolean {
    return this.#isGone;
  }

  get request(): RevokeRequest | undefined {
    return this.#request;
  }

  /** Told when it is gone, and of a request to give way; returns the function that stops telling. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** For whoever still waits: there is nothing to wait for any more. */
  throwIfGone(): void {
    if (this.#isGone) {
      throw new LockError("revoked", `somebody removed our ticket from the queue of ${this.#path}`, {
        path: this.#path,
      });
    }
    if (this.#request) throw revoked(this.#path, this.#request);
  }

  /** Sets the watch, if it is not set. Never rejects: a lost session is told to everybody elsewhere. */
  async watch(): Promise<void> {
    if (this.#isOver) return;
    try {
      const { data, stat } = await this.#session.getData(this.#node, { watch: this.#listener });
      if (this.#isOver) return this.#drop();
      const request = revokeRequest(data);
      if (stat.ephemeralOwner !== this.#session.id || stat.czxid !== this.#token) this.#gone();
      else if (request) this.#asked(request);
    } catch (error) {
      if (error instanceof NoNodeError) this.#gone();
      // Nobody can be told of what nobody may read: the session's own end is then all that is heard.
      else if (!(error instanceof PermissionError) && this.#session.state !== "lost") void this.watch();
    }
  }

  /** No more of it: the ticket is about to be given back. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#listeners.clear();
  }

  readonly #listener = ({ type }: WatchEvent) => {
    if (this.#isOver) return;
    if (type === "deleted") this.#gone();
    else if (type === "data-changed") void this.watch();
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

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #drop(): void {
    if (this.#session.state !== "lost") this.#session.removeWatch(this.#node, this.#listener).catch(() => {});
  }
}

export function revoked(path: string, { by, reason }: RevokeRequest): LockError {
  const who = by === undefined ? "" : ` by ${by}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  return new LockError("revoked", `asked to give up ${path}${who}${why}`, { path });
}
