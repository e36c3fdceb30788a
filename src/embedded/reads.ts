/** The handlers of read requests. */
import type { JuteReader, JuteWriter } from "../wire/jute.ts";
import { writeAcl, writeStat } from "../wire/records.ts";
import { checkAccess, isPermitted, maskAcl, Perm, userOf } from "./access.ts";
import type { Body, Handler, RequestSource } from "./handler.ts";
import { refuse } from "./refusal.ts";
import type { ServerState } from "./server-state.ts";
import type { Znode } from "./znode.ts";

export interface Read {
  readonly path: string;
  readonly watch: boolean;
}

export function readRead(request: JuteReader): Read {
  return { path: request.text(), watch: request.boolean() };
}

export const exists: Handler = (keeper, caller, request) => {
  const { path, watch } = readRead(request);
  if (path.includes("\0")) refuse("badArguments");
  // exists() sets a watch also on a missing znode: it fires when the znode is created.
  if (watch) keeper.watches.data.add(path, caller, "one-shot");
  const stat = keeper.tree.get(path).stat();
  return (writer) => writeStat(writer, stat);
};

export const getData: Handler = (keeper, caller, request) =>
  dataOf(keeper, caller, readRead(request));

export function dataOf(keeper: ServerState, caller: RequestSource, { path, watch }: Read): Body {
  const znode = readable(keeper, caller, path);
  if (watch) keeper.watches.data.add(path, caller, "one-shot");
  return (writer) => {
    writer.buffer(znode.data);
    writeStat(writer, znode.stat());
  };
}

export const getChildren: Handler = (keeper, caller, request) =>
  childrenOf(keeper, caller, readRead(request)).names;

export const getChildren2: Handler = (keeper, caller, request) => {
  const { names, znode } = childrenOf(keeper, caller, readRead(request));
  return (writer) => {
    names(writer);
    writeStat(writer, znode.stat());
  };
};

export function childrenOf(
  keeper: ServerState,
  caller: RequestSource,
  { path, watch }: Read,
): { names: Body; znode: Znode } {
  const znode = readable(keeper, caller, path);
  if (watch) keeper.watches.children.add(path, caller, "one-shot");
  return { znode, names: (writer) => writeNames(writer, znode.children) };
}

export const getAcl: Handler = (keeper, { identities }, request) => {
  const znode = keeper.tree.get(request.text());
  checkAccess(znode.acl, Perm.read | Perm.admin, identities);
  const acl = isPermitted(znode.acl, Perm.admin, identities) ? znode.acl : maskAcl(znode.acl);
  return (writer) => {
    writer.vector(acl, (entry) => writeAcl(writer, entry));
    writeStat(writer, znode.stat());
  };
};

export const getAllChildrenNumber: Handler = (keeper, caller, request) => {
  const path = request.text();
  readable(keeper, caller, path);
  const count = keeper.tree.countBelow(path);
  return (writer) => writer.int(count);
};

export const getEphemerals: Handler = (keeper, { session }, request) => {
  const prefix = request.string() ?? "";
  const own = [...(keeper.tree.ephemerals.get(session.id) ?? [])];
  const isAll = ["", "/"].includes(prefix.trim());
  const found = isAll ? own : own.filter((path) => path.startsWith(prefix));
  return (writer) => writeNames(writer, new Set(found));
};

export const whoAmI: Handler =
  (_keeper, { identities }) =>
  (writer) =>
    writer.vector(identities, (identity) => {
      writer.string(identity.scheme);
      writer.string(userOf(identity));
    });

/** With one server there is nothing to wait for. */
export const sync: Handler = (_keeper, _caller, request) => {
  const path = request.string();
  return (writer) => writer.string(path);
};

function readable(keeper: ServerState, { identities }: RequestSource, path: string): Znode {
  const znode = keeper.tree.get(path);
  checkAccess(znode.acl, Perm.read, identities);
  return znode;
}

function writeNames(writer: JuteWriter, names: ReadonlySet<string>): void {
  writer.int(names.size);
  for (const name of names) writer.string(name);
}
