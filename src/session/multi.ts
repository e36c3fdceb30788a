/** Several operations in one request: transactions of writes, and reads that share a round trip. */
import type { Acl, CreateMode, Stat } from "./session.ts";

/** One step of a transaction; all happen or none. A version left out means any. */
export type MultiOp =
  | {
      readonly op: "create";
      readonly path: string;
      readonly data?: Buffer | null;
      readonly mode?: CreateMode;
      readonly acl?: readonly Acl[];
      readonly ttlMs?: number;
    }
  | { readonly op: "delete"; readonly path: string; readonly version?: number }
  | {
      readonly op: "setData";
      readonly path: string;
      readonly data: Buffer | null;
      readonly version?: number;
    }
  | { readonly op: "check"; readonly path: string; readonly version?: number };

/**
 * What one step of a transaction gave. `zxid` of a create equals the new node's czxid, also where
 * the server sends no stat.
 */
export type MultiResult =
  | { readonly op: "create"; readonly path: string; readonly stat?: Stat }
  | { readonly op: "delete" }
  | { readonly op: "setData"; readonly stat: Stat }
  | { readonly op: "check" };

/** A transaction that was carried out. */
export interface Committed {
  readonly results: readonly MultiResult[];
  readonly zxid: bigint;
}

/** One read of {@link Session.multiRead}. */
export type ReadOp =
  | { readonly op: "getData"; readonly path: string }
  | { readonly op: "getChildren"; readonly path: string };

/** Each read of a multiRead fails alone: `error` instead of a value. */
export type ReadResult =
  | {
      readonly op: "getData";
      readonly path: string;
      readonly data: Buffer | null;
      readonly stat: Stat;
    }
  | { readonly op: "getChildren"; readonly path: string; readonly children: string[] }
  | { readonly op: "error"; readonly path: string; readonly error: Error };
