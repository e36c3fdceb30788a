/** Deletes what a tree has beyond an import: the second half of `import --prune`. */
import { InterruptedError, NoNodeError } from "../../errors.ts";
import { kindOf } from "../../session/node-kind.ts";
import type { Session } from "../../session/session.ts";
import { readTree } from "./read-tree.ts";
import { mayHaveBeenDone, refusalOf, type TreeFailure } from "./tree-failures.ts";
import { treeInterrupted } from "./tree-interrupted.ts";

const UNDER_WAY = 500;

/** The znodes below `root` for which `isKept` is false, deepest first; ephemerals are not among them. */
export async function surplusBelow(
  session: Session,
  root: string,
  { isKept, signal }: { readonly isKept: (path: string) => boolean; readonly signal: AbortSignal },
): Promise<string[]> {
  const surplus: string[] = [];
  // What cannot be read might be surplus: nothing is deleted on half the truth.
  const onFailure = (_path: string, error: Error) => {
    throw error;
  };
  for await (const entries of readTree(session, root, { signal, onFailure, statsOnly: true })) {
    for (const { path, stat } of entries)
      if (path !== root && !isKept(path) && kindOf(stat) !== "ephemeral") surplus.push(path);
  }
  return surplus.reverse();
}

/** Deletes `paths`, children before their parents. Throws TreeInterruptedError on an abort. */
export async function deleteZnodes(
  session: Session,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly deleted: number; readonly failures: readonly TreeFailure[] }> {
  const failures: TreeFailure[] = [];
  let deleted = 0;
  for (let start = 0; start < paths.length; start += UNDER_WAY) {
    const group = paths.slice(start, start + UNDER_WAY);
    const before = deleted;
    const requests = group.map((path) => deleteOnce(session, path, signal));
    for (const [index, outcome] of (await Promise.allSettled(requests)).entries()) {
      if (outcome.status === "fulfilled") deleted += 1;
      else if (outcome.reason instanceof InterruptedError) {
        const unfinished = requests.map((request) => ({ outcome: request, znodes: 1 }));
        throw await treeInterrupted(outcome.reason, before, unfinished);
      } else failures.push({ path: group[index] as string, error: refusalOf(outcome.reason) });
    }
  }
  return { deleted, failures };
}

/** A missing znode counts as deleted, and the work goes on after a lost reply. */
async function deleteOnce(
  session: Session,
  path: string,
  signal: AbortSignal,
  attempt = 1,
): Promise<void> {
  try {
    await session.delete(path, { signal });
  } catch (error) {
    if (error instanceof NoNodeError) return;
    if (!mayHaveBeenDone(error) || attempt > 3) throw error;
    await deleteOnce(session, path, signal, attempt + 1);
  }
}
