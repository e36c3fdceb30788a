/**
 * Who is to be told of which change. A watch belongs to a connection and ends with it; a client
 * sets it again on its next connection.
 */
import { EventType } from "../wire/protocol.ts";
import type { AclRecord } from "../wire/records.ts";

/** A connection that events can be sent to. */
export interface Watcher {
  /** Hears nothing of a znode whose access list does not let it read. */
  notify(type: number, path: string, acl: readonly AclRecord[]): void;
}

/** A znode that something has happened to, or that had children come or go. */
export interface Changed {
  readonly path: string;
  readonly acl: readonly AclRecord[];
}

export type WatchMode = "one-shot" | "persistent" | "recursive";

/**
 * Watches of one sort, data or children. As in ZooKeeper 3.8, a watcher has one mode per path: the
 * last one asked for.
 */
export class WatchTable {
  readonly #byPath = new Map<string, Map<Watcher, WatchMode>>();
  readonly #byWatcher = new Map<Watcher, Set<string>>();
  /** While there are none, ancestors need not be looked at. */
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

  /** False when there was no such watch. */
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
   * Whether anybody at all watches the path: that is what ZooKeeper 3.8 looks at when one of them
   * asks.
   */
  isWatched(path: string): boolean {
    return this.#byPath.has(path);
  }

  /**
   * Notifies every watcher concerned, except those in `told`; returns all of them. Uses up
   * one-shot watches.
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

  /** Every watched path with its watchers. */
  get paths(): ReadonlyMap<string, ReadonlyMap<Watcher, WatchMode>> {
    return this.#byPath;
  }

  /** Every watcher with its paths. */
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

/** The two tables, and which of them a change concerns. */
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
