import { ConflictError, NoNodeError } from "../errors.ts";
import { ancestors } from "./path.ts";
import type { CreateOptions, Session } from "./session.ts";

/**
 * Tries the znode alone first: where its parent exists, as it mostly does, one request is enough.
 */
export async function createWithParents(
  session: Pick<Session, "create">,
  path: string,
  bytes: Buffer | null,
  options: CreateOptions,
): Promise<string> {
  try {
    return await session.create(path, bytes, options);
  } catch (error) {
    if (!(error instanceof NoNodeError)) throw error;
  }
  const { signal, acl: list } = options;
  const forParents = { ...(signal && { signal }), ...(list && { acl: list }) };
  // One flight, parents first: the server keeps a session's order. A parent that exists already is
  // no failure.
  const parents = ancestors(path).map((parent) => session.create(parent, null, forParents));
  const [created, ...made] = await Promise.allSettled([
    session.create(path, bytes, options),
    ...parents,
  ]);
  if (created.status === "fulfilled") return created.value;
  const failures = made.flatMap((outcome) =>
    outcome.status === "rejected" ? [outcome.reason] : [],
  );
  const refused = failures.find(
    (reason) => !(reason instanceof ConflictError && reason.reason === "node-exists"),
  );
  throw withoutParent(
    created.reason instanceof NoNodeError ? (refused ?? created.reason) : created.reason,
  );
}

/** The usual advice would be to do what has just been done. */
function withoutParent(error: unknown): unknown {
  if (!(error instanceof NoNodeError)) return error;
  const { reason, message, code = -101, path = "" } = error;
  const hint = "a parent was deleted in the meantime, or the chroot does not exist";
  return new NoNodeError(reason, message, { code, path, hint, cause: error });
}
