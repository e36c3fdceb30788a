import type { JuteWriter } from "../../../wire/jute.ts";
import { EventType } from "../../../wire/protocol.ts";
import { parentPath } from "../../path.ts";
import type {
  PersistentWatchMode,
  WatchEventType,
  WatchKind,
  WatchListener,
} from "../../session.ts";
import { notifyListeners } from "./notify-listeners.ts";

/**
 * What a read with a watch left on the server: `exist` is the watch of `exists` on a znode that is
 * not there.
 */
export type OneShotKind = "data" | "exist" | "child";

/** Which watches of a path the server should forget. */
export type Forget = "data" | "child" | "any";

const WATCH_KINDS: readonly WatchKind[] = ["children", "data", "persistent"];

interface Removed {
  readonly removed: readonly WatchKind[];
  readonly forget: Forget | undefined;
}

interface PersistentWatch {
  readonly listeners: Set<WatchListener>;
  /** Whether the znode is there, as far as events tell; undefined when unknown. */
  exists: boolean | undefined;
}

/**
 * A setWatches request repeats every path. Servers refuse requests over 1 MB, so it goes out in
 * pieces of at most this.
 */
const PIECE_BYTES = 128 * 1024;

const EVENT_TYPES: ReadonlyMap<number, WatchEventType> = new Map([
  [EventType.created, "created"],
  [EventType.deleted, "deleted"],
  [EventType.dataChanged, "data-changed"],
  [EventType.childrenChanged, "children-changed"],
]);

/**
 * The watches of one session: who listens to what, and how to set it all again on a new connection.
 * Kept by the server's paths; listeners hear the session's own (without the chroot).
 */
