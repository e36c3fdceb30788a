import { LockError, NoNodeError, UsageError } from "../../errors.ts";
import type { CallOptions, Committed, MultiOp, Session } from "../../session/session.ts";
import type { LockListener, LostLockReason } from "./events.ts";
import type { LockMode, RevokeRequest } from "./holder-record.ts";
import type { OwnTicket } from "./queue/own-ticket.ts";
import { type Removed, removeZnodes } from "./queue/remove-znodes.ts";
import type { OwnedZnodes } from "./queue/ticket.ts";

/** A lock held this long is worth a write that says since when it is held. */
const STAMP_AFTER_MS = 1_000;

export interface HeldLockOptions {
  readonly session: Session;
  readonly path: string;
  readonly mode: LockMode;
  readonly owned: OwnedZnodes;
  /** Watches the same znodes; from here on, if it does not yet. */
  readonly own: OwnTicket;
  readonly waitedMs: number;
  readonly onEvent: LockListener;
  /**
   * The ticket's data with the time of acquisition; left out where the data is the caller's own.
   */
  readonly stamp?: (() => Buffer) | undefined;
  /** The next holder's znode will have the same path: that it exists proves nothing. */
  readonly isPathShared?: boolean;
  /** Called right before the znodes are released. */
  readonly onRelease?: () => void;
  /** Releases the znodes, where it takes more than deleting them. */
  readonly giveBack?: () => Promise<Removed>;
}

/**
 * A lock that is held. It can be lost at any time: `signal` aborts then. Code that needs the lock
 * checks `isHeld()` right before it acts, or better, passes `fencingToken` to the resource.
 *
 * @example
 * ```ts
 * const held = await new Mutex(session, "/locks/deploy").acquire();
 * held.signal.addEventListener("abort", () => stopWork());
 * if (held.isHeld()) await store.write(record, { token: held.fencingToken });
 * await held.release();
 * ```
 */
export class HeldLock {
  /** This one alone, for code that handles several held as one, too. */
  readonly locks: readonly HeldLock[] = [this];
  /** The lock's path, and the znode that stands for us: the first, where there are several. */
  readonly path: string;
  readonly nodePath: string;
  readonly nodePaths: readonly string[];
  readonly mode: LockMode;
  /** Grows from holder to holder: a resource that has seen a higher one refuses a lower one. */
  readonly fencingToken: bigint;
  readonly sessionId: bigint;
  readonly waitedMs: number;
  /** Milliseconds since the epoch. */
  readonly acquiredAt = Date.now();
  readonly #options: HeldLockOptions;
  readonly #revokeListeners = new Set<(request: RevokeRequest) => void>();
  readonly #stopState: () => void;
  readonly #endLease: () => void;
  readonly #watchSoon: NodeJS.Immediate;
  #stampTimer: NodeJS.Timeout | undefined;
  #lost: LockError | undefined;
  /** Created when `signal` is first read: a signal costs more than the rest of the handle. */
  #abort: AbortController | undefined;
  #count = 1;
  #isChanging = false;
  #released: Promise<Removed> | undefined;

  constructor(options: HeldLockOptions) {
    const { session, path, mode, owned, own, waitedMs } = options;
    this.#options = options;
    this.path = path;
    this.nodePath = owned.nodes[0];
    this.nodePaths = owned.nodes;
    this.mode = mode;
    this.fencingToken = owned.token;
    this.sessionId = session.id;
    this.waitedMs = waitedMs;
    this.#stopState = session.onState(
      ({ state, reason }) =>
        state === "lost" && this.#lose("session-lost", reason === "auth-failed"),
    );
    own.onChange(() => this.#look());
    // Not for a lock that is released in the same turn: nothing could be done with what the watch
    // tells.
    this.#watchSoon = setImmediate(() => own.watch());
    this.#endLease = session.keepLease(owned.nodes, () => own.noteGone());
    const { stamp } = options;
    if (stamp) this.#stampTimer = setTimeout(() => this.#stamp(stamp), STAMP_AFTER_MS).unref();
  }

  /** Aborted when the lock is lost, with the LockError that says how. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#lost) this.#abort.abort(this.#lost);
    return this.#abort.signal;
  }

  /**
   * Judged by the lease: false at the first look after a pause in which the session may have ended.
   */
  isHeld(): boolean {
    return this.heldForMs() > 0;
  }

  /** Milliseconds for which it is certainly held if nothing is ever heard again. */
  heldForMs(): number {
    return this.#isOurs ? this.#options.session.leaseForMs() : 0;
  }

