/**
 * The watches of all clients. A watch belongs to a connection and ends with it; the client
 * registers it again on its next connection.
 */
import { EventType } from "../wire/protocol.ts";
import type { AclRecord } from "../wire/records.ts";

/** A connection that events can be sent to. */
export interface Watcher {
  /** Sends an event, unless the ACL of the znode denies the client READ. */
  notify(type: number, path: string, acl: readonly AclRecord[]): void;
}

/** A changed znode, or one whose children changed. */
export interface Changed {
  readonly path: string;
  readonly acl: readonly AclRecord[];
}

export type WatchMode = "one-shot" | "persistent" | "recursive";

/**
 * The data watches or the child watches. As in ZooKeeper 3.8, a watcher has one mode per path: the
 * one it requested last.
 */
export class WatchTable {
  readonly #byPath = new Map<string, Map<Watcher, WatchMode>>();
  readonly #byWatcher = new Map<Watcher, Set<string>>();
  /** The number of recursive watches. If it is 0, events need not be matched with ancestors. */
  #recursive = 0;

  add(path: string, watcher: Watcher, mode: WatchMode): void {
    const watchers = this.#byPath.get(path) ?? new Map<Watcher, WatchMode>();
    if (watchers.size === 0) this.#byPath.set(path, watchers);
    this.#recursive += Number(mode === "recursive") - Number(watchers.get(watcher) === "recursive");
    watchers.set(watcher, mode);
    const paths = this.#byWatcher.get(watcher);
    if (paths === undefined) this.#byWatcher.set(watcher, new Set([path]));
    else paths.add(path);
  }

  /** Returns false if the watch did not exist. */
  remove(path: string, watcher: Watcher): boolean {
    if (!this.#byWatcher.get(watcher)?.delete(path)) return false;
    this.#forget(path, watcher);
    return true;
  }

  removeAll(watcher: Watcher): void {
    for (const path of this.#byWatcher.get(watcher) ?? []) this.#forget(path, watcher);
    this.#byWatcher.delete(watcher);
  }

  /**
   * Returns true if any watcher watches the path: ZooKeeper 3.8 answers checkWatches in this way,
   * whichever watcher asks.
   */
  isWatched(path: string): boolean {
    return this.#byPath.has(path);
  }

  /**
   * Notifies the watchers of a path, except those in `told`, and returns all of them. Removes the
   * one-shot watches that fire.
   */
  trigger(type: number, { path, acl }: Changed, told?: ReadonlySet<Watcher>): ReadonlySet<Watcher> {
    if (this.#byPath.size === 0) return NO_WATCHERS;
    const concerned = this.#concerned(type, path);
    for (const watcher of concerned) if (!told?.has(watcher)) watcher.notify(type, path, acl);
    return concerned;
  }

  get size(): number {
    let size = 0;
    for (const watchers of this.#byPath.values()) size += watchers.size;
    return size;
  }

  get watcherCount(): number {
    return this.#byWatcher.size;
  }

  get paths(): ReadonlyMap<string, ReadonlyMap<Watcher, WatchMode>> {
    return this.#byPath;
  }

  get watchers(): ReadonlyMap<Watcher, ReadonlySet<string>> {
    return this.#byWatcher;
  }

  #concerned(type: number, path: string): ReadonlySet<Watcher> {
    const own = this.#byPath.get(path);
    if (own === undefined && this.#recursive === 0) return NO_WATCHERS;
    const concerned = new Set<Watcher>();
    for (const [watcher, mode] of own ?? []) {
      if (mode !== "recursive" || type !== EventType.childrenChanged) concerned.add(watcher);
      if (mode === "one-shot") this.remove(path, watcher);
    }
    if (this.#recursive > 0 && type !== EventType.childrenChanged)
      this.#addAncestors(path, concerned);
    return concerned;
  }

  #addAncestors(path: string, concerned: Set<Watcher>): void {
    for (let at = path; at !== "/" && at !== ""; ) {
      at = at.slice(0, at.lastIndexOf("/")) || "/";
      for (const [watcher, mode] of this.#byPath.get(at) ?? [])
        if (mode === "recursive") concerned.add(watcher);
    }
  }

  #forget(path: string, watcher: Watcher): void {
    const watchers = this.#byPath.get(path);
    if (watchers === undefined) return;
    if (watchers.get(watcher) === "recursive") this.#recursive--;
    watchers.delete(watcher);
    if (watchers.size === 0) this.#byPath.delete(path);
  }
}

const NO_WATCHERS: ReadonlySet<Watcher> = new Set();

/** The two tables of watches, and the events that each change fires in them. */
export class Watches {
  readonly data = new WatchTable();
  readonly children = new WatchTable();

  created(znode: Changed, parent: Changed): void {
    this.data.trigger(EventType.created, znode);
    this.children.trigger(EventType.childrenChanged, parent);
  }

  deleted(znode: Changed, parent: Changed): void {
    const told = this.data.trigger(EventType.deleted, znode);
    this.children.trigger(EventType.deleted, znode, told);
    this.children.trigger(EventType.childrenChanged, parent);
  }

  changed(znode: Changed): void {
    this.data.trigger(EventType.dataChanged, znode);
  }

  addLasting(path: string, watcher: Watcher, mode: "persistent" | "recursive"): void {
    this.data.add(path, watcher, mode);
    this.children.add(path, watcher, mode);
  }

  removeAll(watcher: Watcher): void {
    this.data.removeAll(watcher);
    this.children.removeAll(watcher);
  }

  get size(): number {
    return this.data.size + this.children.size;
  }
}