export class WatchRegistry {
  readonly #toClientPath: (path: string) => string;
  readonly #oneShot: Readonly<Record<OneShotKind, Map<string, Set<WatchListener>>>> = {
    data: new Map(),
    exist: new Map(),
    child: new Map(),
  };
  readonly #persistent: Readonly<Record<PersistentWatchMode, Map<string, PersistentWatch>>> = {
    persistent: new Map(),
    recursive: new Map(),
  };

  constructor(toClientPath: (path: string) => string) {
    this.#toClientPath = toClientPath;
  }

  addOneShot(kind: OneShotKind, path: string, listener: WatchListener): void {
    const watches = this.#oneShot[kind];
    const listeners = watches.get(path);
    if (listeners === undefined) watches.set(path, new Set([listener]));
    else listeners.add(listener);
  }

  addPersistent(mode: PersistentWatchMode, path: string, listener: WatchListener): void {
    const watch = this.#persistent[mode].get(path);
    if (watch === undefined)
      this.#persistent[mode].set(path, { listeners: new Set([listener]), exists: undefined });
    else watch.listeners.add(listener);
  }

  hasPersistent(path: string): boolean {
    return this.#persistent.persistent.has(path) || this.#persistent.recursive.has(path);
  }

  /** Tells what is known of a persistently watched znode, so that a gap can be bridged exactly. */
  noteExistence(path: string, exists: boolean): void {
    const watch = this.#persistent.persistent.get(path);
    if (watch !== undefined) watch.exists = exists;
  }

  /**
   * Takes `listener` off `path`, or off one kind of watch there. Tells what it was taken off, and
   * which watches without listeners the server should forget.
   */
  remove(path: string, listener: WatchListener, only?: WatchKind | "recursive"): Removed {
    const had = { data: false, children: false, persistent: false };
    const modes = this.#persistentModes(path);
    const isMeant = (kind: WatchKind | "recursive") => only === undefined || only === kind;
    if (isMeant("children")) had.children = this.#removeOneShot("child", path, listener);
    if (isMeant("data")) {
      const data = this.#removeOneShot("data", path, listener);
      had.data = this.#removeOneShot("exist", path, listener) || data;
    }
    for (const mode of ["persistent", "recursive"] as const) {
      if (isMeant(mode) && this.#removePersistent(mode, path, listener)) had.persistent = true;
    }
    const { data, exist, child } = this.#oneShot;
    // The server keeps data and exist watches in one place: it may forget it only when both are
    // unused.
    const dataUnused = had.data && !data.has(path) && !exist.has(path);
    const childUnused = had.children && !child.has(path);
    const isAny = this.#persistentModes(path) < modes || (dataUnused && childUnused);
    const forget = isAny ? "any" : dataUnused ? "data" : childUnused ? "child" : undefined;
    return { removed: WATCH_KINDS.filter((kind) => had[kind]), forget };
  }

  /** Calls the listeners that an event of the server concerns; it uses up one-shot watches. */
  dispatch(wireType: number, path: string): void {
    const type = EVENT_TYPES.get(wireType);
    if (type === undefined) return;
    const listeners = new Set<WatchListener>();
    const kinds: readonly OneShotKind[] =
      type === "children-changed"
        ? ["child"]
        : type === "deleted"
          ? ["data", "exist", "child"]
          : ["data", "exist"];
    for (const kind of kinds) {
      for (const listener of this.#oneShot[kind].get(path) ?? []) listeners.add(listener);
      this.#oneShot[kind].delete(path);
    }
    this.#addPersistentListeners(type, path, listeners);
    notifyListeners(listeners, { type, path: this.#toClientPath(path) });
  }

  /** The session is over: every listener hears it once, and nothing is left. */
  lose(): void {
    const told = new Map<WatchListener, string>();
    for (const watches of Object.values(this.#oneShot)) {
      for (const [path, listeners] of watches)
        for (const listener of listeners) told.set(listener, path);
      watches.clear();
    }
    for (const watches of Object.values(this.#persistent)) {
      for (const [path, watch] of watches)
        for (const listener of watch.listeners) told.set(listener, path);
      watches.clear();
    }
    for (const [listener, path] of told)
      notifyListeners([listener], { type: "lost", path: this.#toClientPath(path) });
  }

  /** Tells those whose gap the server cannot bridge that there was one. */
  announceGap(zxid: bigint): void {
    for (const [mode, watches] of Object.entries(this.#persistent)) {
      for (const [path, watch] of watches) {
        const bridged = mode === "persistent" && watch.exists !== undefined;
        if (!bridged)
          notifyListeners(watch.listeners, {
            type: "rearmed",
            path: this.#toClientPath(path),
            zxid,
          });
      }
    }
  }

  /**
   * The bodies of the setWatches requests that set everything (or what is on one path) again on a
   * new connection.
   */
  setAgain(relativeZxid: bigint, only?: string): SetWatchesPiece[] {
    const pieces: SetWatchesPiece[] = [];
    let piece: SetWatchesPiece | undefined;
    const add = (list: keyof WatchLists, path: string) => {
      if (only !== undefined && path !== only) return;
      const bytes = 4 + Buffer.byteLength(path);
      if (piece === undefined || piece.bytes + bytes > PIECE_BYTES) {
        piece = new SetWatchesPiece(relativeZxid);
        pieces.push(piece);
      }
      piece.bytes += bytes;
      piece.lists[list].push(path);
    };
    for (const kind of ["data", "exist", "child"] as const) {
      for (const path of this.#oneShot[kind].keys()) add(kind, path);
    }
    for (const [path, { exists }] of this.#persistent.persistent) {
      // The server sets a persistent watch again without a word about changes in between. Asked for
      // as a one-shot watch too, it compares zxids and reports them at once.
      if (exists === true) {
        add("data", path);
        add("child", path);
      } else if (exists === false) add("exist", path);
      add("persistent", path);
    }
    for (const path of this.#persistent.recursive.keys()) add("recursive", path);
    return pieces;
  }

  #removeOneShot(kind: OneShotKind, path: string, listener: WatchListener): boolean {
    const listeners = this.#oneShot[kind].get(path);
    const had = listeners?.delete(listener) ?? false;
    if (listeners?.size === 0) this.#oneShot[kind].delete(path);
    return had;
  }

  /** How many kinds of persistent watch there are on a path. */
  #persistentModes(path: string): number {
    return (
      Number(this.#persistent.persistent.has(path)) + Number(this.#persistent.recursive.has(path))
    );
  }

  #removePersistent(mode: PersistentWatchMode, path: string, listener: WatchListener): boolean {
    const watch = this.#persistent[mode].get(path);
    const had = watch?.listeners.delete(listener) ?? false;
    if (watch?.listeners.size === 0) this.#persistent[mode].delete(path);
    return had;
  }

  #addPersistentListeners(type: WatchEventType, path: string, listeners: Set<WatchListener>): void {
    const own = this.#persistent.persistent.get(path);
    if (own !== undefined) {
      // Set again as data and as child watch, a deletion in the gap is reported twice.
      const repeated = type === "deleted" && own.exists === false;
      if (!repeated) for (const listener of own.listeners) listeners.add(listener);
      own.exists = type !== "deleted";
    }
    if (type === "children-changed" || this.#persistent.recursive.size === 0) return;
    for (let ancestor = path; ; ancestor = parentPath(ancestor)) {
      for (const listener of this.#persistent.recursive.get(ancestor)?.listeners ?? [])
        listeners.add(listener);
      if (ancestor === "/") return;
    }
  }
}

interface WatchLists {
  readonly data: string[];
  readonly exist: string[];
  readonly child: string[];
  readonly persistent: string[];
  readonly recursive: string[];
}

/**
 * One setWatches request: setWatches2 (servers from 3.6) when persistent watches are among them.
 */
export class SetWatchesPiece {
  readonly lists: WatchLists = { data: [], exist: [], child: [], persistent: [], recursive: [] };
  bytes = 0;
  readonly #relativeZxid: bigint;

  constructor(relativeZxid: bigint) {
    this.#relativeZxid = relativeZxid;
  }

  get needsSetWatches2(): boolean {
    return this.lists.persistent.length > 0 || this.lists.recursive.length > 0;
  }

  write(writer: JuteWriter): void {
    const { data, exist, child, persistent, recursive } = this.lists;
    const lists = this.needsSetWatches2
      ? [data, exist, child, persistent, recursive]
      : [data, exist, child];
    writer.long(this.#relativeZxid);
    for (const list of lists) writer.vector(list, (path) => writer.string(path));
  }
}
