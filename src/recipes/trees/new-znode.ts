/** A znode that `cp` or `import` writes, and the requests that create it. */
import {
  type Acl,
  type CreateMode,
  type MultiOp,
  OPEN_ACL,
  type Session,
} from "../../session/session.ts";

export interface NewZnode {
  readonly path: string;
  readonly data: Buffer | null;
  /** Left out: open to all, and the ACL of a znode that exists stays. */
  readonly acl?: readonly Acl[] | undefined;
  readonly mode?: Extract<CreateMode, "persistent" | "container" | "persistentWithTtl">;
  readonly ttlMs?: number | undefined;
  /** The number that the next sequential child gets, where it must be the same as elsewhere. */
  readonly nextSequence?: number | undefined;
}

/** The create as a part of a transaction. */
export function createOf({ path, data, acl = OPEN_ACL, mode, ttlMs }: NewZnode): MultiOp {
  return {
    op: "create",
    path,
    data,
    acl,
    ...(mode && { mode }),
    ...(ttlMs !== undefined && { ttlMs }),
  };
}

/** The create as a request of its own. */
export function createZnode(
  session: Session,
  { path, data, acl, mode, ttlMs }: NewZnode,
  signal: AbortSignal,
): Promise<string> {
  return session.create(path, data, {
    signal,
    ...(acl && { acl }),
    ...(mode && { mode }),
    ...(ttlMs !== undefined && { ttlMs }),
  });
}

/** Compares the data of two znodes: only zkCli tells a znode without data from an empty one. */
export function hasEqualData(one: Buffer | null, other: Buffer | null): boolean {
  return (one ?? Buffer.alloc(0)).equals(other ?? Buffer.alloc(0));
}
