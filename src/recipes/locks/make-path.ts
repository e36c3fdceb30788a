import { ZkshError } from "../../errors.ts";
import { ancestors } from "../../session/path.ts";
import type { CallOptions, CreateMode, Session } from "../../session/session.ts";
import { untilAnswered } from "./unanswered.ts";

/** Containers go away by themselves when they have been used and are empty. */
export type ParentKind = "container" | "persistent";

/** Makes a znode and all above it that are missing, in one flight; `data` is for the last, if it is missing. */
export async function makePath(
  session: Session,
  path: string,
  kind: ParentKind,
  { data = null, ...options }: CallOptions & { readonly data?: Buffer | null } = {},
): Promise<void> {
  if (path === "/") return;
  const make = (mode: CreateMode) => untilAnswered(() => makeLevels(session, path, data, mode, options));
  try {
    await make(kind);
  } catch (error) {
    // Servers before 3.5.3 have no containers.
    if (kind === "persistent" || !(error instanceof ZkshError) || error.reason !== "unimplemented") throw error;
    await make("persistent");
  }
}

async function makeLevels(
  session: Session,
  path: string,
  data: Buffer | null,
  mode: CreateMode,
  options: CallOptions,
): Promise<void> {
  const levels = [...ancestors(path), path];
  const made = await Promise.allSettled(
    levels.map((level) => session.create(level, level === path ? data : null, { ...options, mode })),
  );
  const failures = made.map((one): unknown =>
    one.status === "rejected" && !isNodeExists(one.reason) ? one.reason : undefined,
  );
  // Whoever may not make the upper ones need not: only the last one has to be there.
  if (failures.at(-1) !== undefined) throw failures.find((failure) => failure !== undefined);
}

export function isNodeExists(error: unknown): boolean {
  return error instanceof ZkshError && error.reason === "node-exists";
}
