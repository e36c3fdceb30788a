/** A lock that is got by queuing. Mutex, read/write lock and election differ in who waits for whom, and in nothing else. */
import { randomUUID } from "node:crypto";
import { LockError, UsageError } from "../../errors.ts";
import type { Acl, Session } from "../../session/session.ts";
import { limitWait } from "../limit-wait.ts";
import type { Claim } from "./contender.ts";
import type { LockListener } from "./events.ts";
import { HeldLock } from "./held-lock.ts";
import { encodeRecord, type HolderRecord, type LockMode, type Party } from "./holder-record.ts";
import { OwnNode } from "./own-node.ts";
import { Chores, enter, remove, type Ticket } from "./ticket.ts";
import { TicketQueue, ticketGone } from "./ticket-queue.ts";

/** Who we are, for `whoholds` and for those who wait behind us. */
export type Holder = Omit<HolderRecord, "v" | "tool" | "mode" | "session" | "queued" | "acquired" | "revoke"> & {
  readonly tool?: string;
};

export interface LockOptions {
  /** What the ticket says of its maker. */
  readonly holder?: Holder;
  /** The ticket's data, instead of what `holder` says. */
  readonly data?: Buffer;
  /** Every contender must be able to read the tickets. */
  readonly acl?: readonly Acl[];
  /** `all`: a second ticket that stock kazoo respects. */
  readonly compat?: "curator" | "all";
  /** Do not make the path when it is missing. */
  readonly mustExist?: boolean;
  readonly onEvent?: LockListener;
}

export interface AcquireOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds for the whole of it; 0: do not wait. Left out: for ever. */
  readonly waitMs?: number;
  /** Look at the queue this often while waiting, for whoever shows its length. */
  readonly refreshMs?: number;
}

export interface QueueLockShape {
  readonly claim: Claim;
  readonly mode: LockMode;
  /** In front of the number. The second is for kazoo, which looks for nothing else. */
  readonly labels: { readonly curator: string; readonly kazoo?: string };
  /** Nobody can come in below a ticket that was there before. */
  readonly isEventEnough: boolean;
}

export class QueueLock {
  readonly path: string;
  readonly #session: Session;
  readonly #shape: QueueLockShape;
  readonly #options: LockOptions;
  readonly #queue: TicketQueue;
  readonly #chores = new Chores();

  constructor(session: Session, path: string, shape: QueueLockShape, options: LockOptions = {}) {
    if (path === "/") throw new UsageError("/ cannot be locked", { hint: "give a path of the lock's own" });
    if (options.compat === "all" && shape.labels.kazoo === undefined) {
      throw new UsageError(`kazoo has nothing that compat 'all' could be for in mode ${shape.mode}`);
    }
    this.path = path;
    this.#session = session;
    this.#shape = shape;
    this.#options = options;
    this.#queue = new TicketQueue({ session, path, isEventEnough: shape.isEventEnough, onEvent: this.#tell });
  }

  /**
   * Queues until it is ours. Throws LockError: `busy` (waitMs is 0), `lock-timeout`, `revoked` (removed from the queue),
   * `sequence-exhausted`; and what the session throws. Whatever it throws, no ticket and no watch stay behind: what
   * cannot be removed at once is removed in the background, see {@link settled}.
   */
  async acquire({ signal, waitMs, refreshMs }: AcquireOptions = {}): Promise<HeldLock> {
    const begun = performance.now();
    const wait = limitWait(signal, waitMs || undefined, () => timedOut(this.path, waitMs ?? 0));
    let ticket: Ticket | undefined;
    try {
      const entered = await this.#enter(wait.signal);
      ticket = entered.ticket;
      const own = new OwnNode(this.#session, this.path, ticket);
      this.#tell({ event: "queued", path: this.path, node: ticket.nodes[0] });
      if (!entered.children.includes(nameIn(this.path, ticket))) throw ticketGone(this.path);
      this.#queue.note(entered.children, ticket);
      const isFirst = this.#queue.isFirst(ticket);
      if (!isFirst && waitMs === 0) throw busy(this.path, await this.#queue.holder(ticket, wait.signal));
      void own.watch();
      if (!isFirst) {
        await this.#queue.untilFirst(ticket, {
          signal: wait.signal,
          own,
          ...(refreshMs !== undefined && { refreshMs }),
        });
      }
      own.throwIfGone();
      return this.#hold(ticket, own, performance.now() - begun);
    } catch (error) {
      if (ticket) this.#chores.add(remove(this.#session, ticket.nodes));
      throw wait.signal.aborted ? wait.signal.reason : error;
    } finally {
      wait.end();
    }
  }

