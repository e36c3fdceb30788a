/** Copies one tree for `cp`, and says what was copied. */

import type { AclSource } from "../recipes/trees/acl-readers.ts";
import { ChangesUnder } from "../recipes/trees/changed-under.ts";
import { type CopyTreeOptions, copyTree, type TreePlace } from "../recipes/trees/copy-tree.ts";
import type { Result } from "../results/result.ts";
import type { Context } from "./command.ts";
import { Unreadable } from "./unreadable.ts";
import { explainWrite, reportWritten, requireParent } from "./write-options.ts";

export interface TreeCopy {
  readonly from: TreePlace;
  /** `name` is how the target is shown. */
  readonly to: TreePlace & { readonly name: string };
  /** What reads ACLs, where they are to be copied. */
  readonly acls: AclSource | undefined;
  readonly options: CopyOptions;
}

interface CopyOptions extends Required<Pick<CopyTreeOptions, "exact" | "onConflict" | "dryRun">> {
  readonly recursive: boolean;
}

export async function* copyAndReport(
  { signal, output }: Context,
  { from, to, acls, options: { recursive, ...options } }: TreeCopy,
): AsyncGenerator<Result> {
  const unreadable = new Unreadable();
  const { dryRun } = options;
  await requireParent(to.session, to.path, signal);
  // A single znode is read in one request: nothing can change between its parts.
  const changes =
    dryRun || !recursive ? undefined : await ChangesUnder.begin(from.session, from.path, signal);
  try {
    const { ephemerals, childrenLeft, ...written } = await copyTree(from, to, {
      ...options,
      acls,
      signal,
      changes,
      onFailure: unreadable.onFailure,
      ...(!recursive && { maxDepth: 0 }),
      onProgress: (done) => output.onProgress?.(done, "znodes copied"),
    });
    yield* reportWritten(written, {
      path: to.name,
      ephemerals,
      childrenLeft,
      isDryRun: dryRun,
      ...(changes && {
        changed: await changes.paths(signal),
        isEveryChangeKnown: changes.isComplete,
      }),
    });
  } catch (error) {
    throw explainWrite(error, to.name);
  } finally {
    await changes?.end();
  }
  yield* unreadable.report();
}
