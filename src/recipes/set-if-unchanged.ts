/** Replaces data that was read a while ago, unless it was changed meanwhile. */
import { ConflictError, NoNodeError } from "../errors.ts";
import type { Data, Session, Stat } from "../session/session.ts";
import { hasEqualData } from "./trees/new-znode.ts";
import { mayHaveBeenDone } from "./trees/tree-failures.ts";

export type SetOutcome =
  | { readonly kind: "set"; readonly stat: Stat }
  /** Nothing was written: another client has. */
  | { readonly kind: "changed"; readonly now: Data }
  | { readonly kind: "deleted" };

/** Connections that may break under the write, and writers that may be quicker between two looks. */
const ATTEMPTS = 4;

/**
 * A znode that was deleted and created again counts as changed, even with the same version. After a
 * broken connection the znode itself tells whether the data was written.
 */
export async function setIfUnchanged(
  session: Session,
  path: string,
  data: Buffer,
  { before, signal }: { readonly before: Stat; readonly signal: AbortSignal },
): Promise<SetOutcome> {
  const { version, czxid } = before;
  for (let attempt = 1; ; attempt++) {
    const now = await readIfThere(session, path, signal);
    if (now === undefined) return { kind: "deleted" };
    const isSameZnode = now.stat.czxid === czxid;
    const isOurs = attempt > 1 && now.stat.version === version + 1 && hasEqualData(now.data, data);
    if (isSameZnode && isOurs) return { kind: "set", stat: now.stat };
    if (!isSameZnode || now.stat.version !== version) return { kind: "changed", now };
    try {
      return { kind: "set", stat: await session.setData(path, data, { version, signal }) };
    } catch (error) {
      const isLate = error instanceof NoNodeError || isBadVersion(error);
      if ((!isLate && !mayHaveBeenDone(error)) || attempt >= ATTEMPTS) throw error;
    }
  }
}

/** Undefined where there is no such znode. */
export async function readIfThere(
  session: Session,
  path: string,
  signal: AbortSignal,
): Promise<Data | undefined> {
  try {
    return await session.getData(path, { signal });
  } catch (error) {
    if (error instanceof NoNodeError) return undefined;
    throw error;
  }
}

function isBadVersion(error: unknown): boolean {
  return error instanceof ConflictError && error.reason === "bad-version";
}
