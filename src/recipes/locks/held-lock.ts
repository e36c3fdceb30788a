import { LockError } from "../../errors.ts";
import type { CallOptions, MultiOp, MultiResult, Session } from "../../session/session.ts";
import type { LockListener, LostLockReason } from "./events.ts";
import type { LockMode, RevokeRequest } from "./holder-record.ts";
import type { OwnNode } from "./own-node.ts";
import { remove, type Ticket } from "./ticket.ts";

/** A hold that lasts this long is worth a write that says since when. */
const STAMP_AFTER_MS = 1_000;

export interface HeldLockOptions {
  readonly session: Session;
  readonly path: string;
  readonly mode: LockMode;
  readonly ticket: Ticket;
  readonly own: OwnNode;
  readonly waitedMs: number;
  readonly onEvent: LockListener;
  /** The ticket's data with the time of acquisition; left out where the data is the caller's own. */
  readonly stamp?: () => Buffer;
}

/**
 * A lock that was got. It can be lost at any time, without anybody's doing here: `signal` tells, and whoever is about to
 * do something that needs the lock asks `isHeld()` right before, or better, shows `fencingToken` to whom it concerns.
 */
export class HeldLock {
  /** The lock's path, and the znode that stands for us. */
  readonly path: string;
  readonly nodePath: string;
  readonly mode: LockMode;
  /** Grows from holder to holder: whoever has seen a higher one refuses a lower. */
  readonly fencingToken: bigint;
  readonly sessionId: bigint;
  readonly waitedMs: number;
  readonly #options: HeldLockOptions;
  readonly #lost = new AbortController();
  readonly #revokeListeners = new Set<(request: RevokeRequest) => void>();
  readonly #stopState: () => void;
  readonly #stamping: NodeJS.Timeout | undefined;
  #count = 1;
  #released: Promise<"delete" | "expiry"> | undefined;

  constructor(options: HeldLockOptions) {
    const { session, path, mode, ticket, own, waitedMs, stamp } = options;
    this.#options = options;
    this.path = path;
    this.nodePath = ticket.nodes[0];
    this.mode = mode;
    this.fencingToken = ticket.token;
    this.sessionId = session.id;
    this.waitedMs = waitedMs;
    this.#stopState = session.onState(({ state }) => state === "lost" && this.#lose("session-lost"));
    own.onChange(() => this.#look());
    this.#stamping = stamp && setTimeout(() => this.#stamp(stamp), STAMP_AFTER_MS).unref();
  }

  /** Aborted when the lock is lost, with the LockError that says how. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Judged by clocks: false at the first look after a pause in which the session may have ended. */
  isHeld(): boolean {
    return this.#released === undefined && !this.signal.aborted && this.#options.session.isAlive();
  }

  /** Milliseconds for which it is certainly held if nothing is ever heard again. */
  heldForMs(): number {
    return this.#released === undefined && !this.signal.aborted ? this.#options.session.aliveForMs() : 0;
  }

  /** Told when somebody asks for it: at once, if that was before. Returns the function that stops telling. */
  onRevoke(listener: (request: RevokeRequest) => void): () => void {
    this.#revokeListeners.add(listener);
    const { request } = this.#options.own;
    if (request) listener(request);
    return () => this.#revokeListeners.delete(listener);
  }

  /** As `multi`, but nothing happens unless the lock is still held when the server carries it out. */
  async fenced(
    ops: readonly MultiOp[],
    options?: CallOptions,
  ): Promise<{ readonly results: readonly MultiResult[]; readonly zxid: bigint }> {
    const { session } = this.#options;
    const { results, zxid } = await session.multi([{ op: "check", path: this.nodePath }, ...ops], options);
    return { results: results.slice(1), zxid };
  }

  /** One more release is needed; for code that may be called with the lock held. */
  again(): this {
    if (!this.isHeld()) throw new LockError("lock-lost", `${this.path} is no longer held`, { path: this.path });
    this.#count += 1;
    return this;
  }

  /** Holds since this many acquisitions; 0 when released. */
  get count(): number {
    return this.#count;
  }

  /**
   * Gives it back: not held from this moment on, whatever the network does. Resolves when the server has confirmed it, or
   * when the session has ended (`expiry`). Releasing more often than acquired does nothing.
   */
  release(): Promise<"delete" | "expiry"> {
    if (this.#count > 1) {
      this.#count -= 1;
      return Promise.resolve("delete");
    }
    this.#count = 0;
    this.#released ??= this.#giveBack();
    return this.#released;
  }

  async #giveBack(): Promise<"delete" | "expiry"> {
    const { session, path, own, ticket, onEvent } = this.#options;
    this.#end();
    own.end();
    const how = session.state === "lost" ? "expiry" : await remove(session, ticket.nodes);
    onEvent({ event: "released", path, how });
    return how;
  }

  #look(): void {
    const { own, path, onEvent } = this.#options;
    if (own.isGone) return this.#lose("node-deleted");
    const { request } = own;
    if (!request) return;
    onEvent({ event: "revoke-asked", path, request });
    for (const listener of [...this.#revokeListeners]) listener(request);
  }

  #lose(reason: LostLockReason): void {
    if (this.#released !== undefined || this.signal.aborted) return;
    this.#end();
    const { path, onEvent } = this.#options;
    onEvent({ event: "lost", path, reason });
    this.#lost.abort(lockLost(path, reason));
  }

  #end(): void {
    this.#stopState();
    clearTimeout(this.#stamping);
  }

  /** By version, so that a request to give way is not overwritten. Nice to have: a failure changes nothing. */
  #stamp(data: () => Buffer): void {
    this.#options.session.setData(this.nodePath, data(), { version: 0 }).catch(() => {});
  }
}

export function lockLost(path: string, reason: LostLockReason): LockError {
  const why = reason === "node-deleted" ? "somebody deleted its znode" : "the session ended";
  return new LockError("lock-lost", `lost ${path}: ${why}`, { path });
}