  /** As {@link acquire}, around `work`, which is told of the loss by `lock.signal`. */
  async use<T>(work: (lock: HeldLock) => Promise<T>, options?: AcquireOptions): Promise<T> {
    const lock = await this.acquire(options);
    try {
      return await work(lock);
    } finally {
      await lock.release();
    }
  }

  /** Resolves when nothing that was cut short is left to be removed. */
  settled(): Promise<void> {
    return this.#chores.settled();
  }

  #enter(signal: AbortSignal): ReturnType<typeof enter> {
    const { acl, compat, mustExist } = this.#options;
    const { curator, kazoo } = this.#shape.labels;
    // kazoo remembers that it has made the path, and fails for good when an empty container was removed meanwhile.
    const parents = mustExist ? undefined : compat === "all" ? "persistent" : "container";
    const shape = {
      path: this.path,
      labels: compat === "all" && kazoo !== undefined ? ([curator, kazoo] as const) : ([curator] as const),
      data: this.#data(),
      parents,
      ...(acl && { acl }),
    } as const;
    return enter(this.#session, shape, randomUUID(), { signal, chores: this.#chores });
  }

  #hold(ticket: Ticket, own: OwnNode, waitedMs: number): HeldLock {
    const { mode } = this.#shape;
    const [session, path, onEvent] = [this.#session, this.path, this.#tell];
    const stamp = this.#options.data ? undefined : () => this.#data(new Date().toISOString());
    const lock = new HeldLock({ session, path, mode, ticket, own, waitedMs, onEvent, ...(stamp && { stamp }) });
    this.#tell({ event: "acquired", path, node: ticket.nodes[0], token: ticket.token, waitedMs });
    return lock;
  }

  #queuedAt: string | undefined;

  #data(acquired?: string): Buffer {
    const { data, holder } = this.#options;
    if (data) return data;
    this.#queuedAt ??= new Date().toISOString();
    return encodeRecord({
      v: 1,
      tool: "zksh",
      ...holder,
      mode: this.#shape.mode,
      session: `0x${this.#session.id.toString(16)}`,
      queued: this.#queuedAt,
      ...(acquired !== undefined && { acquired }),
    });
  }

  readonly #tell: LockListener = (event) => this.#options.onEvent?.(event);
}

function nameIn(path: string, ticket: Ticket): string {
  return ticket.nodes[0].slice(path.length + 1);
}

export function busy(path: string, holder: Party | undefined): LockError {
  return new LockError("busy", `${path} is held${holder ? ` by ${nameParty(holder)}` : ""}`, { path });
}

export function timedOut(path: string, waitMs: number): LockError {
  return new LockError("lock-timeout", `waited ${waitMs} ms for ${path}`, { path });
}

/** `ann@web3 pid 4711 deploy.sh ("release 42")`, or as much of it as is known. */
export function nameParty({ who, host, pid, cmd, why, note, client, session }: Party): string {
  const name = who ?? host ?? note ?? `session 0x${session.toString(16)}`;
  const parts = [name, pid === undefined ? "" : `pid ${pid}`, cmd ?? "", why === undefined ? "" : `("${why}")`];
  const by = who === undefined && client !== "unknown" ? `(${client})` : "";
  return [...parts, by].filter((part) => part !== "").join(" ");
}
