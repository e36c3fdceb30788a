/**
 * Detects a lock inside the same lock, which would wait for itself. The environment names the locks
 * of the commands around this one; the server tells whether they are still held.
 */
import { LockError, NoNodeError } from "../../errors.ts";
import type { LockMode } from "../../recipes/locks/holder-record.ts";
import { baseName, joinPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { type OuterLock, outerLocks } from "./environment.ts";
import type { LockRun } from "./lock-run.ts";

/**
 * Resolves to true if a command around this one holds the lock and --reentrant is given. Throws
 * LockError if the lock is held and the option is missing or the mode does not suffice. A lock that
 * was released, or one with the same path below another chroot, does not count.
 */
export async function isHeldAround(task: LockRun, session: Session): Promise<boolean> {
  const { context, recipe, values, argv } = task;
  const outer = outerLocks(context.program.env);
  if (outer.length === 0) return false;
  for (const path of recipe.paths) {
    const held = await findHeld(path, outer, session, context.signal);
    if (!held) continue;
    const isEnough = covers(held.mode, recipe.mode);
    if (isEnough && values.reentrant && argv && recipe.paths.length === 1) return true;
    throw new LockError("nested-lock", `the command you are running in already holds ${path}`, {
      path,
      hint: isEnough
        ? "--reentrant runs the command at once, under that lock"
        : `it is held as ${held.mode}, and cannot be changed to ${recipe.mode}`,
    });
  }
  return false;
}

/** True if a lock held as `held` gives all the rights of `wanted`. */
export function covers(held: LockMode, wanted: LockMode): boolean {
  if (held === "exclusive" || held === "write")
    return ["exclusive", "write", "read"].includes(wanted);
  return held === wanted && held !== "semaphore";
}

/**
 * Compares the names of tickets, which are unique. The paths can differ, because the outer command
 * may use another chroot.
 */
async function findHeld(
  path: string,
  outer: readonly OuterLock[],
  session: Session,
  signal: AbortSignal,
): Promise<OuterLock | undefined> {
  const names = async (of: string) =>
    new Set(await session.getChildren(of, { signal }).catch(none));
  const [below, leases, stat] = await Promise.all([
    names(path),
    names(joinPath(path, "leases")),
    session.exists(path, { signal }),
  ]);
  return outer.find(({ node, token }) => {
    const name = baseName(node);
    return (
      below.has(name) || leases.has(name) || (stat !== undefined && String(stat.czxid) === token)
    );
  });
}

function none(error: unknown): string[] {
  if (error instanceof NoNodeError) return [];
  throw error;
}
