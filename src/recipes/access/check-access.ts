/** Finds the ACL that decides about a request, and what it says. */
import { NoNodeError, OperationError, PermissionError } from "../../errors.ts";
import { kindOf } from "../../session/node-kind.ts";
import { ancestors, parentPath } from "../../session/path.ts";
import { type Acl, Permission, type Session } from "../../session/session.ts";
import { type Decision, decide, decideUnseen, type KnownIdentities } from "./decide.ts";

export type PermissionName = Exclude<keyof typeof Permission, "all">;

export interface Access extends Omit<Decision, "why"> {
  /** The znode whose ACL decides. */
  readonly aclOf: string;
  readonly why?: Decision["why"] | "root" | "ephemeral";
  readonly who: KnownIdentities;
}

/**
 * Whether the session may read, write or admin `path`, create children of it, or delete it. For a
 * create below a znode that does not exist, the nearest existing parent decides. Throws NoNodeError
 * for a znode that does not exist.
 */
export async function checkAccess(
  session: Session,
  permission: PermissionName,
  path: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<Access> {
  const bit = Permission[permission];
  const aclOf = await decidingZnode(session, permission, path, signal);
  const [shown, named] = await Promise.all([
    shownAcl(session, aclOf, signal),
    namedIdentities(session, signal),
  ]);
  // After the answer to getAcl: the server has judged the credentials before it.
  const credentials = await session.credentialIds();
  const who = { credentials, named, localAddress: session.localAddress };
  if (permission === "delete" && path === "/")
    return { aclOf, who, isPermitted: false, why: "root" };
  if (shown === undefined) return { aclOf, who, ...decideUnseen(bit) };
  if (permission === "create" && shown.isEphemeral)
    return { aclOf, who, isPermitted: false, why: "ephemeral" };
  return { aclOf, who, ...decide(shown.acl, bit, who) };
}

async function decidingZnode(
  session: Session,
  permission: PermissionName,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  if (permission !== "create" && permission !== "delete") return path;
  const places = path === "/" ? ["/"] : ["/", ...ancestors(path), path];
  const stats = await Promise.all(places.map((place) => session.exists(place, { signal })));
  const missing = stats.indexOf(undefined);
  if (missing < 0) return permission === "delete" ? parentPath(path) : path;
  const nearest = places[missing - 1];
  if (permission === "create" && nearest !== undefined) return nearest;
  throw new NoNodeError("no-node", `no such znode: ${path} (NoNode)`, { path, code: -101 });
}

interface ShownAcl {
  readonly acl: readonly Acl[];
  readonly isEphemeral: boolean;
}

/** Undefined if the server does not show it to this session. */
async function shownAcl(
  session: Session,
  path: string,
  signal: AbortSignal,
): Promise<ShownAcl | undefined> {
  try {
    const { acl, stat } = await session.getAcl(path, { signal });
    return { acl, isEphemeral: kindOf(stat) === "ephemeral" };
  } catch (error) {
    if (error instanceof PermissionError && error.reason === "no-auth") return undefined;
    throw error;
  }
}

/** Undefined if the server cannot name them: servers before 3.7. */
async function namedIdentities(
  session: Session,
  signal: AbortSignal,
): Promise<KnownIdentities["named"]> {
  try {
    return await session.whoAmI({ signal });
  } catch (error) {
    if (error instanceof OperationError) return undefined;
    throw error;
  }
}
