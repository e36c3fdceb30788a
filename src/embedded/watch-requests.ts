/** The handlers of requests that only concern watches. */
import { type JuteReader, MalformedFrameError } from "../wire/jute.ts";
import { AddWatchMode, EventType, WatcherType } from "../wire/protocol.ts";
import type { Handler, RequestSource } from "./handler.ts";
import { refuse } from "./refusal.ts";
import type { ServerState } from "./server-state.ts";
import type { Watches, WatchTable } from "./watches.ts";

function readPaths(request: JuteReader): string[] {
  return request.vector(() => request.text());
}

/**
 * Registers the watches of a reconnected client, and sends at once the events that it missed since
 * `relativeZxid`.
 */
export const setWatches: Handler = (keeper, caller, request) => {
  const relativeZxid = request.long();
  const [data, exist, children] = [readPaths(request), readPaths(request), readPaths(request)];
  setAgain(keeper, caller, relativeZxid, { data, exist, children });
  return undefined;
};

/** Persistent watches are registered without events for missed changes, as in ZooKeeper. */
export const setWatches2: Handler = (keeper, caller, request) => {
  const relativeZxid = request.long();
  const [data, exist, children] = [readPaths(request), readPaths(request), readPaths(request)];
  const [persistent, recursive] = [readPaths(request), readPaths(request)];
  setAgain(keeper, caller, relativeZxid, { data, exist, children });
  for (const path of persistent) keeper.watches.addLasting(path, caller, "persistent");
  for (const path of recursive) keeper.watches.addLasting(path, caller, "recursive");
  return undefined;
};

function setAgain(
  { tree, watches }: ServerState,
  caller: RequestSource,
  relativeZxid: bigint,
  paths: Readonly<Record<"data" | "exist" | "children", readonly string[]>>,
): void {
  for (const path of paths.data) {
    const znode = tree.find(path);
    if (znode === undefined) caller.notify(EventType.deleted, path, []);
    else if (znode.mzxid > relativeZxid) caller.notify(EventType.dataChanged, path, []);
    else watches.data.add(path, caller, "one-shot");
  }
  for (const path of paths.exist) {
    if (tree.find(path) !== undefined) caller.notify(EventType.created, path, []);
    else watches.data.add(path, caller, "one-shot");
  }
  for (const path of paths.children) {
    const znode = tree.find(path);
    if (znode === undefined) caller.notify(EventType.deleted, path, []);
    else if (znode.pzxid > relativeZxid) caller.notify(EventType.childrenChanged, path, []);
    else watches.children.add(path, caller, "one-shot");
  }
}

export const addWatch: Handler = ({ watches }, caller, request) => {
  const path = request.text();
  const mode = request.int();
  if (mode === AddWatchMode.persistent) watches.addLasting(path, caller, "persistent");
  else if (mode === AddWatchMode.recursive) watches.addLasting(path, caller, "recursive");
  else throw new MalformedFrameError(`a watch of mode ${mode}`);
  return (writer) => writer.int(0);
};

export const checkWatches: Handler = ({ watches }, _caller, request) => {
  const path = request.text();
  if (!tablesOf(watches, request.int()).some((table) => table.isWatched(path))) refuse("noWatcher");
  return undefined;
};

export const removeWatches: Handler = ({ watches }, caller, request) => {
  const path = request.text();
  const removed = tablesOf(watches, request.int()).filter((table) => table.remove(path, caller));
  if (removed.length === 0) refuse("noWatcher");
  return undefined;
};

function tablesOf({ data, children }: Watches, type: number): WatchTable[] {
  if (type === WatcherType.children) return [children];
  if (type === WatcherType.data) return [data];
  if (type === WatcherType.any) return [children, data];
  throw new MalformedFrameError(`watches of type ${type}`);
}