  /** As far as the client knows: isHeld() also looks at the lease. */
  get #isOurs(): boolean {
    return this.#released === undefined && this.#lost === undefined;
  }

  /**
   * Told when a client asks for the lock; at once, if one did before. Returns the function that
   * stops telling.
   */
  onRevoke(listener: (request: RevokeRequest) => void): () => void {
    this.#revokeListeners.add(listener);
    const { request } = this.#options.own;
    if (request) listener(request);
    return () => this.#revokeListeners.delete(listener);
  }

  /**
   * As `multi`, but nothing happens unless the lock is still held when the server carries it out.
   * Throws LockError
   * `lock-lost` when it is not, and UsageError for a lock that cannot tell (UniqueLock).
   */
  async fenced(ops: readonly MultiOp[], options?: CallOptions): Promise<Committed> {
    const checks = this.checks();
    try {
      const { results, zxid } = await this.#options.session.multi([...checks, ...ops], options);
      return { results: results.slice(checks.length), zxid };
    } catch (error) {
      throw this.explain(error);
    }
  }

  /** What makes a transaction fail without the lock. Throws as {@link fenced}. */
  checks(): MultiOp[] {
    if (!this.isHeld()) throw this.#over("session-lost");
    if (this.#options.isPathShared) {
      throw new UsageError(`a unique lock cannot fence writes: ${this.path}`, {
        path: this.path,
        hint: "all its holders create the same znode: use a queue lock, or compare fencing tokens",
      });
    }
    return this.nodePaths.map((path): MultiOp => ({ op: "check", path }));
  }

  /** Why a transaction with {@link checks} failed: in other words, if they are the reason. */
  explain(error: unknown): unknown {
    const isOwn = error instanceof NoNodeError && this.nodePaths.includes(error.path ?? "");
    return isOwn ? this.#over("node-deleted") : error;
  }

  /** Why it is not held; `otherwise` where nothing has been heard yet. */
  #over(otherwise: LostLockReason): unknown {
    if (this.#released !== undefined) return notHeld(this.path);
    return this.#lost ?? lockLost(this.path, otherwise);
  }

  /**
   * Lets `change` put another ticket in the place of ours, in one transaction. When it has
   * succeeded this handle is over, without anything being given back.
   */
  async exchange<T>(change: () => Promise<T>): Promise<T> {
    this.#isChanging = true;
    try {
      const changed = await change();
      this.#count = 0;
      this.#released = Promise.resolve("delete");
      this.#end();
      this.#options.own.end();
      return changed;
    } finally {
      this.#isChanging = false;
      this.#look();
    }
  }

  /** One more release is needed; for code that may be called with the lock held. */
  again(): this {
    if (!this.isHeld()) throw notHeld(this.path);
    this.#count += 1;
    return this;
  }

  /** Holds since this many acquisitions; 0 when released. */
  get count(): number {
    return this.#count;
  }

  /**
   * Releases the lock: from now on it is not held here, even if no server answers. Resolves when
   * the server has confirmed it, or when the session has ended (`expiry`); `missing` when the
   * ticket had been deleted before: the lock was not held to the end. Releasing more often than
   * acquired does nothing.
   */
  release(): Promise<Removed> {
    if (this.#count > 1) {
      this.#count -= 1;
      return Promise.resolve("delete");
    }
    this.#count = 0;
    this.#released ??= this.#giveBack();
    return this.#released;
  }

  async #giveBack(): Promise<Removed> {
    const {
      session,
      path,
      own,
      owned,
      onEvent,
      onRelease,
      giveBack = () => removeZnodes(session, owned.nodes),
    } = this.#options;
    this.#end();
    own.end();
    onRelease?.();
    const how = await giveBack();
    onEvent({ event: "released", path, how, node: this.nodePath });
    return how;
  }

  #look(): void {
    const { own, path, onEvent, session } = this.#options;
    if (this.#released !== undefined || this.#isChanging) return;
    // The server that expires a session tells of its ephemerals first, and after a pause that is
    // what is read first.
    if (own.isGone) return this.#lose(session.isAlive() ? "node-deleted" : "session-lost");
    const { request } = own;
    if (!request) return;
    onEvent({ event: "revoke-asked", path, request });
    for (const listener of [...this.#revokeListeners]) listener(request);
  }

  #lose(reason: LostLockReason, isRefused = false): void {
    if (!this.#isOurs) return;
    this.#end();
    const { path, onEvent } = this.#options;
    onEvent({ event: "lost", path, reason, ...(isRefused && { isRefused }) });
    this.#lost = lockLost(path, reason);
    this.#abort?.abort(this.#lost);
  }

  #end(): void {
    this.#stopState();
    this.#endLease();
    clearImmediate(this.#watchSoon);
    clearTimeout(this.#stampTimer);
  }

  /**
   * By version, so that a request to give way is not overwritten. Nice to have: a failure changes
   * nothing.
   */
  #stamp(data: () => Buffer): void {
    this.#options.session.setData(this.nodePath, data(), { version: 0 }).catch(() => {});
  }
}

function notHeld(path: string): LockError {
  return new LockError("lock-lost", `${path} is no longer held`, { path });
}

export function lockLost(path: string, reason: LostLockReason): LockError {
  const why = reason === "node-deleted" ? "another client deleted its znode" : "the session ended";
  return new LockError("lock-lost", `lost ${path}: ${why}`, { path, lostReason: reason });
}
