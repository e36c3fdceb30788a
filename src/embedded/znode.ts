import type { AclRecord, StatRecord } from "../wire/records.ts";

/** What ends a znode, besides a delete. */
export type Lifetime =
  | { readonly kind: "persistent" }
  | { readonly kind: "ephemeral"; readonly owner: bigint }
  | { readonly kind: "container" }
  | { readonly kind: "ttl"; readonly ttlMs: number };

export const PERSISTENT: Lifetime = { kind: "persistent" };
export const CONTAINER: Lifetime = { kind: "container" };

/**
 * The checks before a change look at this much of a znode; within a multi it may exist in no tree
 * yet.
 */
export interface ZnodeState {
  readonly data: Buffer | null;
  readonly acl: readonly AclRecord[];
  readonly lifetime: Lifetime;
  readonly version: number;
  readonly aversion: number;
  /** How many children were ever created: what sequence numbers are taken from. */
  readonly creates: number;
  readonly childCount: number;
}

const NO_CHILDREN: ReadonlySet<string> = new Set();

export class Znode implements ZnodeState {
  data: Buffer | null;
  acl: readonly AclRecord[];
  readonly lifetime: Lifetime;
  version = 0;
  aversion = 0;
  creates = 0;
  readonly czxid: bigint;
  mzxid: bigint;
  pzxid: bigint;
  readonly ctime: number;
  mtime: number;
  #children: Set<string> | undefined;

  constructor(
    data: Buffer | null,
    acl: readonly AclRecord[],
    lifetime: Lifetime,
    zxid: bigint,
    time: number,
  ) {
    this.data = data;
    this.acl = acl;
    this.lifetime = lifetime;
    this.czxid = zxid;
    this.mzxid = zxid;
    this.pzxid = zxid;
    this.ctime = time;
    this.mtime = time;
  }

  get children(): ReadonlySet<string> {
    return this.#children ?? NO_CHILDREN;
  }

  get childCount(): number {
    return this.#children?.size ?? 0;
  }

  addChild(name: string): void {
    this.#children ??= new Set();
    this.#children.add(name);
  }

  removeChild(name: string): void {
    this.#children?.delete(name);
  }

  /** As clients see it now; later changes do not show in it. */
  stat(): StatRecord {
    const { czxid, mzxid, ctime, mtime, version, aversion, pzxid, childCount, lifetime } = this;
    return {
      czxid,
      mzxid,
      ctime,
      mtime,
      version,
      // Creations and deletions: every child that was created and is not there any more has been
      // deleted.
      cversion: (this.creates * 2 - childCount) | 0,
      aversion,
      ephemeralOwner: lifetime.kind === "ephemeral" ? lifetime.owner : 0n,
      dataLength: this.data?.length ?? 0,
      numChildren: childCount,
      pzxid,
    };
  }
}
