/**
 * The tree of znodes. Applies changes that have been checked, and sends the watch events at once.
 */
import type { AclRecord } from "../wire/records.ts";
import { OPEN_ACL } from "./access.ts";
import type { Dialect } from "./dialect.ts";
import { splitPath } from "./paths.ts";
import { Quotas } from "./quotas.ts";
import { refuse } from "./refusal.ts";
import type { Watches } from "./watches.ts";
import { type Lifetime, PERSISTENT, Znode } from "./znode.ts";

export interface NewZnode {
  readonly path: string;
  readonly data: Buffer | null;
  readonly acl: readonly AclRecord[];
  readonly lifetime: Lifetime;
  /** How many children the parent has ever had, this one included. */
  readonly parentCreates: number;
}

/** The time of a change: its zxid and the wall-clock time. */
export interface Moment {
  readonly zxid: bigint;
  readonly time: number;
}

export class Tree {
  readonly quotas = new Quotas(this);
  readonly #watches: Watches;
  readonly #root: Znode;
  readonly #znodes = new Map<string, Znode>();
  readonly #ephemerals = new Map<bigint, Set<string>>();
  /** Containers and TTL znodes. */
  readonly #reapable = new Set<string>();
  #bytes = 0;

  constructor(watches: Watches, { systemZnodes }: Pick<Dialect, "systemZnodes">) {
    this.#watches = watches;
    this.#root = this.#plant("/");
    for (const { path, data, acl, aversion = 0 } of systemZnodes) {
      const znode = this.#plant(path);
      if (data !== undefined) znode.data = data;
      if (acl !== undefined) znode.acl = acl;
      znode.aversion = aversion;
      const { parent, name } = splitPath(path);
      this.find(parent)?.addChild(name);
    }
  }

  /** Finds the root also by "". */
  find(path: string): Znode | undefined {
    return path === "" ? this.#root : this.#znodes.get(path);
  }

  get(path: string): Znode {
    return this.find(path) ?? refuse("noNode");
  }

  /**
   * The number of znodes as servers count them: the root counts twice, because it has two names.
   */
  get size(): number {
    return this.#znodes.size + 1;
  }

  get approximateBytes(): number {
    return this.#bytes;
  }

  /** The paths of ephemeral znodes by owning session. */
  get ephemerals(): ReadonlyMap<bigint, ReadonlySet<string>> {
    return this.#ephemerals;
  }

  get reapable(): ReadonlySet<string> {
    return this.#reapable;
  }

  countBelow(path: string): number {
    if (path === "/") return this.#znodes.size - 1;
    // By its name "/" the root counts as a descendant of "".
    if (path === "") return this.#znodes.size;
    let count = 0;
    const waiting = [path];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const name of this.find(at)?.children ?? []) {
        count++;
        waiting.push(`${at}/${name}`);
      }
    }
    return count;
  }

  create({ path, data, acl, lifetime, parentCreates }: NewZnode, { zxid, time }: Moment): Znode {
    const { parent: parentPath, name } = splitPath(path);
    const parent = this.get(parentPath);
    // A counter that has overflowed is not moved back, nor is pzxid.
    if (parentCreates > parent.creates) {
      parent.creates = parentCreates;
      parent.pzxid = zxid;
    }
    const znode = new Znode(data, acl, lifetime, zxid, time);
    parent.addChild(name);
    this.#znodes.set(path, znode);
    this.#bytes += weight(path, data);
    if (lifetime.kind === "ephemeral") this.#addEphemeral(lifetime.owner, path);
    else if (lifetime.kind !== "persistent") this.#reapable.add(path);
    this.quotas.created(parentPath, name, path, data?.length ?? 0);
    this.#watches.created({ path, acl }, { path: parentPath || "/", acl: parent.acl });
    return znode;
  }

  delete(path: string, zxid: bigint): void {
    const { parent: parentPath, name } = splitPath(path);
    const parent = this.get(parentPath);
    const { data, acl, lifetime } = this.get(path);
    parent.removeChild(name);
    if (zxid > parent.pzxid) parent.pzxid = zxid;
    this.#znodes.delete(path);
    this.#bytes -= weight(path, data);
    if (lifetime.kind === "ephemeral") this.#removeEphemeral(lifetime.owner, path);
    else if (lifetime.kind !== "persistent") this.#reapable.delete(path);
    this.quotas.deleted(parentPath, name, path, data?.length ?? 0);
    this.#watches.deleted({ path, acl }, { path: parentPath || "/", acl: parent.acl });
  }

  setData(path: string, data: Buffer | null, version: number, { zxid, time }: Moment): Znode {
    const znode = this.get(path);
    const bytes = (data?.length ?? 0) - (znode.data?.length ?? 0);
    znode.data = data;
    znode.version = version;
    znode.mzxid = zxid;
    znode.mtime = time;
    this.#bytes += bytes;
    this.quotas.changed(path, bytes);
    this.#watches.changed({ path, acl: znode.acl });
    return znode;
  }

  setAcl(path: string, acl: readonly AclRecord[], version: number): Znode {
    const znode = this.get(path);
    znode.acl = acl;
    znode.aversion = version;
    return znode;
  }

  /** Creates a znode that every tree has from the start. */
  #plant(path: string): Znode {
    const znode = new Znode(Buffer.alloc(0), OPEN_ACL, PERSISTENT, 0n, 0);
    this.#znodes.set(path, znode);
    this.#bytes += weight(path, znode.data);
    return znode;
  }

  #addEphemeral(owner: bigint, path: string): void {
    const paths = this.#ephemerals.get(owner);
    if (paths === undefined) this.#ephemerals.set(owner, new Set([path]));
    else paths.add(path);
  }

  #removeEphemeral(owner: bigint, path: string): void {
    const paths = this.#ephemerals.get(owner);
    paths?.delete(path);
    if (paths?.size === 0) this.#ephemerals.delete(owner);
  }
}

function weight(path: string, data: Buffer | null): number {
  return path.length + (data?.length ?? 0);
}
