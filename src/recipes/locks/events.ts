/** What a lock tells of itself while it is sought, held and given back. A view decides how that looks. */
import type { Party, RevokeRequest } from "./holder-record.ts";

interface At {
  /** The lock's path. */
  readonly path: string;
}

/** In the queue, and behind somebody. */
export interface Waiting extends At {
  readonly event: "waiting";
  readonly node: string;
  /** 1 is the next to get it; `of` counts everybody who waits. */
  readonly position: number;
  readonly of: number;
  /** The ticket that is watched. */
  readonly ahead: string;
  /** Who holds it, as far as can be told. */
  readonly holder?: Party;
}

export type LockEvent =
  | (At & { readonly event: "queued"; readonly node: string })
  | Waiting
  /** The ticket that was watched is gone; who is next is looked up, or known. */
  | (At & { readonly event: "predecessor-gone"; readonly ahead: string })
  | (At & { readonly event: "acquired"; readonly node: string; readonly token: bigint; readonly waitedMs: number })
  /** A release woke everybody at once, and this one came too late again: how locks on one well-known znode are. */
  | (At & { readonly event: "outrun" })
  /** Sorts of tickets that overlook each other queue here. */
  | (At & { readonly event: "strangers"; readonly sorts: readonly string[] })
  | (At & { readonly event: "revoke-asked"; readonly request: RevokeRequest })
  | (At & { readonly event: "lost"; readonly reason: LostLockReason })
  /** `expiry`: it could not be told to the server, which lets it go with the session. */
  | (At & { readonly event: "released"; readonly how: "delete" | "expiry" });

/** `node-deleted`: somebody removed the ticket. */
export type LostLockReason = "session-lost" | "node-deleted";

export type LockListener = (event: LockEvent) => void;
