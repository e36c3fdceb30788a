import { ZkshError } from "../../../errors.ts";
import { ancestors } from "../../../session/path.ts";
import type { Acl, CallOptions, CreateMode, Session } from "../../../session/session.ts";
import { isUnanswered, untilAnswered } from "./retry-unanswered.ts";

/** Containers go away by themselves when they have been used and are empty. */
export type ParentKind = "container" | "persistent";

export interface PathToMake {
  readonly path: string;
  /** Written into the znode only if it is missing. */
  readonly data?: Buffer;
  /**
   * The ACL of the znode and of all above it that are missing; open to all clients when left out.
   */
  readonly acl?: readonly Acl[] | undefined;
}

/** Makes znodes and all above them that are missing, in one flight. */
export async function makePaths(
  session: Session,
  paths: readonly PathToMake[],
  kind: ParentKind,
  options: CallOptions = {},
): Promise<void> {
  const mode = await parentMode(session, kind, options);
  await untilAnswered(async () => {
    const obstacle = await askForPaths(session, paths, mode, options);
    if (obstacle !== undefined) throw obstacle;
  });
}

/** Servers before 3.5.1 have no containers. */
export async function parentMode(
  session: Session,
  kind: ParentKind,
  options: CallOptions,
): Promise<CreateMode> {
  return kind === "container" && (await session.knows("createContainer", options))
    ? "container"
    : "persistent";
}

/**
 * Requests the creation of znodes and of all above them in this very turn, so that the caller's next
 * requests find them.
 * Resolves to what kept one of them from being made, if anything did.
 */
export async function askForPaths(
  session: Session,
  paths: readonly PathToMake[],
  mode: CreateMode,
  options: CallOptions,
): Promise<unknown> {
  const levels = new Map<string, Omit<PathToMake, "path">>();
  for (const { path, acl } of paths)
    for (const level of ancestors(path)) levels.set(level, { acl });
  for (const { path, ...how } of paths) if (path !== "/") levels.set(path, how);
  const making = [...levels].map(async ([level, { data = null, acl }]) => {
    await session.create(level, data, { ...options, mode, ...(acl && { acl }) });
  });
  const failures = (await Promise.allSettled(making)).map((made): unknown =>
    made.status === "rejected" && !isNodeExists(made.reason) ? made.reason : undefined,
  );
  const unknown = failures.find(isUnanswered);
  if (unknown !== undefined) return unknown;
  // A client that may not create the upper levels need not: only `paths` have to exist.
  const names = [...levels.keys()];
  const isMissing = paths.some(({ path }) => failures[names.indexOf(path)] !== undefined);
  return isMissing ? failures.find((failure) => failure !== undefined) : undefined;
}

export function isNodeExists(error: unknown): boolean {
  return error instanceof ZkshError && error.reason === "node-exists";
}
