import type { AclRecord, StatRecord } from "../wire/records.ts";

/** What deletes a znode besides a delete request. */
export type Lifetime =
  | { readonly kind: "persistent" }
  | { readonly kind: "ephemeral"; readonly owner: bigint }
  /** `owner` is what its stat says. */
  | { readonly kind: "container"; readonly owner: bigint }
  | { readonly kind: "ttl"; readonly ttlMs: number };

export const PERSISTENT: Lifetime = { kind: "persistent" };

/** The part of a znode that the checks use. Within a multi the znode may not be in the tree yet. */
export interface ZnodeState {
  readonly data: Buffer | null;
  readonly acl: readonly AclRecord[];
  readonly lifetime: Lifetime;
  readonly version: number;
  readonly aversion: number;
  /** How many children were ever created: the next sequence number. */
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

  /** Returns a copy: later changes do not alter it. */
  stat(): StatRecord {
    const { czxid, mzxid, ctime, mtime, version, aversion, pzxid, childCount, lifetime } = this;
    return {
      czxid,
      mzxid,
      ctime,
      mtime,
      version,
      // cversion counts creations and deletions. Deletions are creates − childCount, so the sum is
      // 2 × creates − childCount.
      cversion: (this.creates * 2 - childCount) | 0,
      aversion,
      ephemeralOwner: "owner" in lifetime ? lifetime.owner : 0n,
      dataLength: this.data?.length ?? 0,
      numChildren: childCount,
      pzxid,
    };
  }
}
