import { limitWait } from "../../async/limit-wait.ts";
import { LockError, UsageError } from "../../errors.ts";
import type { Acl, Session } from "../../session/session.ts";
import { hexId } from "../../text/hex-id.ts";
import { nameWithReason } from "../../text/party-name.ts";
import { BackgroundCleanup } from "./background-cleanup.ts";
import type { LockEvent, LockListener } from "./events.ts";
import { type HolderRecord, type LockMode, type Party, recordText } from "./holder-record.ts";
import { refuseProtectedPath } from "./protected-path.ts";

/** Who this process is, for `whoholds` and for the waiters behind it. */
export type Holder = Omit<
  HolderRecord,
  "v" | "tool" | "mode" | "session" | "queued" | "acquired" | "revoke"
> & {
  readonly tool?: string;
};

/** How the tickets of a lock are created. */
export interface LockOptions {
  /** What the ticket says of its maker. */
  readonly holder?: Holder;
  /** The ticket's data, instead of what `holder` says. */
  readonly data?: Buffer;
  /** Every contender must be able to read the tickets. */
  readonly acl?: readonly Acl[];
  /**
   * The ACL of the lock's path and of its parents, where they are missing; `acl` unless told
   * otherwise. ZooKeeper asks the parent's ACL who may delete a ticket: an ACL of the ticket alone
   * does not protect it.
   */
  readonly pathAcl?: readonly Acl[];
  /** `all`: a second ticket that stock kazoo respects. */
  readonly compat?: "curator" | "all";
  /** Do not make the path when it is missing. */
  readonly mustExist?: boolean;
  readonly onEvent?: LockListener;
}

/** How long to wait for a lock. */
export interface AcquireOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole of it; 0: do not wait. Left out: for ever. */
  readonly waitMs?: number;
  /**
   * For a caller that shows the queue: what its events say is at most so many milliseconds old, in
   * queues of more than 20 a tenth of a second per contender. Costs listings; left out, none is
   * made that the lock itself does not need.
   */
  readonly refreshMs?: number;
}

/** One call of `acquire`. */
export interface Attempt {
  /** Follows the caller's, and aborts when the time is up. Undefined where there is neither. */
  readonly signal: AbortSignal | undefined;
  readonly mayWait: boolean;
  readonly refreshMs: number | undefined;
  /** By performance.now(). */
  readonly begun: number;
  /** The data of its tickets, and what else is to be in it. */
  readonly data: (more?: Partial<HolderRecord>) => Buffer;
}

/** Of a record, for what is put behind its common part: an id, and two times. */
const LATER_BYTES = 120;

/**
 * What all locks have in common: one deadline, one way to be cut short, and nothing left behind.
 */
export abstract class LockRecipe<Held extends { release(): Promise<unknown> }> {
  /** The lock's path, or its paths, for messages. */
  abstract readonly name: string;
  protected readonly session: Session;
  protected readonly options: LockOptions;
  protected readonly cleanup = new BackgroundCleanup();
  protected readonly knownPaths = new Set<string>();
  protected readonly mode: LockMode;
  /** What the records of all tickets of one session begin with. */
  #common: { readonly id: bigint; readonly text: string } | undefined;

  constructor(
    session: Session,
    paths: readonly string[],
    mode: LockMode,
    options: LockOptions = {},
  ) {
    for (const path of paths)
      refuseProtectedPath(path, "be locked", "choose another path, for example /locks/deploy");
    this.session = session;
    this.options = options;
    this.mode = mode;
  }

  /**
   * Waits until it is ours. Throws LockError: `busy` (waitMs is 0), `lock-timeout`, `revoked`
   * (removed from the queue), `sequence-exhausted`; and the errors of the session. Also when it
   * throws, no znode and no watch stay behind: what cannot be removed at once is removed in the
   * background, see {@link settled}.
   */
  async acquire({ signal, waitMs, refreshMs }: AcquireOptions = {}): Promise<Held> {
    if (waitMs !== undefined && !(waitMs >= 0))
      throw new UsageError(`bad waitMs ${waitMs}: 0 or more milliseconds`);
    const begun = performance.now();
    const late = () => timedOut(this.name, waitMs ?? 0);
    const wait = limitWait(signal, waitMs || undefined, late);
    try {
      if (this.session.id === 0n) await this.#meetServer(wait.signal);
      const queued = new Date().toISOString();
      const data = (more?: Partial<HolderRecord>) => this.#data(queued, more);
      return await this.take({
        signal: wait.signal,
        mayWait: waitMs !== 0,
        refreshMs,
        begun,
        data,
      });
    } catch (error) {
      throw wait.signal?.aborted ? wait.signal.reason : error;
    } finally {
      wait.end();
    }
  }

  /** As {@link acquire}, around `work`, which is told of the loss by `lock.signal`. */
  async use<T>(work: (lock: Held) => Promise<T>, options?: AcquireOptions): Promise<T> {
    const lock = await this.acquire(options);
    try {
      return await work(lock);
    } finally {
      await lock.release();
    }
  }

  /** Resolves when nothing that was cut short is left to be removed. */
  settled(): Promise<void> {
    return this.cleanup.settled();
  }

  protected abstract take(attempt: Attempt): Promise<Held>;

  protected readonly tell = (event: LockEvent): void => this.options.onEvent?.(event);

  /**
   * The session's id is part of the ticket's data; what the server has decides how a missing path
   * is made.
   */
  async #meetServer(signal: AbortSignal | undefined): Promise<void> {
    const { session } = this;
    await Promise.all([
      session.connected({ signal }),
      this.options.mustExist || session.knows("createContainer", { signal }),
    ]);
  }

  /** Put together as text: as an object it would be the longest step of a short acquire. */
  #data(queued: string, more: Partial<HolderRecord> | undefined): Buffer {
    const { data, holder } = this.options;
    if (data) return data;
    const { id } = this.session;
    if (this.#common?.id !== id) {
      const record = {
        v: 1,
        tool: "zksh",
        ...holder,
        mode: this.mode,
        session: hexId(id),
      } as const;
      this.#common = { id, text: recordText(record, LATER_BYTES).slice(0, -1) };
    }
    const rest = more ? `,${JSON.stringify(more).slice(1)}` : "}";
    return Buffer.from(`${this.#common.text},"queued":"${queued}"${rest}`);
  }
}

export function busy(path: string, holder: Party | undefined): LockError {
  return new LockError("busy", `${path} is held${holder ? ` by ${nameWithReason(holder)}` : ""}`, {
    path,
  });
}

function timedOut(path: string, waitMs: number): LockError {
  return new LockError("lock-timeout", `gave up on ${path} after ${waitMs} ms`, { path });
}
