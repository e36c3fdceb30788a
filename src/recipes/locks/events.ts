/**
 * What a lock tells of itself while it is sought, held and given back. A view decides how that
 * looks.
 */
import type { LockMode, Party, RevokeRequest } from "./holder-record.ts";
import type { Removed } from "./queue/remove-znodes.ts";

/** The lock that an event is about. */
export interface At {
  /** The lock's path. */
  readonly path: string;
}

/** A holder or a waiter, and what it wants. */
export interface Contending extends Party {
  readonly mode: LockMode;
}

/** How many permits of a semaphore are taken, and how many there are. */
export interface Permits {
  readonly taken: number;
  readonly limit: number;
}

/** In the queue, and behind another contender. Told again when what it says has changed. */
export interface Waiting extends At {
  readonly event: "waiting";
  readonly node: string;
  readonly mode: LockMode;
  /**
   * 1 is the next to get it; `of` counts all who wait. Left out where waiters do not queue
   * (UniqueLock).
   */
  readonly position?: number;
  readonly of?: number;
  /** How many contenders must leave before it is our turn: holders, and waiters in front of us. */
  readonly inFront: number;
  /** The ticket that is watched, and its maker where that is known. */
  readonly ahead: string;
  readonly aheadBy?: Contending;
  /** `leases`: not a ticket is watched, but the list of a semaphore's permits. */
  readonly watches: "ticket" | "leases";
  /** The first holder, where it can be told. */
  readonly holder?: Contending;
  /** All holders that were read; `holderCount` counts the others too. */
  readonly holders: readonly Contending[];
  readonly holderCount: number;
  /** The waiters that we wait for, as far as they were read; first come first. */
  readonly waiters: readonly Contending[];
  readonly waiterCount: number;
  readonly permits?: Permits;
}

/** A ticket that was in front of ours is gone: released, given up, expired or deleted. */
export interface Gone extends At {
  readonly ahead: string;
  readonly aheadBy?: Contending;
  /** How long it held the lock, where it did and where that can be told. */
  readonly heldMs?: number;
}

/** A step of a lock, from its ticket to its end. */
export type LockEvent =
  | (At & { readonly event: "queued"; readonly node: string; readonly mode: LockMode })
  | Waiting
  /** The ticket that was watched; who is next is looked up, or known. */
  | (Gone & { readonly event: "predecessor-gone" })
  /** Another one in front of us. Told only where the queue is looked at (`refreshMs`). */
  | (Gone & { readonly event: "contender-gone" })
  /** A semaphore's permits were all taken: the lease that was made to see that is given back. */
  | (At & { readonly event: "no-permit"; readonly node: string; readonly permits: Permits })
  /** The head of a semaphore's queue has made the lease that it keeps until the lease is good. */
  | (At & { readonly event: "leased"; readonly node: string })
  | (At & {
      readonly event: "acquired";
      readonly node: string;
      readonly token: bigint;
      readonly waitedMs: number;
      readonly mode: LockMode;
      /** Not at once: others were in front. */
      readonly hasWaited: boolean;
      readonly permits?: Permits;
    })
  /**
   * A lock of several was released because another contender waits for it; it is taken again later.
   */
  | (At & { readonly event: "gave-way" })
  /**
   * A release woke all waiters at once, and this one came too late again: how locks on one
   * well-known znode are.
   */
  | (At & { readonly event: "outrun" })
  /** Sorts of tickets that overlook each other queue here. */
  | (At & { readonly event: "strangers"; readonly sorts: readonly string[] })
  | (At & { readonly event: "revoke-asked"; readonly request: RevokeRequest })
  | (At & {
      readonly event: "lost";
      readonly reason: LostLockReason;
      /** The session ended because a server refused its login or a credential. */
      readonly isRefused?: true;
    })
  /** `expiry`: it could not be told to the server, which lets it go with the session. */
  | (At & { readonly event: "released"; readonly how: Removed; readonly node: string });

/** `node-deleted`: another client removed the ticket. */
export type LostLockReason = "session-lost" | "node-deleted";

/**
 * Is told each step of a lock.
 *
 * @example
 * ```ts
 * const onEvent: LockListener = (event) => {
 *   if (event.event === "waiting") console.log(`${event.inFront} in front of us`);
 * };
 * await new Mutex(session, "/locks/deploy", { onEvent }).acquire();
 * ```
 */
export type LockListener = (event: LockEvent) => void;
