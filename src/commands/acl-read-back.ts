/**
 * ClickHouse Keeper stores digests, and leaves out what else an ACL says without a word: the znode
 * may be open to everybody afterwards. So the ACL is read back there.
 */
import { PermissionError } from "../errors.ts";
import type { Result } from "../results/result.ts";
import { formatAcl } from "../session/acl.ts";
import { type Acl, type CallOptions, Permission, type Session } from "../session/session.ts";
import type { Context } from "./command.ts";

/** Whether ClickHouse Keeper may leave out a part of it. */
export function mayBeCut(list: readonly Acl[]): boolean {
  return list.some(({ scheme, perms }) => {
    if (scheme === "world") return perms !== Permission.all;
    return scheme !== "digest" && scheme !== "auth";
  });
}

/** The result of a write with this ACL, and a warning where the server has not stored all of it. */
export async function* readBack(
  { session, signal }: Context,
  list: readonly Acl[],
  written: Promise<Extract<Result, { readonly path: string }>>,
): AsyncGenerator<Result> {
  const result = await written;
  yield result;
  const own = session();
  if (!own.isKeeper) return;
  const is = await storedAcl(own, result.path, { signal });
  const asked = list.filter((entry) => entry.scheme !== "auth").map(formatAcl);
  const cut = asked.filter((entry) => is?.includes(entry) !== true);
  if (cut.length === 0) return;
  const message =
    is === undefined
      ? `ClickHouse Keeper may have left out a part of the ACL of ${result.path}, which this session may not read`
      : `ClickHouse Keeper has not stored ${cut.join(",")} of the ACL of ${result.path}: it is ${is.join(",")}`;
  yield { kind: "warning", reason: "acl-cut", message };
}

/** Undefined where the session may not read it. */
async function storedAcl(
  session: Session,
  path: string,
  options: CallOptions,
): Promise<readonly string[] | undefined> {
  try {
    return (await session.getAcl(path, options)).acl.map(formatAcl);
  } catch (error) {
    if (error instanceof PermissionError) return undefined;
    throw error;
  }
}
