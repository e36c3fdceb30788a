/** Asks the server after a refusal: for the present version, or for the quota that is exceeded. */
import { ConflictError, OperationError } from "../../errors.ts";
import { ancestors } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { quoteWord } from "../../text/quote-word.ts";
import { askAround, type Sessions } from "./missing-znode.ts";

/** Replaces the message or the hint of the error. */
export interface Explanation {
  readonly message?: string;
  readonly hint?: string;
}

/** Resolves to undefined for other errors, and if no server answers in time. */
export async function explainRefusal(
  error: unknown,
  sessions: Sessions,
): Promise<Explanation | undefined> {
  if (
    error instanceof ConflictError &&
    error.expectedVersion !== undefined &&
    error.path !== undefined
  ) {
    const { path, expectedVersion } = error;
    return askAround(sessions, (session, signal) =>
      presentVersion(session, path, expectedVersion, signal),
    );
  }
  if (
    !(error instanceof OperationError) ||
    error.reason !== "quota-exceeded" ||
    error.path === undefined
  )
    return undefined;
  const { path } = error;
  return askAround(sessions, (session, signal) => quotaAbove(session, path, signal));
}

async function presentVersion(
  session: Session,
  path: string,
  { of, version }: NonNullable<ConflictError["expectedVersion"]>,
  signal: AbortSignal,
): Promise<Explanation | undefined> {
  const stat = await session.exists(path, { signal });
  if (stat === undefined) return undefined;
  const present = of === "acl" ? stat.aversion : stat.version;
  // The version was reached again, or this server has not applied the latest write.
  if (present === version) return undefined;
  const what = of === "acl" ? `the ACL of ${path}` : path;
  return { message: `${what} is at version ${present}, not ${version} (BadVersion)` };
}

async function quotaAbove(
  session: Session,
  path: string,
  signal: AbortSignal,
): Promise<Explanation | undefined> {
  const places = [...ancestors(path), path];
  const stats = await Promise.all(
    places.map((place) => session.exists(`/zookeeper/quota${place}/zookeeper_limits`, { signal })),
  );
  const limited = places[stats.findIndex((stat) => stat !== undefined)];
  return limited === undefined
    ? undefined
    : { hint: `listquota ${quoteWord(limited)} shows the limits` };
}
