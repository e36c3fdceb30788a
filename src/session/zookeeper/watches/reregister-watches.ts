import type { SetWatchesPiece, WatchRegistry } from "./watch-registry.ts";

/**
 * Setting watches again on a new connection. The server reports what has changed since the zxid it
 * is given; until every request has been answered that is the zxid of before the gap, even if a
 * reply has brought a newer one meanwhile.
 */
export class WatchReregistration {
  readonly #watches: WatchRegistry;
  #unanswered = 0;
  #since = 0n;

  constructor(watches: WatchRegistry) {
    this.#watches = watches;
  }

  /** The requests that set every watch, for a new connection. */
  all(lastZxid: bigint): SetWatchesPiece[] {
    const pieces = this.#pieces(lastZxid);
    this.#unanswered = pieces.length;
    return pieces;
  }

  /** The requests that set the watches of one path, on top of what is under way. */
  one(serverPath: string, lastZxid: bigint): SetWatchesPiece[] {
    const pieces = this.#pieces(lastZxid, serverPath);
    this.#unanswered += pieces.length;
    return pieces;
  }

  /** A request has been answered, well or not; false when no answer was due. */
  answered({ isSet }: { isSet: boolean }): boolean {
    if (this.#unanswered === 0) return false;
    if (isSet) this.#unanswered--;
    return true;
  }

  #pieces(lastZxid: bigint, only?: string): SetWatchesPiece[] {
    if (this.#unanswered === 0) this.#since = lastZxid;
    return this.#watches.setAgain(this.#since, only);
  }
}
