/** Gathers what `session` prints, from this session and from the servers one by one. */
import { OperationError } from "../errors.ts";
import { locksOfSession } from "../recipes/locks/inspect/locks-of-session.ts";
import { findEphemerals } from "../recipes/servers/find-ephemerals.ts";
import {
  type Gap,
  type ToldSessions,
  toldConnections,
  toldSessions,
} from "../recipes/servers/told-sessions.ts";
import type { SessionResult } from "../results/servers.ts";
import { hexId, isSameId } from "../text/hex-id.ts";
import { askedServer, askedServers } from "./asked-servers.ts";
import type { Context } from "./command.ts";
import { whitelistLine } from "./word-failures.ts";

/** About ten seconds of work for a server. */
export const MAX_SEARCHED = 200_000;

export async function describeOwnSession(context: Context): Promise<SessionResult> {
  const { signal, shell, servers } = context;
  const own = context.session();
  const attached = servers.attached();
  // Only the server of this session knows its connection.
  const [ephemerals, told] = await Promise.all([
    ownEphemerals(context),
    toldConnections(attached === undefined ? [] : [askedServer(servers, attached)]),
  ]);
  const { address = own.localAddress, ...seen } = [...told.sessions.values()].find((one) =>
    isSameId(one.session, own.id),
  ) ?? { session: own.id };
  const { locks, unread } = await locksOfSession(own, own.id, ephemerals.paths, { signal });
  return {
    kind: "session",
    ...seen,
    session: own.id,
    isOwn: true,
    isShortLived: shell.isOneShot,
    timeoutMs: own.timeoutMs,
    ...(own.server !== undefined && { server: own.server }),
    ...(address !== undefined && { address }),
    ...(address === own.localAddress && { isLocalAddress: true }),
    ephemerals: ephemerals.paths,
    outside: 0,
    locks,
    unreadLocks: unread,
    gaps: told.gaps,
    ...(ephemerals.search && { search: ephemerals.search }),
  };
}

interface Ephemerals {
  readonly paths: readonly string[];
  readonly search?: SessionResult["search"];
}

async function ownEphemerals(context: Context): Promise<Ephemerals> {
  const own = context.session();
  try {
    return { paths: (await own.getEphemerals("/", { signal: context.signal })).toSorted() };
  } catch (error) {
    // Servers before 3.6 do not have it.
    if (!(error instanceof OperationError) || error.reason !== "unimplemented") throw error;
    return search(context, own.id);
  }
}

async function search({ session: own, signal, output }: Context, owner: bigint) {
  const { onProgress } = output;
  const { paths, ...rest } = await findEphemerals(own(), owner, {
    signal,
    limit: MAX_SEARCHED,
    ...(onProgress && { onProgress: (znodes: number) => onProgress(znodes, "znodes searched") }),
  });
  return { paths, search: rest };
}

export async function describeSession(context: Context, id: bigint): Promise<SessionResult> {
  const { signal, servers } = context;
  const told = await toldSessions(await askedServers(context));
  const seen = [...told.sessions.values()].find(({ session: one }) => isSameId(one, id));
  const { chroot = "" } = await servers.options();
  const all = seen?.ephemerals ?? [];
  const inside = all.filter((path) => chroot === "" || path.startsWith(`${chroot}/`));
  const ephemerals: Ephemerals = told.hasEphemerals
    ? { paths: inside.map((path) => path.slice(chroot.length)).toSorted() }
    : await search(context, id);
  if (seen === undefined && ephemerals.paths.length === 0) throw notFound(id, told, ephemerals);
  const own = context.session();
  const { locks, unread } = await locksOfSession(own, id, ephemerals.paths, { signal });
  return {
    kind: "session",
    ...seen,
    session: id,
    isOwn: false,
    isShortLived: false,
    ephemerals: ephemerals.paths,
    outside: all.length - inside.length,
    locks,
    unreadLocks: unread,
    gaps: told.gaps,
    ...(ephemerals.search && { search: ephemerals.search }),
  };
}

function notFound(id: bigint, { isComplete, gaps }: ToldSessions, { search }: Ephemerals): Error {
  if (isComplete) return new OperationError("no-session", `there is no session ${hexId(id)}`);
  const where = search?.isPartial === true ? ` among the first ${search.znodes} znodes` : "";
  return nothingTold(
    `session ${hexId(id)} owns no ephemeral znode${where}, and no server tells whether it exists`,
    gaps,
  );
}

export function nothingTold(message: string, gaps: readonly Gap[]): OperationError {
  const isRefused = gaps.some(({ isNotAllowed }) => isNotAllowed);
  const reason = gaps.find(({ says }) => says !== undefined);
  return new OperationError("session-unknown", message, {
    hint: isRefused
      ? whitelistLine(["cons", "dump"])
      : `${reason?.server} did not answer ${reason?.word}: ${reason?.says}`,
  });
}
