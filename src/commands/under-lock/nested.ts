/**
 * A lock inside the same lock would wait for itself. The environment tells of locks around us; the
 * server, whether they are still held.
 */
import { LockError, NoNodeError } from "../../errors.ts";
import type { LockMode } from "../../recipes/locks/holder-record.ts";
import { baseName, joinPath } from "../../session/path.ts";
import type { Session } from "../../session/session.ts";
import { type OuterLock, outerLocks } from "./environment.ts";
import type { LockRun } from "./lock-run.ts";

/**
 * True: a command around this one holds it, and --reentrant says that this is enough. Throws
 * LockError when it is held and that is not enough. What was held once, or is held elsewhere under
 * the same path, is of no concern.
 */
export async function isHeldAround(task: LockRun, session: Session): Promise<boolean> {
  const { context, recipe, values, argv } = task;
  const outer = outerLocks(context.env);
  if (outer.length === 0) return false;
  for (const path of recipe.paths) {
    const held = await findHeld(path, outer, session, context.signal);
    if (!held) continue;
    const isEnough = covers(held.mode, recipe.mode);
    if (isEnough && values.reentrant && argv && recipe.paths.length === 1) return true;
    throw new LockError("nested-lock", `the command you are running in already holds ${path}`, {
      path,
      hint: isEnough
        ? "--reentrant runs the command at once, under the lock that is held"
        : `it is held as ${held.mode}, which cannot become ${recipe.mode}`,
    });
  }
  return false;
}

/** In the shell: what an earlier line has locked. */
export function refuseHeldByShell({ context, recipe }: LockRun): void {
  const path = recipe.paths.find((one) => context.shell.heldLocks.has(one));
  if (path === undefined) return;
  throw new LockError(
    "nested-lock",
    `this shell holds ${path}: the command would wait for it for ever`,
    {
      path,
      hint: `unlock ${path} first`,
    },
  );
}

/** Whether whoever has the one needs nothing more for the other. */
export function covers(held: LockMode, wanted: LockMode): boolean {
  if (held === "exclusive" || held === "write")
    return ["exclusive", "write", "read"].includes(wanted);
  return held === wanted && held !== "semaphore";
}

/**
 * By the name of the ticket, which is unique: the path may be another one there, below another
 * chroot.
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
